"""The skills of the tabletop: one function per planning action, its arguments the names the plan uses.

This file is the trusted library that comes with spca. It runs in the sandbox and reaches the world only through `ctx`.
"""

ABOVE = 0.09
MISPLACED = 0.004


def touch(ctx, thing):
    """Touch an object from above with closed fingers."""
    ctx.close()
    poses = ctx.touch_poses(thing)
    if not poses:
        raise RuntimeError(f"no way for the fingers to the top of {thing}")
    ctx.move_to(raised(poses[0]))
    ctx.move_linear(poses[0])
    ctx.wait(0.8)
    ctx.move_linear(raised(poses[0]))


def pick_up(ctx, cube, support):
    """Grasp a cube from above, lift it off what it rests on, and check that it came along."""
    for attempt in range(3):
        if attempt:
            ctx.look()
        choices = ctx.grasps(cube)
        if not choices:
            raise RuntimeError(f"no room for the fingers around {cube}")
        grasp = choices[0]
        ctx.open(grasp.gap)
        ctx.move_to(raised(grasp.pose))
        ctx.move_linear(grasp.pose)
        ctx.close()
        ctx.move_linear(raised(grasp.pose))
        if ctx.is_holding():
            return
        ctx.log(f"{cube} slipped, trying again")
        ctx.open()
    raise RuntimeError(f"{cube} slipped out of the fingers three times")


def place_on(ctx, cube, plate):
    """Put the held cube down on a plate."""
    put(ctx, ctx.spots_on(plate), f"no free place on {plate}")
    ctx.look()
    if not ctx.holds("on", cube, plate):
        raise RuntimeError(f"{cube} is not on {plate}")


def stack_on(ctx, cube, base):
    """Put the held cube down on another, and correct it once if it stands too far off its middle."""
    for attempt in range(2):
        put(ctx, ctx.spots_on(base), f"no way to put {cube} on {base}")
        ctx.look()
        if not ctx.holds("on", cube, base):
            raise RuntimeError(f"{cube} is not on {base}")
        top, below = ctx.locate(cube), ctx.locate(base)
        off = ((top.x - below.x) ** 2 + (top.y - below.y) ** 2) ** 0.5
        if off <= MISPLACED or attempt:
            return
        ctx.log(f"{cube} stands off the middle of {base}, putting it there again")
        pick_up(ctx, cube, base)


def place_on_table(ctx, cube):
    """Put the held cube down on a free part of the table."""
    put(ctx, ctx.spots_on_table(), "no free place on the table")
    ctx.look()
    if not ctx.holds("on", cube, "table"):
        raise RuntimeError(f"{cube} is not on the table")


def place_next_to(ctx, cube, other):
    """Put the held cube down beside another, slide it until the two touch, and let go."""
    spots = ctx.spots_next_to(other)
    if not spots:
        raise RuntimeError(f"no free place beside {other}")
    spot = spots[0]
    ctx.move_to(raised(spot.pose))
    ctx.move_linear(spot.pose)
    ctx.move_linear(spot.contact, 0.3)
    ctx.open(0.06)
    ctx.move_linear(raised(spot.contact))
    ctx.look()
    if not ctx.holds("next_to", cube, other):
        raise RuntimeError(f"{cube} does not touch {other}")


def place_across(ctx, cube, left, right):
    """Put the held cube down on two cubes that stand side by side."""
    put(ctx, ctx.spots_across(left, right), f"no way to put {cube} on {left} and {right}")
    ctx.look()


def place_on_edge(ctx, cube, plate):
    """Let the held cube go over a plate's rim, so that it leans on the plate and stands on the table."""
    put(ctx, ctx.spots_at_edge(plate), f"no free place at the edge of {plate}")
    ctx.look()


def discard(ctx, cube):
    """Let the held cube fall to the ground beside the table."""
    spots = ctx.spots_off_table()
    if not spots:
        raise RuntimeError("no way to reach beyond the table")
    ctx.move_to(spots[0])
    ctx.open()
    ctx.wait(1.0)


def put(ctx, spots, otherwise):
    """Lower what is held to the first of the spots, let go and rise."""
    if not spots:
        raise RuntimeError(otherwise)
    ctx.move_to(raised(spots[0]))
    ctx.move_linear(spots[0])
    ctx.open(0.06)
    ctx.move_linear(raised(spots[0]))


def raised(tool):
    """The same tool pose, higher."""
    return pose(tool.x, tool.y, tool.z + ABOVE, tool.yaw)
