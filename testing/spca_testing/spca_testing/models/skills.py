"""The skills that the scripted model writes: one function per planning action of its domain."""


def touch_thing(ctx, thing):
    """Touch a thing from above with closed fingers."""
    ctx.close()
    for tool in ctx.touch_poses(thing):
        above = pose(tool.x, tool.y, tool.z + 0.09, tool.yaw)
        ctx.move_to(above)
        ctx.move_linear(pose(tool.x, tool.y, tool.z, tool.yaw))
        ctx.wait(0.8)
        ctx.move_linear(above)
        return
    raise RuntimeError(f"the fingers cannot reach {thing}")


def lift_cube(ctx, cube, support):
    """Grasp a cube and lift it off its support."""
    for grasp in ctx.grasps(cube):
        tool = grasp.pose
        above = pose(tool.x, tool.y, tool.z + 0.09, tool.yaw)
        ctx.open(grasp.gap)
        ctx.move_to(above)
        ctx.move_linear(pose(tool.x, tool.y, tool.z, tool.yaw))
        ctx.close()
        ctx.move_linear(above)
        if not ctx.is_holding():
            raise RuntimeError(f"the fingers closed on nothing where {cube} should be")
        return
    raise RuntimeError(f"there is no room for the fingers around {cube}")


def set_on_plate(ctx, cube, plate):
    """Put the held cube down on a plate."""
    for tool in ctx.spots_on(plate):
        above = pose(tool.x, tool.y, tool.z + 0.09, tool.yaw)
        ctx.move_to(above)
        ctx.move_linear(pose(tool.x, tool.y, tool.z, tool.yaw))
        ctx.open(0.06)
        ctx.move_linear(above)
        ctx.look()
        if not ctx.holds("on", cube, plate):
            raise RuntimeError(f"{cube} is not on {plate}")
        return
    raise RuntimeError(f"there is no free place on {plate}")


def set_on_cube(ctx, cube, base):
    """Put the held cube down on another cube."""
    for tool in ctx.spots_on(base):
        above = pose(tool.x, tool.y, tool.z + 0.09, tool.yaw)
        ctx.move_to(above)
        ctx.move_linear(pose(tool.x, tool.y, tool.z, tool.yaw))
        ctx.open(0.06)
        ctx.move_linear(above)
        ctx.look()
        if not ctx.holds("on", cube, base):
            raise RuntimeError(f"{cube} is not on {base}")
        return
    raise RuntimeError(f"{base} cannot be reached with {cube}")


def drop_off_table(ctx, cube):
    """Drop the held cube on the ground next to the table."""
    for tool in ctx.spots_at("discarded"):
        ctx.move_to(tool)
        ctx.open()
        ctx.wait(1.0)
        return
    raise RuntimeError("no way to reach beyond the table")
