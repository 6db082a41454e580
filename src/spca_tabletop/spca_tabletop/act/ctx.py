"""The server side of a tabletop skill's `ctx`.

It answers requests to perception and to the arm in plain JSON values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from itertools import islice
from typing import Any

import structlog

from spca_act.declared import DeclaredCtx, api_of, offered
from spca_core import geometry
from spca_core.errors import MotionError
from spca_core.geometry import top_down, top_down_yaw
from spca_core.kinds import KINDS, SOLIDS, WALL, radius
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL
from spca_core.observation import Observation
from spca_core.ports.arm import Arm
from spca_core.scene import OBSTRUCTED, Fact, Scene, SceneObject
from spca_core.world import World
from spca_robot.gripper_2f85 import STROKE
from spca_sense.observation import observation_of
from spca_tabletop.act import placements
from spca_tabletop.act.contact import touching
from spca_tabletop.act.conversion import (
    checked_speed,
    pose_value,
    raised,
    table_of,
    thing_value,
    tool_pose,
)  # fmt: skip
from spca_tabletop.act.grasps import APPROACH, finger_turns, grasps
from spca_tabletop.act.obstructions import obstructions, suspicions
from spca_tabletop.act.values import Grasp, Pose, Spot, Thing

log = structlog.get_logger(__name__)

Json = Any
MAX_WAIT_S = 5.0
# A picture this old (s) is not of now. How long to wait for a better one, and between two looks.
STALE_S, LOOK_PATIENCE_S, LOOK_AGAIN_S = 0.5, 10.0, 0.4
# How near the tool must be to a thing, in metres, for closing the fingers to mean grasping it.
GRASP_RADIUS = 0.03
# Things this near (horizontally, metres) to the end of a straight line may be touched by it: they are what it
# is for.
CONTACT_RADIUS = 0.075
# The fingertips press this far (metres) into the perceived top of a thing to be sure of touching it.
PRESS = 0.002
# The pads must be this much (metres) farther apart than what they held is wide.
RELEASE = 0.012
CHOICES = 6
NAMED = ("home", "out_of_view")


Memory = tuple[Scene | None, tuple[float, ...]]
"""What a ctx remembers: what it saw last, and how it holds what it holds (see `placements.Hold`)."""
FRESH: Memory = (None, astuple(placements.Hold()))


class TabletopCtx(DeclaredCtx):
    """Serves the calls of `TABLETOP_API`, its offered methods. Knows the scene only as `sense` perceived it.

    `sense` takes a snapshot now, with the arm out of view; `tip_reach` is how far the fingertips reach beyond
    the tool centre point, in metres.
    """

    def __init__(
        self, world: World, arm: Arm, sense: Callable[[], Scene], now: Callable[[], float], tip_reach: float
    ) -> None:
        self._world, self._arm, self._sense, self._now = world, arm, sense, now
        self._tip_reach = tip_reach
        self._table = table_of(world)
        self._scene: Scene | None = None
        self._hold = placements.Hold()
        self.on_grasps: Callable[[Sequence[geometry.Pose]], None] | None = None
        """Called with the grasps that a skill was offered, best first, so that they can be drawn."""
        self._hindered: dict[str, str] = {}
        """Things that could not be grasped, or where nothing could be put, since the last survey: by what."""
        self._handled = False
        """Whether the gripper has opened or closed since the last look."""

    # --- CtxServer ------------------------------------------------------------------------------------------

    def now(self) -> float:
        """Simulated seconds."""
        return self._now()

    def stop(self) -> None:
        """Stop the arm; running and further motion calls raise MotionError('cancelled')."""
        self._arm.stop()

    def notice(self, since: float) -> Observation | None:
        """What the gripper holds, and what a look showed.

        The look counts if it was taken after `since` and before any handling.
        """
        scene = self._scene
        if scene is None:
            return None
        held = self._arm.held if self._arm.holding() else None
        if scene.stamp >= since and not self._handled:
            return observation_of(scene).model_copy(update={"sentences": (), "detail": {}})
        objects = {o.id: o.kind for o in scene.objects} | {TABLE_SYMBOL: "table"}
        return Observation(
            stamp=self._now(),
            objects=objects,
            facts=(Fact(predicate="held", args=(held,)),) if held else (),
            sentences=(),
            hidden=tuple(o for o in objects if o not in (held, TABLE_SYMBOL)),
        )

    # --- for the environment --------------------------------------------------------------------------------

    @property
    def scene(self) -> Scene:
        """The scene as last perceived."""
        if self._scene is None:
            return self.look()
        return self._scene

    def look(self) -> Scene:
        """Move the arm out of the camera's view and perceive the scene again.

        Where the camera delivers an old picture, or something hangs above the table, it waits and looks
        again. Raises MotionError('stale') when no new picture comes.
        """
        try:
            with self._lost_noticed():
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
                    raise MotionError(
                        "stale", f"the camera's newest picture is {asked - scene.stamp:.1f} s old"
                    )
                return scene
            self._arm.wait(LOOK_AGAIN_S)

    def survey(self) -> Scene:
        """Look, and find out what is in the way of what (see `obstructions`)."""
        scene = self.look()
        facts = dict.fromkeys(obstructions(scene, self._arm, self._tip_reach))
        found = {(fact.predicate, fact.args[1]) for fact in facts}
        unexplained = {n: p for n, p in self._hindered.items() if (p, n) not in found}
        facts |= dict.fromkeys(suspicions(scene, unexplained))
        self._hindered.clear()
        return scene.model_copy(update={"relations": (*scene.relations, *facts)})

    def perceive(self) -> Scene:
        """Perceive from where the arm is, and plan around what is seen."""
        self._scene = self._sense()
        self._handled = False
        self._arm.set_scene(self._scene)
        return self._scene

    @property
    def memory(self) -> Memory:
        """What it remembers besides the arm's own state, for a checkpoint."""
        return self._scene, astuple(self._hold)

    def recall(self, memory: Memory, held: str | None) -> None:
        """Restore the memory after the world was rewound to a checkpoint with `held` in the gripper."""
        self._scene, self._hold = memory[0], placements.Hold(*memory[1])
        self._handled = True  # that may be so: only the next look says where things are
        self._arm.resume()
        self._arm.detach()
        if self._scene is not None:
            self._arm.set_scene(self._scene)
        if held is not None:
            self._arm.attach(held)

    # --- perception -----------------------------------------------------------------------------------------

    @offered
    def _do_locate(self, name: str) -> Thing:
        """The object with that name as last seen; the table is one, too. Fails if unknown."""
        return thing_value(self._thing(name))

    @offered
    def _do_scene(self) -> list[Thing]:
        """Every object as last seen, without the table."""
        return [thing_value(o) for o in self.scene.objects]

    @offered
    def _do_look(self) -> list[Thing]:
        """Move the arm out of the camera's view, look again, return every object."""
        return [thing_value(o) for o in self.look().objects]

    @offered
    def _do_holds(self, relation: str, *names: str) -> bool:
        """Whether a relation was seen at the last look, such as holds("on", cube, plate).

        Of two things: on, next_to; of one: held, clear, leftmost, rightmost, middle, nearest, farthest.
        """
        return Fact(predicate=relation, args=names) in self.scene.relations

    # --- choices --------------------------------------------------------------------------------------------

    @offered
    def _do_grasps(self, name: str) -> list[Grasp]:
        """Tool poses from which the open fingers fit around the object and can be reached, best first.

        Empty if there are none.
        """
        if self._thing(name).kind == "table":
            return []
        with touching(self._arm, name):
            found = list(islice(grasps(self.scene, name, self._arm, self._tip_reach), CHOICES))
        if not found:
            self._hindered[name] = "blocks"
        if self.on_grasps is not None:
            self.on_grasps([g.pose for g in found])
        return [{"pose": pose_value(g.pose), "gap": g.gap} for g in found]

    @offered
    def _do_touch_poses(self, name: str) -> list[Pose]:
        """Tool poses at which the closed fingertips rest on top of the object, best first."""
        thing = self._thing(name)
        if thing.kind == "table":
            raise ValueError("the table may not be touched")
        on_it = [o for o in self.scene.of_kind(*SOLIDS) if self.scene.holds("on", o.id, name)]
        z = thing.top + self._tip_reach - PRESS
        x, y, _ = thing.pose.position
        kind = KINDS[thing.kind]
        ring = [] if kind.walled else [(0.0, 0.0)]
        if not kind.solid:
            r = thing.size[0] / 2 - (WALL / 2 if kind.walled else 0.014)
            ring += [(r * math.cos(k * math.pi / 6), r * math.sin(k * math.pi / 6)) for k in range(12)]
        free = [
            (x + dx, y + dy)
            for dx, dy in ring
            if all(math.dist((x + dx, y + dy), o.pose.position[:2]) > 0.045 for o in on_it)
        ]
        poses = (top_down(px, py, z, t) for px, py in free for t in finger_turns(thing.pose.yaw, self._arm))
        with touching(self._arm, name):
            return self._reachable_json(poses, gap=0.0, approach=True)

    @offered
    def _do_spots_on(self, name: str) -> list[Pose]:
        """Tool poses at which the held object rests on (or in) a thing or the table, best first.

        Free and central places come first.
        """
        base = self._thing(name)
        if base.kind == "table":
            return self._do_spots_on_table()
        spots = placements.on_top(base, self.scene, self._held(), self._hold, self._tip_reach)
        found = self._placing_json(spots, base.id)
        if not found:
            self._hindered[base.id] = "blocks"
        return found

    @offered
    def _do_spots_next_to(self, name: str) -> list[Spot]:
        """Places next to a thing, best first."""
        other = self._thing(name)
        self._held()
        beside = [o for o in self.scene.objects if self.scene.holds("next_to", o.id, name)]
        spots = placements.next_to(other, self._hold, beside)
        with touching(self._arm, name, *self._supports()):
            fine = islice((s for s in spots if self._can_put(s.pose) and self._on_area(s.pose)), CHOICES)
            found: list[Spot] = [{"pose": pose_value(s.pose), "contact": pose_value(s.contact)} for s in fine]
        if not found:
            self._hindered[other.id] = "crowds"
        return found

    @offered
    def _do_spots_on_table(self) -> list[Pose]:
        """Tool poses that put the held object on free table."""
        table, area = self._world.table, self._world.work_area
        spots = placements.on_table(self.scene, table, area, self._held(), self._hold)
        return self._placing_json(spots)

    @offered
    def _do_spots_across(self, a: str, b: str) -> list[Pose]:
        """Tool poses that rest the held object on two cubes side by side."""
        left, right = self._thing(a), self._thing(b)
        beside = [o.id for o in placements.beside_on(left, right, self.scene)]
        return self._placing_json(placements.across(left, right, self._hold, self.scene), a, b, *beside)

    @offered
    def _do_spots_at_edge(self, name: str) -> list[Pose]:
        """Tool poses that drop it leaning on a plate's rim."""
        spots = placements.at_edge(self._thing(name), self.scene, self._held(), self._hold)
        return self._placing_json(spots, name)

    @offered
    def _do_spots_off_table(self) -> list[Pose]:
        """Tool poses from which the held object falls to the ground."""
        base = self._world.robot.base.position
        return self._placing_json(placements.off_table(self._world.table, base[:2], self._hold))

    # --- arm ------------------------------------------------------------------------------------------------

    @offered
    def _do_tool_pose(self) -> Pose:
        """Where the tool is now."""
        return pose_value(self._arm.tool_pose())

    @offered
    def _do_move_to(self, pose: Pose, speed: float = 1.0) -> None:
        """Move the tool to a pose, around all obstacles."""
        with self._lost_noticed():
            self._arm.move_to(tool_pose(pose), checked_speed(speed))

    @offered
    def _do_move_linear(self, pose: Pose, speed: float = 1.0) -> None:
        """Move the tool in a straight line; use it for the last centimetres to and from things."""
        target = tool_pose(pose)
        ends = (target, self._arm.tool_pose())
        near = [
            o.id
            for o in self.scene.objects
            if any(math.dist(e.position[:2], o.pose.position[:2]) < _contact_radius(o) for e in ends)
        ]
        with self._lost_noticed(), touching(self._arm, *near, *self._supports()):
            self._arm.move_linear(target, checked_speed(speed))

    @offered
    def _do_move_named(self, name: str) -> None:
        """Move to a named configuration: "home" or "out_of_view" (of the camera)."""
        if name not in NAMED:
            raise ValueError(f"no configuration '{name}'; there are {', '.join(NAMED)}")
        with self._lost_noticed():
            self._arm.move_named(name)  # type: ignore[arg-type]

    @offered
    def _do_open(self, gap: float = 0.085) -> None:
        """Open the gripper to a gap in metres, or as far as it takes to let go of what is held."""
        self._handled = True
        held = self._arm.held
        if held is not None:
            self._put_down(held)
            gap = max(float(gap), min(self._hold.across + RELEASE, STROKE))
        self._arm.open(float(gap))

    @offered
    def _do_close(self, gap: float = 0.0) -> float:
        """Close until something resists; returns the gap in metres."""
        self._handled = True
        reached = self._arm.close(float(gap))
        if self._arm.holding() and (thing := self._at_tool()) is not None:
            tool = self._arm.tool_pose()
            self._hold = placements.Hold.of(thing, tool, top_down_yaw(tool))
            self._arm.attach(thing.id)
        return reached

    @offered
    def _do_is_holding(self) -> bool:
        """Whether something is between the fingers."""
        holding = self._arm.holding()
        if not holding and self._arm.held is not None:
            self._lose()
        return holding

    @offered
    def _do_wait(self, seconds: float) -> None:
        """Let simulated time pass (at most 5 s a call)."""
        if not 0 <= float(seconds) <= MAX_WAIT_S:
            raise ValueError(f"ctx.wait takes 0 to {MAX_WAIT_S:g} seconds, not {seconds}")
        self._arm.wait(float(seconds))

    @offered
    def _do_time(self) -> float:
        """Simulated time in seconds."""
        return self._now()

    @offered
    def _do_log(self, message: str) -> None:
        """Write a line into the run's record."""
        log.info("skill", message=str(message)[:500])

    # --- helpers --------------------------------------------------------------------------------------------

    def _thing(self, name: str) -> SceneObject:
        found = self._table if name == TABLE_SYMBOL else self.scene.get(str(name))
        if found is None:
            known = ", ".join([*(o.id for o in self.scene.objects), TABLE_SYMBOL])
            raise ValueError(f"no object '{name}' in the scene; there are {known}")
        return found

    def _held(self) -> str:
        """Name of what is held."""
        if self._arm.held is None:
            raise MotionError("gripper", "nothing is held, so nothing can be put down")
        return self._arm.held

    def _at_tool(self) -> SceneObject | None:
        tool = self._arm.tool_pose().position
        solids = self.scene.of_kind(*SOLIDS, "unknown")
        near = min(solids, key=lambda o: math.dist(o.pose.position, tool), default=None)
        return near if near and math.dist(near.pose.position, tool) < GRASP_RADIUS else None

    def _put_down(self, held: str) -> None:
        """The scene knows from now on where the held thing was let go."""
        tool = self._arm.tool_pose()
        self._arm.detach()
        x, y, z = tool.position
        moved = []
        for o in self.scene.objects:
            if o.id != held:
                moved.append(o)
                continue
            centre, yaw = z - self._hold.height + o.size[2] / 2, top_down_yaw(tool) + self._hold.turn
            moved.append(o.model_copy(update={"pose": geometry.Pose.from_xyz_yaw(x, y, centre, yaw)}))
        self._scene = self.scene.model_copy(update={"objects": tuple(moved)})
        self._arm.set_scene(self._scene)

    @contextmanager
    def _lost_noticed(self) -> Iterator[None]:
        """A motion that ends because the held object was lost leaves nothing attached."""
        try:
            yield
        except MotionError as error:
            if error.kind == "lost" and self._arm.held is not None:
                self._lose()
            raise

    def _lose(self) -> None:
        """What was held is somewhere else now; the next look will show where."""
        lost = self._arm.held
        log.warning("lost from the gripper", object=lost)
        self._handled = True
        self._arm.detach()
        seen = self.scene
        rest = tuple(o for o in seen.objects if o.id != lost)
        self._arm.set_scene(seen.model_copy(update={"objects": rest}))

    def _supports(self) -> list[str]:
        """What a held thing may slide along when it is lifted or put down."""
        return [TABLE_SYMBOL, GROUND_SYMBOL, *([self._arm.held] if self._arm.held else [])]

    def _can_put(self, pose: geometry.Pose) -> bool:
        above = raised(pose, APPROACH)
        return self._arm.reachable(pose) and self._arm.reachable(above)

    def _on_area(self, pose: geometry.Pose) -> bool:
        return self._world.table.contains(*pose.position[:2], margin=0.03)

    def _placing_json(self, poses: Iterable[geometry.Pose], *touch: str) -> list[Pose]:
        with touching(self._arm, *touch, *self._supports()):
            return [pose_value(p) for p in islice(filter(self._can_put, poses), CHOICES)]

    def _reachable_json(self, poses: Iterator[geometry.Pose], gap: float, approach: bool) -> list[Pose]:
        fine = (
            p
            for p in poses
            if self._arm.reachable(p, gap) and (not approach or self._arm.reachable(raised(p, APPROACH), gap))
        )
        return [pose_value(p) for p in islice(fine, CHOICES)]


TABLETOP_API = TabletopCtx.api = api_of(
    TabletopCtx,
    "tabletop",
    types=(Pose, Thing, Grasp, Spot),
    helpers=("pose(x, y, z, yaw=0.0) -> Pose: a tool pose, fingers pointing down and closing across `yaw`",),
)


def _contact_radius(thing: SceneObject) -> float:
    """How near to a thing's centre, in metres, a straight line must end for it to be allowed to touch it."""
    around = radius(thing.kind, thing.size) + CONTACT_RADIUS / 2 if KINDS[thing.kind].walled else 0.0
    return max(CONTACT_RADIUS, around)
