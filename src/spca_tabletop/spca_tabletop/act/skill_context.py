"""Base of every part of a tabletop skill's `ctx`: the arm, the scene as last seen, what is held.

The values that it gives are plain JSON here, and records with attributes in the sandbox.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypedDict

from spca_core import geometry
from spca_core.errors import MotionError
from spca_core.geometry import top_down, top_down_yaw
from spca_core.kinds import FLAT, MESHES, SOLIDS, UNKNOWN, radius
from spca_core.log import log
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL
from spca_core.plan import Choice
from spca_core.scene import OBSTRUCTED, Scene, SceneObject
from spca_core.world import World
from spca_motion.manipulator import Manipulator
from spca_robot.kinematics import ToolKinematics
from spca_sandbox.surface import DeclaredCtx
from spca_tabletop.act import grasps, placements


class Pose(TypedDict):
    """The tool, the point between the fingertips.

    Metres (x away from the robot, y left, z up), radians about z. Fingers point down, close across `yaw`.
    """

    x: float
    y: float
    z: float
    yaw: float


class Thing(TypedDict):
    """x, y, z of its centre, top of its upper face, size [x, y, z]."""

    name: str
    kind: str
    colour: str
    x: float
    y: float
    z: float
    yaw: float
    top: float
    size: list[float]
    visible: bool
    confidence: float


class Grasp(TypedDict):
    """`gap` is how wide to open before."""

    pose: Pose
    gap: float


class Spot(TypedDict):
    """`pose` leaves a small gap, `contact` closes it."""

    pose: Pose
    contact: Pose


def table_of(world: World) -> SceneObject:
    """The table as a thing among others: a planning object that skills may be called with."""
    table = world.table
    pose = geometry.Pose.from_xyz_yaw(*table.centre, table.top - table.size[2] / 2, 0.0)
    return SceneObject(id=TABLE_SYMBOL, kind="table", colour="", pose=pose, size=table.size, confidence=1.0)


def thing_value(o: SceneObject) -> Thing:
    """Return what a skill is told about an object."""
    x, y, z = o.pose.position
    return {
        "name": o.id, "kind": o.kind, "colour": o.colour, "x": x, "y": y, "z": z, "yaw": o.pose.yaw,
        "top": o.top,
        "size": list(o.size), "visible": o.visible, "confidence": o.confidence,
    }  # fmt: skip


def pose_value(pose: geometry.Pose) -> Pose:
    """A tool pose as a skill knows it."""
    x, y, z = pose.position
    return {"x": x, "y": y, "z": z, "yaw": top_down_yaw(pose)}


def spot_value(pose: geometry.Pose, contact: geometry.Pose) -> Spot:
    """A place's two tool poses as a skill knows them."""
    return {"pose": pose_value(pose), "contact": pose_value(contact)}


def raised(pose: geometry.Pose, by: float) -> geometry.Pose:
    """The same pose, higher by so many metres."""
    x, y, z = pose.position
    return pose.model_copy(update={"position": (x, y, z + by)})


def tool_pose(value: Any) -> geometry.Pose:
    """A skill's pose as a tool pose; ValueError when it is none."""
    try:
        x, y, z, yaw = (float(value[k]) for k in ("x", "y", "z", "yaw"))
    except (TypeError, KeyError, ValueError):
        raise ValueError(f"a pose has x, y, z and yaw as numbers, not {str(value)[:80]}") from None
    if not all(map(math.isfinite, (x, y, z, yaw))):
        raise ValueError("a pose must be finite")
    return top_down(x, y, z, yaw)


# A picture this old (s) is not of now. How long to wait for a better one, and between two looks.
STALE_S, LOOK_PATIENCE_S, LOOK_AGAIN_S = 0.5, 10.0, 0.4
# How near the tool must be to a thing, in metres, for closing the fingers to mean grasping it.
GRASP_RADIUS = 0.03


# Alternatives whose numbers differ by less than this (metres, see `_numbers`) are the same one, seen again.
_SAME = 0.03
# How a thing is hindered (see `obstructions`) when the ways to what a call offers at it are barred.
_HINDERED = {"grasps": "blocks", "spots_on": "blocks", "spots_next_to": "crowds"}
_TURN = 0.05
"""Metres from the tool's axis at which a turn of it counts as a distance."""


class SkillContext(DeclaredCtx):
    """The arm over the scene. Knows the scene only as `sense` perceived it.

    `sense` takes a snapshot now, with the arm out of view; `tip_reach` is how far the fingertips reach beyond
    the tool centre point, in metres.
    """

    def __init__(
        self,
        world: World,
        arm: Manipulator,
        sense: Callable[[], Scene],
        now: Callable[[], float],
        tip_reach: float,
    ) -> None:
        self._world, self._arm, self._sense, self._now = world, arm, sense, now
        self._tip_reach = tip_reach
        self._table, self._tools = table_of(world), ToolKinematics(world)
        self._scene: Scene | None = None
        self._hold = placements.Hold()
        self.on_grasps: Callable[[Sequence[geometry.Pose]], None] = lambda poses: None
        """Called with the grasps that a skill was offered, best first, so that they can be drawn."""
        self._hindered: dict[str, tuple[str, list[SceneObject]]] = {}
        """Things that were hindered since the last survey: how (see `obstructions`), and by what."""
        self._cramped: set[str] = set()
        """Things at which room was lacking at any time: nothing is put down near them if it can be helped."""
        self._dropped: set[str] = set()
        """Things that were let go beyond the table's edge last, where the camera need not see them."""
        self._handled = False
        """Whether the gripper has opened or closed since the last look."""
        self._unfinished: float | None = None
        """Gap in metres from which a stop has kept the pads; None where it has not."""
        self._pushes: list[tuple[Spot, tuple[str, ...]]] = []
        """Pushes offered since the last look, with what each of them moves."""
        self.preferences = Preferences()

    def prefer(self, choices: tuple[Choice, ...]) -> None:
        """See `CtxServer`."""
        self.preferences.choices = choices
        self.preferences.offered.clear()

    def lacking(self) -> tuple[str, ...]:
        """See `CtxServer`."""
        places = [offer for offer in self.preferences.offered if offer[0].startswith("spots")]
        call, args, found = places[-1] if places else ("", (), [""])
        return () if found or self._arm.held in args else (call, *args)

    @property
    def scene(self) -> Scene:
        """The scene as last perceived."""
        return self.look() if self._scene is None else self._scene

    def look(self) -> Scene:
        """Move the arm out of the camera's view and perceive the scene again.

        Where the camera delivers an old picture, or something hangs above the table, it waits and looks
        again. Raises MotionError('stale') when no new picture comes.
        """
        try:
            with self._failures_noted():
                self._arm.move_named("out_of_view")
        except MotionError as error:
            if error.kind != "lost":
                raise
            self._arm.move_named("out_of_view")
        end = self._now() + LOOK_PATIENCE_S
        while True:
            asked = self._now()
            scene = self.perceive()
            stale = scene.stamp < asked - STALE_S
            if not stale and OBSTRUCTED not in scene.notes:
                return scene
            if self._now() > end:
                if stale:
                    age = f"{asked - scene.stamp:.1f} s"
                    raise MotionError("stale", f"the camera's newest picture is {age} old")
                return scene
            self._arm.wait(LOOK_AGAIN_S)

    def perceive(self, sense: Callable[[], Scene] | None = None) -> Scene:
        """Perceive from where the arm is, or as `sense` does, and plan around what is seen."""
        self._scene = (sense or self._sense)()
        self._handled, self._pushes = False, []
        self._arm.set_scene(self._scene)
        return self._scene

    def _held(self) -> str:
        """Name of what is held."""
        if self._arm.held is None:
            raise MotionError("empty_hand", "nothing is held, so nothing can be put down")
        return self._arm.held

    def _at_tool(self) -> SceneObject | None:
        """Return the thing between the fingers; a tall one may be held far above or below its centre."""
        tool = self._arm.tool_pose().position

        def away(thing: SceneObject) -> float:
            x, y, z = thing.pose.position
            reach = max(0.0, thing.size[2] / 2 - grasps.COVERED)
            sideways = radius(thing.kind, thing.size) - GRASP_RADIUS if thing.kind in MESHES else 0.0
            return math.dist((x, y, min(max(tool[2], z - reach), z + reach)), tool) - sideways

        near = min(self.scene.of_kind(*SOLIDS, UNKNOWN), key=away, default=None)
        return near if near and away(near) < GRASP_RADIUS else None

    def _put_down(self, held: str) -> None:
        """The scene knows from now on where the held thing was let go, for which there was room."""
        self._hindered.clear()
        tool = self._arm.tool_pose()
        self._arm.detach()
        (x, y), z = self._hold.middle_at(tool), tool.position[2]
        (self._dropped.discard if self._world.table.contains(x, y) else self._dropped.add)(held)
        if (thing := self.scene.get(held)) is not None:
            centre, yaw = z - self._hold.height + thing.size[2] / 2, top_down_yaw(tool) + self._hold.turn
            pose = geometry.Pose.from_xyz_yaw(x, y, centre, yaw)
            self._scene = self.scene.replacing({held: thing.model_copy(update={"pose": pose})})
        self._arm.set_scene(self.scene)

    @contextmanager
    def _failures_noted(self) -> Iterator[None]:
        """Note why a motion fails: a thing that is lost is let go of; what bars the way is remembered."""
        try:
            yield
        except MotionError as error:
            if error.kind == "lost" and self._arm.held is not None:
                self._lose()
            self._barred(error.hit)
            raise

    def _barred(self, hit: str) -> None:
        """Remember what bars the way to the grasp or place that was offered last, for the next survey."""
        call, args, _ = self.preferences.offered[-1] if self.preferences.offered else ("", (), [])
        other = self._scene and self._scene.get(hit)  # None: the first look may fail, too
        if args and other and other.kind in SOLIDS and other.id != args[0] and call in _HINDERED:
            known = self._hindered.get(args[0], ("", []))[1]
            self._hindered[args[0]] = _HINDERED[call], [*(o for o in known if o.id != other.id), other]

    def _lose(self) -> None:
        """Forget what was held, which is somewhere else now; the next look will show where."""
        lost = self._arm.held
        log.warning("lost from the gripper", {"object": lost})
        self._handled = True
        self._arm.detach()
        self._arm.set_scene(self.scene.without([lost] if lost else ()))

    def _supports(self) -> list[str]:
        """Return what fingers and a held thing may touch in lifting or placing it: mats, too, are flat."""
        mats = (o.id for o in self.scene.of_kind(*FLAT))
        return [TABLE_SYMBOL, GROUND_SYMBOL, *mats, *([self._arm.held] if self._arm.held else [])]

    def _thing(self, name: str) -> SceneObject:
        found = self._table if name == TABLE_SYMBOL else self.scene.get(str(name))
        if found is None:
            known = ", ".join([*(o.id for o in self.scene.objects), TABLE_SYMBOL])
            raise ValueError(f"no object '{name}' in the scene; there are {known}")
        return found


class Preferences:
    """Puts what is preferred first, and remembers what was offered."""

    def __init__(self) -> None:
        self.choices: tuple[Choice, ...] = ()
        self.offered: list[tuple[str, tuple[str, ...], list[Any]]] = []
        """Call, arguments and alternatives, as they were offered, since the list was cleared."""

    def arranged(self, call: str, args: Sequence[Any], alternatives: list[Any]) -> list[Any]:
        """The alternatives of a call with the preferred one first, if it is among them."""
        known = call, tuple(map(str, args))
        for choice in self.choices:
            if (choice.call, choice.args) != known or not alternatives:
                continue
            best = min(alternatives, key=lambda a: _apart(a, choice))
            if _apart(best, choice) < _SAME:
                alternatives = [best, *(a for a in alternatives if a is not best)]
        self.offered.append((*known, alternatives))
        return alternatives

    def others(self) -> list[tuple[Choice, ...]]:
        """Return what could have been preferred to the first of each offer; the latest offer first."""
        found = {
            (call, args): tuple(Choice(call=call, args=args, values=_numbers(a)) for a in alternatives[1:])
            for call, args, alternatives in self.offered
        }
        return [choices for choices in reversed(found.values()) if choices]


def _numbers(alternative: Mapping[str, Any]) -> tuple[float, ...]:
    """A pose, grasp or spot as lengths in metres."""
    found: list[float] = []
    for name, value in alternative.items():
        if isinstance(value, Mapping):
            found += _numbers(value)
        elif name == "yaw":
            found += [_TURN * math.cos(value), _TURN * math.sin(value)]
        else:
            found.append(float(value))
    return tuple(round(v, 6) for v in found)


def _apart(alternative: Mapping[str, Any], choice: Choice) -> float:
    numbers = _numbers(alternative)
    return math.dist(numbers, choice.values) if len(numbers) == len(choice.values) else math.inf


@contextmanager
def touching(arm: Manipulator, *names: str) -> Iterator[None]:
    """While it lasts, the gripper and what it holds may touch the named objects."""
    arm.allow_contact(*names)
    try:
        yield
    finally:
        arm.allow_contact()
