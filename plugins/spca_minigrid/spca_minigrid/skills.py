"""The built-in skills for MiniGrid: generators that yield primitives, one per action of the planning domain.

They see the world through `ctx` only (see `spca_minigrid.ctx.API`), and know it only as far as it has been
seen: where a plan's step meets something unforeseen (a locked door, a thing in the way, a key in a box), they
deal with it on the spot.
"""


def find(ctx, thing):
    """Explore until (located thing): doors are opened, a locked one with its key, fetched first."""
    yield from _find(ctx, thing)


def memorize(ctx, sample, match):
    """Find the thing to compare others with, which stands in line with none of them, and keep it in mind."""
    while not ctx.look().over:
        things = _portable(ctx)
        alone = [a for a in things if not any(a.id != b.id and (a.x == b.x or a.y == b.y) for b in things)]
        if len(things) > 2 and len(alone) == 1:
            ctx.remember(sample, alone[0].id)
            return
        yield from _explore_on(ctx, sample)


def find_match(ctx, match, sample):
    """Find another thing of the kind and colour of the one in mind, and keep in mind that it is meant."""
    known = ctx.locate(sample)
    if not known:
        raise ValueError(f"nothing is kept in mind as {sample}")
    while not ctx.look().over:
        for thing in _portable(ctx):
            if thing.id != known[0].id and (thing.kind, thing.colour) == (known[0].kind, known[0].colour):
                ctx.remember(match, thing.id)
                return
        yield from _explore_on(ctx, match)


def go_to(ctx, thing):
    """Stand before `thing`, facing it; it is found first."""
    yield from _find(ctx, thing)
    yield from _approach(ctx, thing)


def enter(ctx, square):
    """Step onto a goal square; it is found first."""
    yield from _find(ctx, square)
    waited = 0
    while not ctx.look().over:
        route = ctx.route_to(square, onto=True)
        if route is not None:
            if not (yield from _follow(ctx, route)):
                yield LEFT  # something moved into the way: let it pass
        elif waited < 3 or any(thing.moving for thing in ctx.look().things):
            waited += 1
            yield LEFT
        else:
            yield from _explore_on(ctx, square)


def open_door(ctx, door):
    """Open a door, with a key if it is locked; one that stands open is closed and opened again."""
    yield from _find(ctx, door)
    yield from _approach(ctx, door)
    while not ctx.look().over:
        ahead = _ahead(ctx)
        if ahead is None or ahead.kind != "door":
            raise ValueError("there is no door ahead")
        if ahead.state == "locked":
            yield from _unlock(ctx, ahead)
            return
        yield TOGGLE
        if ahead.state == "closed":
            return


def unlock_door(ctx, door, key):
    """Open a door with its key, fetched if not held: then (not (locked door))."""
    yield from open_door(ctx, door)


def pick_up(ctx, thing):
    """Then (held thing) (not (hand_free)) (not (located thing)); what is held is put down first."""
    yield from _find(ctx, thing)
    if any(found.held for found in ctx.locate(thing)):
        # Only what is picked up from the floor counts as picked up.
        yield from _put_down(ctx)
    yield from _take(ctx, thing)


def put_down(ctx, thing):
    """Put down what is held, out of the way: then (hand_free) (located thing)."""
    yield from _put_down(ctx)


def put_next_to(ctx, thing, other):
    """Put `thing`, fetched if not held, down next to `other`: then (hand_free) (located thing)."""
    yield from _find(ctx, other)
    while not ctx.look().over:
        held = ctx.look().held
        if not any(found.id == held for found in ctx.locate(thing)):
            yield from _take(ctx, thing)
            continue
        route = ctx.route_beside(other) or ctx.route_beside(other, force=True)
        if route is None:
            yield from _explore_on(ctx, other)
        elif (yield from _follow(ctx, route)) and not ctx.route_beside(other).steps:
            yield DROP
            return


def report(ctx, thing):
    """Say that the agent has arrived at `thing`."""
    if not ctx.look().over:
        yield DONE


# --- what they are made of ----------------------------------------------------------------------------------


def _find(ctx, name):
    """Explore until something of that name is known."""
    while not ctx.locate(name) and not ctx.look().over:
        yield from _explore_on(ctx, name)


def _explore_on(ctx, name):
    """See something new: by walking, else by clearing the way, else by looking into a box."""
    route = ctx.explore(name) or ctx.explore(name, force=True)
    if route is not None:
        yield from _follow(ctx, route, until_news=True)
        return
    boxes = [
        t for t in ctx.look().things if t.kind == "box" and not t.held and ctx.route_to(t.id, force=True)
    ]
    if not boxes:
        raise ValueError(f"all that can be reached has been seen, and nothing is {name}")
    meant = [found.id for found in ctx.locate(name)]
    box = min(boxes, key=lambda t: (t.id in meant, len(ctx.route_to(t.id, force=True).steps)))
    yield from _approach(ctx, box.id)
    yield TOGGLE


def _approach(ctx, name):
    """Stand before the nearest thing of that name."""
    while not ctx.look().over:
        route = ctx.route_to(name) or ctx.route_to(name, force=True)
        if route is None and any(found.held for found in ctx.locate(name)):
            yield from _put_down(ctx)  # then it lies ahead
        elif route is None:
            yield from _explore_on(ctx, name)
        elif (yield from _follow(ctx, route)) and not route.obstacle:
            return


def _follow(ctx, route, until_news=False):
    """Go along a route and deal with the obstacle at its end; True if all of it was gone."""
    ahead = ctx.look().ahead
    for primitive in route.steps:
        if primitive == FORWARD and ahead.split()[0] in ("ball", "box", "key"):
            return False
        reply = yield primitive
        if reply.over:
            return False
        if not reply.moved:
            return False
        if reply.news and until_news:
            return True
        ahead = reply.ahead
    if route.obstacle:
        obstacle = _thing(ctx, route.obstacle)
        if obstacle.kind == "door":
            yield from _unlock(ctx, obstacle)
        else:
            yield from _clear_away(ctx, obstacle)
    return True


def _unlock(ctx, door):
    """Open a locked door, fetching a key of its colour if need be."""
    key = f"{door.colour}_key"
    while not ctx.look().over:
        if not any(found.held for found in ctx.locate(key)):
            yield from _find(ctx, key)
            yield from _take(ctx, key)
        route = ctx.route_to(door.id) or ctx.route_to(door.id, force=True)
        if (yield from _follow(ctx, route)) and not route.obstacle:
            yield TOGGLE
            return


def _take(ctx, name):
    """Take the nearest thing of that name into the hand."""
    while not ctx.look().over:
        if ctx.look().held and not any(found.held for found in ctx.locate(name)):
            yield from _put_down(ctx)
        yield from _approach(ctx, name)
        reply = yield PICK_UP
        if reply.over or any(found.held for found in ctx.locate(name)):
            return


def _put_down(ctx):
    """Put down what the hand holds, out of the way."""
    while ctx.look().held and not ctx.look().over:
        route = ctx.route_to_spare()
        if route is None:
            raise ValueError("there is no free place to put anything down")
        if (yield from _follow(ctx, route)):
            yield DROP


def _clear_away(ctx, thing):
    """Take a thing out of the way: it stays in the hand until that is needed for something else."""
    yield from _put_down(ctx)
    yield from _take(ctx, thing.id)


def _portable(ctx):
    return [thing for thing in ctx.look().things if thing.kind in ("ball", "box", "key")]


def _thing(ctx, id):
    return next(t for t in ctx.look().things if t.id == id)


def _ahead(ctx):
    """The thing that the agent faces, or None."""
    view = ctx.look()
    dx, dy = [(1, 0), (0, 1), (-1, 0), (0, -1)][view.direction]
    for thing in view.things:
        if not thing.held and (thing.x, thing.y) == (view.x + dx, view.y + dy):
            return thing
    return None
