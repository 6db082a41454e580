"""What a skill can do in a MiniGrid world: the far side of its `ctx`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import structlog

from spca_core.errors import Cancelled, MotionError
from spca_core.skill import CtxApi, CtxMethod
from spca_minigrid import primitives
from spca_minigrid.cells import DOOR, EMPTY, KEY, LAVA, Point, beside, kind_of
from spca_minigrid.referents import Referents
from spca_minigrid.routes import Navigator, Route
from spca_minigrid.spare import spare_places
from spca_minigrid.stuck import StuckDetector
from spca_minigrid.world import World
from spca_minigrid.worldmap import HELD, Thing, WorldMap

log = structlog.get_logger(__name__)

API = CtxApi(
    environment="minigrid",
    methods=(
        CtxMethod(
            name="step",
            signature="step(primitive: int) -> Reply",
            doc="Carry out one primitive. Reply has: over (the level has ended: do nothing more), moved (whether pose, "
            "hand or map changed), news (whether something was seen for the first time), ahead (the cell it faces now). `yield LEFT` in a skill does "
            "the same: its value is the Reply. Walking into lava is refused.",
        ),
        CtxMethod(
            name="look",
            signature="look() -> View",
            doc="The agent: x, y (x to the right, y down, from where it started), direction (0 right, 1 down, 2 left, "
            '3 up), held (id of the thing in the hand or ""), over, steps_left, and things: all things known, each '
            "with id, kind (door, key, ball, box, goal), colour, state (of doors: open, closed, locked), x, y, held.",
        ),
        CtxMethod(
            name="locate",
            signature="locate(name: str) -> list[Thing]",
            doc="The things that a name may mean, nearest first, [] while none has been seen. A name is a planning "
            "symbol, the id of a thing, or such as `red_key`.",
        ),
        CtxMethod(
            name="cell",
            signature="cell(x: int, y: int) -> str",
            doc="What is known of a cell: `wall`, `empty`, `lava`, `door red locked`, `key blue`, …, `unseen`.",
        ),
        CtxMethod(
            name="route_to",
            signature="route_to(name: str, onto: bool = False, force: bool = False) -> Route | None",
            doc="The shortest known way to stand before the nearest thing of that name, facing it; with `onto`, to step "
            'onto it. Route has: steps (primitives; closed doors are opened on the way) and obstacle: "" or, with '
            "`force`, the id of a locked door or a movable thing that stands in the way once the steps are done. None: "
            "there is no way.",
        ),
        CtxMethod(
            name="route_beside",
            signature="route_beside(name: str, force: bool = False) -> Route | None",
            doc="The same, to face a free cell that is next to the thing: where DROP would put something beside it.",
        ),
        CtxMethod(
            name="route_to_spare",
            signature="route_to_spare() -> Route | None",
            doc="The same, to face a free cell where a dropped thing is in nobody's way.",
        ),
        CtxMethod(
            name="explore",
            signature='explore(name: str = "", force: bool = False) -> Route | None',
            doc="A way to where something new can be seen, chosen for finding `name`; None when all that can be "
            "reached has been seen. With `force` it may lead up to an obstacle, as in route_to.",
        ),
        CtxMethod(name="log", signature="log(text: str) -> None", doc="A line for the report."),
    ),
    helpers=tuple(f"{name} = {number}" for number, name in enumerate(primitives.NAMES)),
)


class GridCtx:
    """A `CtxServer` over one world and the map made of it."""

    api = API

    def __init__(self, world: World, known: WorldMap, referents: Referents) -> None:
        self._world, self._map, self._referents = world, known, referents
        self._navigator = Navigator(known, self._can_clear)
        self._stuck = StuckDetector()
        self._stopped = threading.Event()
        self._wanted_free: frozenset[Point] = frozenset()
        """The cells of the last way that something stood in: whatever is put down shall not stand there either."""

    def now(self) -> float:
        """Primitives carried out since the level began."""
        return float(len(self._world.primitives))

    def stop(self) -> None:
        """Nothing moves by itself here; running calls end with Cancelled."""
        self._stopped.set()

    def notice(self, since: float) -> None:
        """Nothing beyond the map, which the environment's observations show as a whole."""

    def resume(self) -> None:
        """Allow calls again after a stop, and forget what went before."""
        self._stopped.clear()
        self._stuck = StuckDetector()

    def call(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """See `CtxServer.call`."""
        if self._stopped.is_set():
            raise Cancelled("stopped")
        result = getattr(self, f"_{method}")(*args, **kwargs)
        if not isinstance(result, Route):
            return result
        if result.obstacle:
            self._wanted_free = result.cells
        return {"steps": list(result.steps), "obstacle": result.obstacle}

    # --- what a skill may call -----------------------------------------------------------------------------------

    def _step(self, primitive: int) -> dict[str, Any]:
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

    def _look(self) -> dict[str, Any]:
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

    def _locate(self, name: str) -> list[dict[str, Any]]:
        found = self._find(name)
        x, y = self._map.position
        return sorted(
            (_shown(t) for t in found), key=lambda t: 0 if t["held"] else abs(t["x"] - x) + abs(t["y"] - y)
        )

    def _cell(self, x: int, y: int) -> str:
        return self._map.cell((int(x), int(y)))

    def _route_to(self, name: str, onto: bool = False, force: bool = False) -> Route | None:
        places = {t.place for t in self._find(name) if isinstance(t.place, tuple)}
        if not places:
            return None
        return self._navigator.onto(places, force) if onto else self._navigator.to_face(places, force)

    def _route_beside(self, name: str, force: bool = False) -> Route | None:
        places = {t.place for t in self._find(name) if isinstance(t.place, tuple)}
        free = {p for place in places for p in beside(place) if self._map.cell(p) == EMPTY}
        return self._navigator.to_face(free, force) if free else None

    def _route_to_spare(self) -> Route | None:
        return self._navigator.to_face(spare_places(self._map)) or self._navigator.to_face(
            self._free_places()
        )

    def _explore(self, name: str = "", force: bool = False) -> Route | None:
        noun = self._referents.noun(name)
        careful = noun is not None and noun.kind == DOOR
        if noun is not None and noun.place:
            near = self._navigator.to_see_new(force, careful=True, within=self._map.start_room())
            if near is not None:
                return near
        return self._navigator.to_see_new(force, careful)

    def _log(self, text: str) -> None:
        log.info("skill", text=str(text)[:500])

    # --- helpers --------------------------------------------------------------------------------------------------

    def _find(self, name: str) -> list[Thing]:
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

    def _free_places(self) -> set[Point]:
        return {
            point for point, cell in self._map.cells.items() if cell == EMPTY and point != self._map.position
        }


def _shown(thing: Thing) -> dict[str, Any]:
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
