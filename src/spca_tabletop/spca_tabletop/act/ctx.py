"""The server side of a tabletop skill's `ctx`: it answers requests in plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, replace

from spca_core.errors import MotionError
from spca_core.geometry import top_down_yaw
from spca_core.kinds import KINDS, radius
from spca_core.log import log
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL
from spca_core.relation import place_of, relations
from spca_core.scene import RELATIONS, Fact, Observation, Scene, SceneObject
from spca_robot.gripper_2f85 import STROKE
from spca_sandbox.surface import api_of, offered
from spca_sense.view import NOISE
from spca_tabletop.act import placements
from spca_tabletop.act.alternatives import Alternatives
from spca_tabletop.act.obstructions import obstructions, out_of_reach, suspicions
from spca_tabletop.act.skill_context import (
    Grasp,
    Pose,
    SkillContext,
    Spot,
    Thing,
    pose_value,
    spot_value,
    thing_value,
    tool_pose,
    touching,
)

MAX_WAIT_S = 5.0
# Things this near (horizontally, metres) to the end of a straight line may be touched by it: they are what it
# is for.
CONTACT_RADIUS = 0.075
# The pads must be this much (metres) farther apart than what they held is wide.
RELEASE = 0.012
# More than this (metres) between the pads' gap and the width of what they hold is no error of measurement.
MISJUDGED = NOISE
NAMED = ("home", "out_of_view")


class Motion(SkillContext):
    """The arm and its gripper, the clock and the record."""

    @offered
    def _do_tool_pose(self) -> Pose:
        """Where the tool is now."""
        return pose_value(self._arm.tool_pose())

    @offered
    def _do_move_to(self, pose: Pose, speed: float = 1.0) -> None:
        """Around all obstacles."""
        with self._failures_noted():
            self._arm.move_to(tool_pose(pose), float(speed))

    @offered
    def _do_move_linear(self, pose: Pose, speed: float = 1.0) -> None:
        """Straight; what lies within 7 cm of its ends may be touched and pushed."""
        target = tool_pose(pose)
        ends = (target, self._arm.tool_pose())
        near = [
            o.id
            for o in self.scene.objects
            if any(math.dist(e.position[:2], o.pose.position[:2]) < _contact_radius(o) for e in ends)
        ]
        with self._failures_noted(), touching(self._arm, *near, *self._supports()):
            self._arm.move_linear(target, float(speed))

    @offered
    def _do_pushes(self, name: str) -> list[Spot]:
        """Where closed fingers push it free: from `pose` to `contact`."""
        from spca_tabletop.act.pushes import pushes

        found = list[Spot]()
        for push in pushes(self.scene, self._thing(name).id, self._arm, self._tip_reach):
            found.append(spot_value(push.pose, push.contact))
            self._pushes.append((found[-1], push.things))
        return found

    @offered
    def _do_push(self, spot: Spot, speed: float = 0.1) -> None:
        """Carry one out; then look."""
        things = next((moved for known, moved in self._pushes if known == spot), None)
        if things is None:
            raise ValueError("push to a spot that ctx.pushes gave since the last look")
        self._handled = True
        self._arm.set_scene(self.scene.without({*things}))
        try:
            with touching(self._arm, *self._supports()):
                self._arm.move_linear(tool_pose(spot["contact"]), float(speed))
        except MotionError:
            self._arm.set_scene(self.scene)  # whatever comes next keeps clear of what was not moved
            raise

    @offered
    def _do_move_named(self, name: str) -> None:
        """To "home" or "out_of_view"."""
        if name not in NAMED:
            raise ValueError(f"no configuration '{name}'; there are {', '.join(NAMED)}")
        with self._failures_noted():
            self._arm.move_named(name)  # type: ignore[arg-type]

    @offered
    def _do_open(self, gap: float = 0.085) -> None:
        """Gap in metres: 0.02 more than `close` gave lets go; fully, it pushes what is around."""
        held = self._arm.held
        if held is not None:
            self._put_down(held)
            gap = min(max(float(gap), self._hold.across + RELEASE), STROKE)
        with self._driving(float(gap)):
            self._arm.open(float(gap))

    @offered
    def _do_close(self, gap: float = 0.0) -> float:
        """Until something resists; returns the gap."""
        with self._driving(float(gap)):
            reached = self._arm.close(float(gap))
        if self._arm.held is None and self._arm.holding() and (thing := self._at_tool()) is not None:
            self._arm.attach(thing.id)
            self._hindered.clear()
            tool = self._arm.tool_pose()  # at the pads' gap from now on, as it is where the thing is put down
            hold = placements.Hold.of(thing, tool, top_down_yaw(tool))
            # What has toppled may be held across a longer side than it seems to have.
            wider = reached > hold.across + MISJUDGED
            self._hold = replace(hold, across=reached) if wider else hold
        return reached

    @contextmanager
    def _driving(self, gap: float) -> Iterator[None]:
        """Have the next survey drive the pads to `gap` where a stop keeps them from it."""
        self._handled, self._unfinished = True, None
        try:
            yield
        except MotionError as error:
            if error.kind == "cancelled":
                self._unfinished = gap
            raise

    @offered
    def _do_is_holding(self) -> bool:
        """Whether the fingers hold something."""
        holding = self._arm.holding()
        if not holding and self._arm.held is not None:
            self._lose()
        return holding

    @offered
    def _do_wait(self, seconds: float) -> None:
        """At most 5 s a call."""
        if not 0 <= float(seconds) <= MAX_WAIT_S:
            raise ValueError(f"ctx.wait takes 0 to {MAX_WAIT_S:g} seconds, not {seconds}")
        self._arm.wait(float(seconds))

    @offered
    def _do_time(self) -> float:
        """Simulated seconds."""
        return self._now()

    @offered
    def _do_log(self, message: str) -> None:
        """For whoever mends the skill."""
        log.info("skill", {"message": str(message)[:500]})


def _contact_radius(thing: SceneObject) -> float:
    """Return how near to a thing's centre, in metres, a straight line must end to be allowed to touch it."""
    around = radius(thing.kind, thing.size) + CONTACT_RADIUS / 2 if KINDS[thing.kind].walled else 0.0
    return max(CONTACT_RADIUS, around)


Memory = tuple[Scene | None, tuple[float, ...], tuple[str, ...]]
"""Memory of a ctx: what it saw last, how a thing is held (see `placements.Hold`), where room was lacking."""


class Perception(SkillContext):
    """The scene as last seen, and another look at it."""

    @offered
    def _do_locate(self, name: str) -> Thing:
        """The object as last seen."""
        return thing_value(self._thing(name))

    @offered
    def _do_scene(self) -> list[Thing]:
        """All but the table."""
        return [thing_value(o) for o in self.scene.objects]

    @offered
    def _do_look(self) -> list[Thing]:
        """Look again, the arm out of view."""
        return [thing_value(o) for o in self.look().objects]

    @offered
    def _do_holds(self, relation: str, *names: str) -> bool:
        """As last seen: "on", a, b; "clear", a; "at", a, place; and so on."""
        fallen = {row.name for row in relations() if row.rests == GROUND_SYMBOL}
        if relation == "at" and names[1:] and names[1] in fallen:
            relation, names = names[1], names[:1]
        if relation == "at" and len(names) == 2 and (place := place_of(names[1])) is not None:
            return place.holds(self._thing(names[0]), self.scene.objects)
        if relation == "hand_empty":
            return all(fact.predicate != "held" for fact in self.scene.relations)
        known = {*RELATIONS, *(row.name for row in relations())}
        if relation not in known:
            raise ValueError(f"ctx.holds: no relation '{relation}'; there are {', '.join(sorted(known))}")
        if relation in fallen:  # it may lie where the camera sees nothing
            gone = self._dropped - {o.id for o in self.scene.objects}
            return {*names} <= gone or self.scene.holds("on", *names, GROUND_SYMBOL)
        return self.scene.holds(relation, *names)


class TabletopCtx(Perception, Alternatives, Motion):
    """Serves the calls of `TABLETOP_API`, the offered methods of its parts. See `SkillContext`."""

    def now(self) -> float:
        """Return the time in simulated seconds."""
        return self._now()

    def stop(self) -> None:
        """Stop the arm; running and further motion calls raise MotionError('cancelled')."""
        self._arm.stop()

    def notice(self, since: float) -> Observation | None:
        """Return what is held, and what a look showed that was taken after `since`, before any handling."""
        scene = self._scene
        if scene is None:
            return None
        held = self._arm.held if self._arm.holding() else None
        if scene.stamp >= since and not self._handled:
            return Observation.of(scene).model_copy(update={"sentences": ()})
        objects = {o.id: o.kind for o in scene.objects} | {TABLE_SYMBOL: "table"}
        return Observation(
            stamp=self._now(),
            objects=objects,
            facts=(Fact(predicate="held", args=(held,)),) if held else (),
            sentences=(),
            hidden=tuple(o for o in objects if o not in (held, TABLE_SYMBOL)),
        )

    look_closer: Callable[[], Scene] | None = None
    """Function that looks into what the last look left hidden, where an empty hand has a camera for that."""

    def survey(self) -> Scene:
        """Look, and find out what is in the way of what, and out of reach (see `obstructions`)."""
        if self._unfinished is not None:
            # What is between the pads is known only when they are at rest; the arm would carry it unknown.
            self._do_close(self._unfinished)
        scene = self.look()
        if self.look_closer is not None and self._arm.held is None:
            scene = self.perceive(self.look_closer)
        facts = dict.fromkeys(obstructions(scene, self._arm, self._tip_reach))
        found = {(fact.predicate, fact.args[1]) for fact in facts}
        unexplained = {n: h for n, h in self._hindered.items() if (h[0], n) not in found}
        facts |= dict.fromkeys(suspicions(scene, unexplained))
        facts |= dict.fromkeys(out_of_reach(scene, self._tools))
        return scene.model_copy(update={"relations": (*scene.relations, *facts)})

    @property
    def memory(self) -> Memory:
        """Memory besides the arm's own state, for a checkpoint."""
        return self._scene, astuple(self._hold), tuple(sorted(self._cramped))

    def recall(self, memory: Memory, held: str | None) -> None:
        """Restore the memory after the world was rewound to a checkpoint with `held` in the gripper."""
        self._scene, hold, cramped = memory
        self._hold, self._cramped = placements.Hold(*hold), set(cramped)
        self._hindered.clear()
        self._unfinished = None
        self._handled = True  # that may be so: only the next look says where things are
        self._arm.resume()
        self._arm.detach()
        if self._scene is not None:
            self._arm.set_scene(self._scene)
        if held is not None:
            self._arm.attach(held)


TABLETOP_API = TabletopCtx.api = api_of(
    TabletopCtx, "tabletop", types=(Pose, Thing, Grasp, Spot), helpers=("pose(x, y, z, yaw=0.0) -> Pose",)
)
