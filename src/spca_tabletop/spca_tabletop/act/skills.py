"""The skills of the tabletop: one function per planning action, its arguments the names the plan uses.

This file is the trusted library that comes with spca. It runs in the sandbox and reaches the world only
through `ctx`.
"""

import math

ABOVE = 0.09
MISPLACED = 0.004
APART = 0.002


def touch(ctx, thing):
    """Touch an object from above with closed fingers."""
    ctx.close()
    tool = _approach(ctx, ctx.touch_poses(thing), f"no way for the fingers to the top of {thing}")
    ctx.wait(0.8)
    ctx.move_linear(_raised(tool))


def pick_up(ctx, cube, support):
    """Grasp a cube from above, lift it off what it rests on, and check that it came along."""
    for attempt in range(3):
        if attempt:
            ctx.look()
        tool = _approach_grasp(ctx, ctx.grasps(cube), f"no room for the fingers around {cube}")
        ctx.close()
        try:
            ctx.move_linear(_raised(tool))
        except MotionError as error:
            if error.kind != "lost":
                raise
        if ctx.is_holding():
            return
        ctx.log(f"{cube} slipped, trying again")
        ctx.open()
    raise RuntimeError(f"{cube} slipped out of the fingers three times")


def push_out(ctx, thing):
    """Push a thing, and what stands in line behind it, out of where no grasp of it is free."""

    def go(push):
        _approach(ctx, [push.pose], "")
        ctx.push(push)
        return push

    ctx.close()
    pushed = _first_free(ctx.pushes(thing), go, f"no way to push {thing} out")
    ctx.move_linear(_raised(pushed.contact))
    ctx.look()
    if not ctx.grasps(thing):
        raise RuntimeError(f"there is still no room for the fingers around {thing}")


def place_on(ctx, cube, plate):
    """Put the held cube down on a plate."""
    _put(ctx, ctx.spots_on(plate), f"no free place on {plate}")
    ctx.look()
    if not ctx.holds("on", cube, plate):
        raise RuntimeError(f"{cube} is not on {plate}")
    if ctx.holds("on", cube, "table"):
        raise RuntimeError(f"{cube} is only partly on {plate}: it stands on the table as well")


def stack_on(ctx, cube, base):
    """Put the held cube down on another, and correct it once if it stands too far off its middle."""
    for attempt in range(2):
        _put(ctx, ctx.spots_on(base), f"no way to put {cube} on {base}")
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
    _put(ctx, ctx.spots_on_table(), "no free place on the table")
    ctx.look()
    if not ctx.holds("on", cube, "table"):
        raise RuntimeError(f"{cube} is not on the table")


def place_at(ctx, cube, place):
    """Put it on the table at a place: left_of__cube_red."""
    _put(ctx, ctx.spots_at(place), f"no free place {place}")
    ctx.look()
    if not ctx.holds("at", cube, place):
        raise RuntimeError(f"{cube} is not {place}")


def place_next_to(ctx, cube, other):
    """Put the held cube down next to another, slide it until the two touch, and let go."""
    missing = 0.0
    for attempt in range(2):
        spots = ctx.spots_next_to(other)
        slides = [_beyond(spot.pose, spot.contact, min(missing, APART)) for spot in spots]
        contact = _approach(ctx, [spot.pose for spot in spots], f"no free place next to {other}", slides)
        ctx.open(0.06)
        ctx.move_linear(_raised(contact))
        ctx.look()
        if ctx.holds("next_to", cube, other):
            a, b = ctx.locate(cube), ctx.locate(other)
            along = (a.x - b.x) * math.cos(contact.yaw) + (a.y - b.y) * math.sin(contact.yaw)
            missing = abs(along) - (a.size[0] + b.size[0]) / 2
            if a.kind != "cube" or b.kind != "cube" or missing <= APART or attempt:
                return
        elif attempt:
            raise RuntimeError(f"{cube} does not touch {other}")
        ctx.log(f"{cube} stops short of {other}, putting it there again")
        pick_up(ctx, cube, "table")


def place_across(ctx, cube, left, right):
    """Put the held cube down on two cubes that stand side by side."""
    _put(ctx, ctx.spots_across(left, right), f"no way to put {cube} on {left} and {right}")
    ctx.look()
    if not (ctx.holds("on", cube, left) and ctx.holds("on", cube, right)):
        raise RuntimeError(f"{cube} does not rest on both {left} and {right}")


def take_down(ctx, cube, left, right):
    """Pick a cube up that lies across two others."""
    pick_up(ctx, cube, left)


def _put(ctx, spots, otherwise):
    """Lower what is held to one of the spots, let go and rise."""
    tool = _approach(ctx, spots, otherwise)
    ctx.open(0.06)
    ctx.move_linear(_raised(tool))


def _approach(ctx, tools, otherwise, slides=()):
    """Go above the first of the tool poses that is free, down to it, and on to its slide; returns the end."""

    def go(way):
        tool, end = way
        ctx.move_to(_raised(tool))
        ctx.move_linear(tool)
        if slides:
            ctx.move_linear(end, 0.3)
        return end

    return _first_free(zip(tools, slides or tools, strict=True), go, otherwise)


def _approach_grasp(ctx, grasps, otherwise):
    """Go to the first grasp that is free, with the fingers opened as wide as it asks for."""

    def go(grasp):
        ctx.open(grasp.gap)
        return _approach(ctx, [grasp.pose], otherwise)

    return _first_free(grasps, go, otherwise)


def _first_free(ways, go, otherwise):
    """Go the first way that is free; where none is, say how many were tried and what they would have hit."""
    barred = []
    for way in ways:
        try:
            return go(way)
        except MotionError as error:
            if error.kind not in ("collision", "unreachable"):
                raise
            barred.append(error)
    if len(barred) < 2:
        raise barred[0] if barred else RuntimeError(otherwise)
    hit = [error.hit or error.kind for error in barred]
    told = ", ".join(f"{what} ({hit.count(what)})" for what in dict.fromkeys(hit))
    raise MotionError(barred[-1].kind, f"{otherwise}: {len(barred)} ways were tried; in the way: {told}")


def _beyond(start, end, more):
    """A pose on the line from start to end, that much farther than the end."""
    x, y = end.x - start.x, end.y - start.y
    share = 1 + more / max((x * x + y * y) ** 0.5, 0.001)
    return pose(start.x + share * x, start.y + share * y, end.z, end.yaw)


def _raised(tool):
    """The same tool pose, higher."""
    return pose(tool.x, tool.y, tool.z + ABOVE, tool.yaw)
