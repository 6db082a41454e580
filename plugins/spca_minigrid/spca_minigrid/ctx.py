"""Capabilities of a skill in a MiniGrid world: the far side of its `ctx`."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from spca_core.errors import Cancelled, MotionError
from spca_core.log import log
from spca_core.scene import Observation
from spca_core.stopping import Flag
from spca_minigrid import primitives, routes, worldmap
from spca_minigrid.cells import DOOR, EMPTY, KEY, LAVA, Point, beside, kind_of
from spca_minigrid.observation import observe
from spca_minigrid.referents import Referents
from spca_minigrid.routes import Navigator, spare_places
from spca_minigrid.values import Reply, Route, Thing, View
from spca_minigrid.world import GridWorld
from spca_minigrid.worldmap import HELD, WorldMap
from spca_sandbox.surface import DeclaredCtx, api_of, offered

_WITHOUT_EFFECT = 12
"""Primitives in a row that changed nothing at all: neither pose, nor hand, nor map."""
_WINDOW = 60
_FEWEST_STATES = 8
"""Fewer different states than this in the last 60 primitives: it goes round in circles."""


class GridCtx(DeclaredCtx):
    """A `CtxServer` over one world and the map made of it."""

    def __init__(self, world: GridWorld, known: WorldMap, referents: Referents) -> None:
        self._world, self._map, self._referents = world, known, referents
        self._navigator = Navigator(known, self._can_clear)
        self._stuck = StuckDetector()
        self._stopped = Flag()
        self._wanted_free: frozenset[Point] = frozenset()
        """The cells of the last blocked path: nothing may be put down there either."""

    def now(self) -> float:
        """Primitives carried out since the level began."""
        return float(len(self._world.primitives))

    def stop(self) -> None:
        """Nothing moves by itself here; running calls end with Cancelled."""
        self._stopped.set()

    def notice(self, since: float) -> Observation:
        """Return what the map shows; what is held, and whether it is known where a thing is, is certain."""
        seen = observe(self._map, self._referents, self.now(), False, self._world.mission)
        return seen.model_copy(update={"sentences": (), "detail": {}})

    def resume(self) -> None:
        """Allow calls again after a stop, and forget what went before."""
        self._stopped.clear()
        self._stuck = StuckDetector()

    def call(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """See `CtxServer.call`."""
        if self._stopped.is_set():
            raise Cancelled("stopped")
        return super().call(method, args, kwargs)

    # --- what a skill may call ------------------------------------------------------------------------------

    @offered
    def _do_step(self, primitive: int) -> Reply:
        """Carry out one primitive. `yield LEFT` in a skill does the same: its value is the Reply.

        Walking into lava is refused with a MotionError.
        """
        if isinstance(primitive, bool) or primitive not in range(len(primitives.NAMES)):
            known = ", ".join(f"{number} {name}" for number, name in enumerate(primitives.NAMES))
            raise ValueError(f"{primitive!r} is no primitive; there are {known}")
        if self._world.over:
            return {"over": True, "moved": False, "news": False, "ahead": self._map.cell(self._map.front)}
        if primitive == primitives.FORWARD and kind_of(self._map.cell(self._map.front)) == LAVA:
            raise MotionError("collision", "there is lava ahead: the step was refused")
        version, seen, things = self._map.version, len(self._map.cells), len(self._map.things)
        image, direction = self._world.step(primitive)
        self._map.observe(image, direction, primitive)
        state = (
            self._map.position,
            self._map.direction,
            self._map.version if primitive > primitives.FORWARD else 0,
        )
        why = self._stuck.note((*state, len(self._map.cells)))
        if why and not self._world.over:
            raise MotionError("stuck", why)
        news = len(self._map.cells) > seen or len(self._map.things) > things
        return {
            "over": self._world.over,
            "moved": self._map.version > version,
            "news": news,
            "ahead": self._map.cell(self._map.front),
        }

    @offered
    def _do_look(self) -> View:
        """The agent, and everything that it knows. Takes no time."""
        held = self._map.held
        x, y = self._map.position
        return {
            "x": x,
            "y": y,
            "direction": self._map.direction,
            "ahead": self._map.cell(self._map.front),
            "held": held.id if held else "",
            "over": self._world.over,
            "steps_left": self._world.max_steps - len(self._world.primitives),
            "things": [
                _shown(t) for t in self._map.things.values() if t.place == HELD or t in self._map.present()
            ],
        }

    @offered
    def _do_locate(self, name: str) -> list[Thing]:
        """The things that a name may mean, nearest first; empty while none has been seen.

        A name is a planning symbol, the id of a thing, or such as `red_key`.
        """
        found = self._find(name)
        x, y = self._map.position
        return sorted(
            (_shown(t) for t in found), key=lambda t: 0 if t["held"] else abs(t["x"] - x) + abs(t["y"] - y)
        )

    @offered
    def _do_remember(self, name: str, thing: str) -> None:
        """Keep in mind for the rest of the level that a name of the mission means the thing with this id."""
        if not self._referents.known(name) or thing not in self._map.things:
            raise ValueError(f"{name!r} and {thing!r}: a name of the mission and the id of a known thing")
        self._map.names[name] = thing

    @offered
    def _do_cell(self, x: int, y: int) -> str:
        """What is known of a cell: `wall`, `empty`, `lava`, `door red locked`, `key blue`, …, `unseen`."""
        return self._map.cell((int(x), int(y)))

    @offered
    def _do_route_to(self, name: str, onto: bool = False, force: bool = False) -> Route | None:
        """The shortest known way to stand before the nearest thing of that name, facing it.

        With `onto`, to step onto it; with `force` it may lead up to an obstacle. None: there is no way.
        """
        places = {t.place for t in self._find(name) if isinstance(t.place, tuple)}
        if not places:
            return None
        return self._shown_route(
            self._navigator.onto(places, force) if onto else self._navigator.to_face(places, force)
        )

    @offered
    def _do_route_beside(self, name: str, force: bool = False) -> Route | None:
        """The same, to face a free cell next to the thing, where DROP would put an object."""
        places = {t.place for t in self._find(name) if isinstance(t.place, tuple)}
        free = {p for place in places for p in beside(place) if self._map.cell(p) == EMPTY}
        return self._shown_route(self._navigator.to_face(free, force) if free else None)

    @offered
    def _do_route_to_spare(self) -> Route | None:
        """The same, to face a free cell where a dropped thing blocks no path."""
        empty = {at for at, cell in self._map.cells.items() if cell == EMPTY} - {self._map.position}
        face = self._navigator.to_face
        return self._shown_route(face(spare_places(self._map)) or face(empty))

    @offered
    def _do_explore(self, name: str = "", force: bool = False) -> Route | None:
        """A way to where something new can be seen, chosen for finding `name`.

        None when all that can be reached has been seen. With `force` it may lead up to an obstacle.
        """
        noun = self._referents.noun(name)
        careful = noun is not None and noun.kind == DOOR
        if noun is not None and noun.place:
            near = self._navigator.to_see_new(force, careful=True, within=self._map.start_room())
            if near is not None:
                return self._shown_route(near)
        return self._shown_route(self._navigator.to_see_new(force, careful))

    @offered
    def _do_log(self, text: str) -> None:
        """Tell this to whoever mends the skill."""
        log.info("skill", {"text": str(text)[:500]})

    # --- helpers --------------------------------------------------------------------------------------------

    def _shown_route(self, found: routes.PlannedRoute | None) -> Route | None:
        """A route as a skill sees it; the cells of one with an obstacle are wanted free from now on."""
        if found is None:
            return None
        if found.obstacle:
            self._wanted_free = found.cells
        return {"steps": list(found.steps), "obstacle": found.obstacle}

    def _find(self, name: str) -> list[worldmap.KnownThing]:
        if not self._referents.known(str(name)):
            known = ", ".join([*self._referents.nouns, *self._map.things])
            raise ValueError(f"nothing is called {name!r}; there are: {known}")
        return self._referents.find(str(name))

    def _can_clear(self, thing_id: str) -> bool:
        """Things that lie still always, locked doors where a key of their colour is known."""
        thing = self._map.things[thing_id]
        if thing.kind != DOOR:
            return not thing.moving
        return any(
            t.kind == KEY and t.colour == thing.colour and t.place != "gone"
            for t in self._map.things.values()
        )


def _shown(thing: worldmap.KnownThing) -> Thing:
    x, y = thing.place if isinstance(thing.place, tuple) else (0, 0)
    return {
        "id": thing.id,
        "kind": thing.kind,
        "colour": thing.colour,
        "state": thing.state,
        "x": x,
        "y": y,
        "held": thing.place == HELD,
        "moving": thing.moving,
    }


API = GridCtx.api = api_of(
    GridCtx,
    "minigrid",
    types=(Reply, View, Thing, Route),
    helpers=tuple(f"{name} = {number}" for number, name in enumerate(primitives.NAMES)),
)


class StuckDetector:
    """Looks at the whole state after each primitive: pose, hand and map.

    Walking straight ahead is never being stuck.
    """

    def __init__(self) -> None:
        self._recent: deque[object] = deque(maxlen=_WINDOW)
        self._idle = 0

    def note(self, state: object) -> str:
        """Take note of a (hashable) state; returns why it is stuck, empty if it is not."""
        self._idle = self._idle + 1 if self._recent and self._recent[-1] == state else 0
        self._recent.append(state)
        if self._idle >= _WITHOUT_EFFECT:
            return f"the last {_WITHOUT_EFFECT} primitives changed nothing"
        if len(self._recent) == _WINDOW and len(set(self._recent)) < _FEWEST_STATES:
            return (
                f"the last {_WINDOW} primitives went back and forth between {len(set(self._recent))} states"
            )
        return ""
