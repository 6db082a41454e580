"""Push a cube over the table, held between the fingers so that it goes where it shall; it is never lifted."""

ABOVE = 0.09


def push(ctx, cube, other):
    """Take a cube between the fingers and slide it over the table until it touches another."""
    grasp = _around(ctx, cube)
    ctx.close()
    spot = _reach_sliding(ctx, ctx.spots_next_to(other), grasp, f"no straight way for {cube} to {other}")
    ctx.move_linear(spot.contact, 0.3)
    ctx.open(0.06)
    ctx.move_linear(pose(spot.contact.x, spot.contact.y, spot.contact.z + ABOVE, spot.contact.yaw))
    ctx.look()
    if not ctx.holds("next_to", cube, other):
        raise RuntimeError(f"{cube} does not touch {other}")


def _around(ctx, cube):
    """Put the open fingers around the cube; returns the tool pose."""
    for grasp in ctx.grasps(cube):
        tool = grasp.pose
        ctx.open(grasp.gap)
        ctx.move_to(pose(tool.x, tool.y, tool.z + ABOVE, tool.yaw))
        ctx.move_linear(tool)
        return tool
    raise RuntimeError(f"no room for the fingers around {cube}")


def _reach_sliding(ctx, spots, start, otherwise):
    """Slide to the first of the spots that a straight line leads to; returns the spot."""
    for spot in spots:
        try:
            ctx.move_linear(pose(spot.pose.x, spot.pose.y, start.z, spot.pose.yaw), 0.5)
            return spot
        except MotionError as error:
            if error.kind not in ("collision", "unreachable"):
                raise
    raise RuntimeError(otherwise)
