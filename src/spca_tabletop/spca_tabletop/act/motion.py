"""Motions that a skill may have the arm do."""

from __future__ import annotations

import math
from dataclasses import replace

import structlog

from spca_core.geometry import top_down_yaw
from spca_core.kinds import KINDS, radius
from spca_core.scene import SceneObject
from spca_robot.gripper_2f85 import STROKE
from spca_sandbox.declared import offered
from spca_tabletop.act import placements
from spca_tabletop.act.skill_context import SkillContext, touching
from spca_tabletop.act.values import Pose, pose_value, tool_pose

log = structlog.get_logger(__name__)

MAX_WAIT_S = 5.0
# Things this near (horizontally, metres) to the end of a straight line may be touched by it: they are what it
# is for.
CONTACT_RADIUS = 0.075
# The pads must be this much (metres) farther apart than what they held is wide.
RELEASE = 0.012
# More than this (metres) between the pads' gap and the width of what they hold is no error of measurement.
MISJUDGED = 0.005
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
        with self._lost_noticed():
            self._arm.move_to(tool_pose(pose), float(speed))

    @offered
    def _do_move_linear(self, pose: Pose, speed: float = 1.0) -> None:
        """Straight, to and from things; what lies within 7 cm of its ends may be touched and pushed."""
        target = tool_pose(pose)
        ends = (target, self._arm.tool_pose())
        near = [
            o.id
            for o in self.scene.objects
            if any(math.dist(e.position[:2], o.pose.position[:2]) < _contact_radius(o) for e in ends)
        ]
        with self._lost_noticed(), touching(self._arm, *near, *self._supports()):
            self._arm.move_linear(target, float(speed))

    @offered
    def _do_move_named(self, name: str) -> None:
        """To "home" or "out_of_view"."""
        if name not in NAMED:
            raise ValueError(f"no configuration '{name}'; there are {', '.join(NAMED)}")
        with self._lost_noticed():
            self._arm.move_named(name)  # type: ignore[arg-type]

    @offered
    def _do_open(self, gap: float = 0.085) -> None:
        """Open to a gap in metres: 0.02 more than `close` gave to let go; fully, it pushes what is around."""
        self._handled = True
        held = self._arm.held
        if held is not None:
            self._put_down(held)
            gap = max(float(gap), min(self._hold.across + RELEASE, STROKE))
        self._arm.open(float(gap))

    @offered
    def _do_close(self, gap: float = 0.0) -> float:
        """Close until something resists; returns the gap."""
        self._handled = True
        reached = self._arm.close(float(gap))
        if self._arm.holding() and (thing := self._at_tool()) is not None:
            tool = self._arm.tool_pose()
            hold = placements.Hold.of(thing, tool, top_down_yaw(tool))
            # What has toppled may be held across a longer side than it seems to have.
            wider = reached > hold.across + MISJUDGED
            self._hold = replace(hold, across=reached) if wider else hold
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
        """Tell this to whoever mends the skill."""
        log.info("skill", message=str(message)[:500])


def _contact_radius(thing: SceneObject) -> float:
    """Return how near to a thing's centre, in metres, a straight line must end to be allowed to touch it."""
    around = radius(thing.kind, thing.size) + CONTACT_RADIUS / 2 if KINDS[thing.kind].walled else 0.0
    return max(CONTACT_RADIUS, around)
