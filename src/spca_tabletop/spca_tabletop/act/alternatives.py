"""Alternatives that a skill may choose from: grasps, places to touch, places to put things; best first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from spca_core import geometry
from spca_core.errors import MotionError
from spca_core.geometry import top_down, top_down_yaw
from spca_core.kinds import FLAT, KINDS, SOLIDS, WALL
from spca_core.names import TABLE_SYMBOL
from spca_core.plan import Plan
from spca_core.relation import Place, place_of, relations
from spca_core.scene import Scene, SceneObject
from spca_sandbox.surface import offered
from spca_sense.hypotheses import LOW
from spca_tabletop.act import placements
from spca_tabletop.act.grasps import APPROACH, finger_turns, grasps
from spca_tabletop.act.grasps import GraspCandidate as ToolGrasp
from spca_tabletop.act.obstructions import Possible, in_the_way, neighbours, row_of
from spca_tabletop.act.skill_context import (
    Grasp,
    Pose,
    SkillContext,
    Spot,
    pose_value,
    raised,
    spot_value,
    touching,
)

# The fingertips press this far (metres) into the perceived top of a thing to be sure of touching it.
PRESS = 0.002
CHOICES = 6
_PLACES = ", ".join(row.example for row in relations() if row.example and row.skill)


class Alternatives(SkillContext):
    """Tool poses that geometry allows; those of its own calls that are preferred come first."""

    def call(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """See `DeclaredCtx`."""
        answer = super().call(method, args, kwargs)
        if f"_do_{method}" not in vars(Alternatives):
            return answer
        return self.preferences.arranged(method, (*args, *kwargs.values()), answer)

    @offered
    def _do_grasps(self, name: str) -> list[Grasp]:
        """Where open fingers fit around it, best first."""
        if self._thing(name) is self._table:
            return []
        found = list(islice(self._grasps(self.scene, name), CHOICES))
        if not found:
            self._hinder("blocks", self._thing(name), lambda seen: any(self._grasps(seen, name)))
        self.on_grasps([g.pose for g in found])
        return [{"pose": pose_value(g.pose), "gap": g.gap} for g in found]

    @offered
    def _do_touch_poses(self, name: str) -> list[Pose]:
        """Where closed fingertips touch its top: go above with move_to, down with move_linear."""
        thing = self._thing(name)
        if thing is self._table:
            raise ValueError("the table may not be touched")
        on_it = [o for o in self.scene.of_kind(*SOLIDS) if self.scene.holds("on", o.id, name)]
        z = thing.top + self._tip_reach - PRESS
        (x, y, _), kind = thing.pose.position, KINDS[thing.kind]
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
            return self._possible(poses, 0.0)

    @offered
    def _do_spots_on(self, name: str) -> list[Pose]:
        """Tool poses, best first, for what is held to rest on or in it."""
        base = self._thing(name)
        if base is self._table:
            return self._do_spots_on_table()

        def spots(seen: Scene) -> list[Pose]:
            cramped = base.id in self._cramped and KINDS[base.kind].spacious
            found = placements.on_top(base, seen, self._held(), self._hold, self._tip_reach, cramped)
            return self._placing_json(found, base.id)

        found = spots(self.scene)
        if not found:
            self._hinder("blocks", base, lambda seen: bool(spots(seen)))
        return found

    @offered
    def _do_spots_next_to(self, name: str) -> list[Spot]:
        """The same, next to a thing on the table."""
        # Beside a neighbour they go on in line, around a corner only where nothing could be moved away; else
        # those come first beyond which there is room for a longer row. Those not partly on a mat lead.
        other = self._thing(name)
        self._held()
        row, tool_at = row_of(self.scene, other), self._hold.tool_at

        def spots(*shifts: float) -> list[placements.PlaceCandidate]:
            with touching(self._arm, name, *self._supports()):
                beside = placements.next_to(other, self._hold, row, shifts)
                possible = (replace(s, pose=tool_at(s.pose), contact=tool_at(s.contact)) for s in beside)
                possible = (s for s in possible if self._on_area(s.pose) and self._can_put(s.pose))
                return [s for s in possible if self._arm.reachable(s.contact)]

        mats = [o for o in self.scene.of_kind(*FLAT) if not self.scene.holds("on", name, o.id)]

        def free(pose: geometry.Pose) -> bool:
            return self._can_put(pose) and self._on_area(pose) and placements.clear_of(pose, mats, self._hold)

        found = spots(0.0) or spots(*placements.ALONG_FACE)
        if not row:
            with touching(self._arm, *self._supports()):
                found = placements.able_to_go_on(found, other, free)
        elif any(o not in row for o in neighbours(self.scene, other)):
            found = placements.in_line(found, other, row)
        found.sort(key=lambda s: not placements.clear_of(s.contact, mats, self._hold))
        if not found and self._is_raised(other):
            raise ValueError(f"spots_next_to finds places on the table only, and {name} is on something else")
        if not found:
            self._hinder("crowds", other, lambda _: bool(placements.in_line(spots(0.0), other, row)), row)
        return [spot_value(s.pose, s.contact) for s in found[:CHOICES]]

    @offered
    def _do_spots_on_table(self) -> list[Pose]:
        """The same, free on the table."""
        table, area = self._world.table, self._world.work_area
        thing = self._thing(self._held())
        wanted = [self._there(at, thing) for name in sorted(self._cramped) if (at := place_of(name))]
        scene = self.scene.model_copy(update={"objects": (*self.scene.objects, *filter(None, wanted))})
        spots = placements.on_table(scene, table, area, thing.id, self._hold, self._cramped)
        return self._placing_json(spots)

    @offered
    def _do_spots_at(self, place: str) -> list[Pose]:
        """Where the held object is put to be at a place."""
        if (at := place_of(place)) is None:
            raise ValueError(f"'{place}' is no place; one is named by a relation and what it is to")
        if at.relation.skill:
            above = placements.above(at, self.scene, self._world, self._held(), self._hold)
            return self._placing_json(above, *at.things)
        found = self._spots_at(at, self.scene, self._held(), self._hold)
        if not found and (why := self._taken(at, self._held(), self._hold)):
            raise MotionError("no_place", why)
        return found

    def foreseen(self, plan: Plan) -> str:
        """Say for which place of a plan there is no room, and why; empty where that is not sure yet.

        What earlier steps take away is not in the way; a place that is told by it is left to be seen.
        """
        self._hindered.clear()  # by then looks have told of it
        moved: set[str] = set()
        for step in (s for s in plan.steps if s.args):
            thing, at = self.scene.get(step.args[0]), place_of(step.args[-1])
            if thing and at and not at.relation.skill and not moved.intersection(at.things):
                self._cramped.add(at.symbol)  # nothing is put aside where room will be wanted
                others = self.scene.without(moved - {thing.id})
                ways = () if self._arm.held == thing.id else islice(self._grasps(others, thing.id), CHOICES)
                holds = [placements.Hold.of(thing, g.pose, top_down_yaw(g.pose)) for g in ways]
                holds = holds or [self._hold] * (self._arm.held == thing.id)
                with self._arm.supposing(*moved, *{thing.id} - {self._arm.held}):
                    full = holds and not any(self._spots_at(at, others, thing.id, hold) for hold in holds)
                    if full and (why := self._taken(at, thing.id, holds[0])):
                        return why
            moved.add(step.args[0])
        return ""

    def _spots_at(self, at: Place, seen: Scene, thing: str, hold: placements.Hold) -> list[Pose]:
        found = placements.at_place(at, seen, self._world, thing, hold)
        with touching(self._arm, *self._supports()):
            return self._possible(map(hold.tool_at, found))

    def _there(self, at: Place, thing: SceneObject) -> SceneObject | None:
        """Return a thing as it would stand at a place; None where that is no place for it."""
        for x, y, yaw in at.spots(thing, self.scene.objects, self._world):
            pose = geometry.Pose.from_xyz_yaw(x, y, thing.pose.position[2], yaw or 0.0)
            return thing.model_copy(update={"id": at.symbol, "pose": pose})
        return None

    def _taken(self, at: Place, name: str, hold: placements.Hold) -> str:
        """Say why a thing cannot be put at a place; remember what is in the way for the next survey."""
        if (thing := self.scene.get(name)) is None:
            return ""
        if (there := self._there(at, thing)) is None:
            return f"no place {at.words}: things lie {self._world.work_area}"
        self._hinder("obstructs", there, lambda seen: bool(self._spots_at(at, seen, name, hold)))
        if not self._hindered[there.id][1]:  # what it is related to may stand on a plate, which stays
            others = [o for o in map(self.scene.get, at.things) if o and self._is_raised(o)]
            self._hindered[there.id] = "obstructs", others
        return placements.barred(
            at, there, [o for o in self.scene.objects if o.id not in (name, TABLE_SYMBOL)]
        )

    @offered
    def _do_spots_across(self, a: str, b: str) -> list[Pose]:
        """The same, on two things side by side."""
        left, right, held = self._thing(a), self._thing(b), self._held()
        beside = [o.id for o in placements.beside_on(left, right, self.scene, held)]
        spots = placements.across(left, right, self.scene, held, self._hold)
        return self._placing_json(spots, a, b, *beside)

    _do_spots_at.__doc__ = f"The same, at a place of the plan, or {_PLACES}."

    def _grasps(self, seen: Scene, name: str) -> Iterator[ToolGrasp]:
        with touching(self._arm, name):
            yield from grasps(seen, name, self._arm, self._tip_reach)

    def _hinder(
        self, predicate: str, thing: SceneObject, possible: Possible, row: Sequence[SceneObject] = ()
    ) -> None:
        """Remember by what a thing, or what is to stand at a place, is hindered, for the next survey."""
        self._cramped.add(thing.id)
        self._hindered[thing.id] = predicate, in_the_way(self.scene, thing, self._arm, possible, row)

    def _is_raised(self, thing: SceneObject) -> bool:
        """Return whether a thing stands higher than on the table or a mat."""
        return thing.bottom > self._table.top + LOW

    def _can_put(self, pose: geometry.Pose, gap: float | None = None) -> bool:
        return self._arm.reachable(pose, gap) and self._arm.reachable(raised(pose, APPROACH), gap)

    def _on_area(self, pose: geometry.Pose) -> bool:
        return self._world.table.contains(*pose.position[:2], margin=0.03)

    def _placing_json(self, poses: Iterable[geometry.Pose], *touch: str) -> list[Pose]:
        with touching(self._arm, *touch, *self._supports()):
            return self._possible(map(self._hold.tool_at, poses))

    def _possible(self, poses: Iterable[geometry.Pose], gap: float | None = None) -> list[Pose]:
        fine = (pose for pose in poses if self._can_put(pose, gap))
        return [pose_value(p) for p in islice(fine, CHOICES)]
