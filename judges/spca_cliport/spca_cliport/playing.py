"""Plays an episode with the stack's eyes, words and plans: look, plan, one pick and place, look again."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import Literal

import numpy as np

from spca_cliport.episode import PickPlaceEpisode, judged_world
from spca_cliport.seeing import COLOURS, SHADES, false_colour, fused
from spca_core.geometry import Pose, top_down, top_down_yaw
from spca_core.kinds import SOLIDS
from spca_core.names import words_of
from spca_core.plan import PlanRequest, Step
from spca_core.ports.stages import Planner
from spca_core.scene import Fact, Scene, SceneObject
from spca_core.task import Task
from spca_sense.catalogue import Catalogue, Colour
from spca_sense.detector import ShapeDetector
from spca_sense.footprint import footprint, gap
from spca_sense.observation import observation_of
from spca_sense.tracker import SceneTracker
from spca_tabletop.act import placements
from spca_tabletop.act.placements import LEVEL, Hold

NAMED = {"brown box": "brown tray"}
"""What CLIPort calls otherwise than the stack does: its box is what other blocks are packed into."""
SHADED = {
    "lightest brown block": "magenta thing", "middle brown block": "turquoise thing",
    "darkest brown block": "black thing",
}  # fmt: skip
"""Its words for shades, and the name that stands for each (see `seeing.SHADES`)."""
BESIDE = 0.015
"""Blocks on the fields of CLIPort's stand are side by side: near enough for a third across both. Metres."""
End = Literal["acted", "stopped", "refused"]
"""All actions done, or CLIPort content; nothing more to do; no plan for the sentence."""
_PLACES = ("place_on", "stack_on", "place_on_table", "place_across")


def play(episode: PickPlaceEpisode, planner: Planner) -> tuple[End, str, str]:
    """Act as long as there are actions left and something is to be done.

    Returns how that ended, the sentence at which it did, and why.
    """
    tracker, shades = _tracker(), False
    while (asked := episode.instruction()).left and not asked.done:
        views = episode.look()
        if not shades and any(phrase in asked.text for phrase in SHADED):
            shades = True
            tracker = _tracker(tracker.update(fused(views, judged_world(), shades)))
        scene = tracker.update(fused(views, judged_world(), shades))
        scene = _with_neighbours(scene) if shades else scene
        text = asked.text
        for phrase, name in (NAMED | SHADED).items():
            text = text.replace(phrase, name)
        task = Task(group="judge", id="cliport", title=text, description=text)
        request = PlanRequest(attempt="1", task=task, observation=observation_of(scene), skills=())
        result = planner.plan(request)
        if result.plan is None:
            return "refused", asked.text, result.message or result.status
        if not result.plan.steps:
            return "stopped", asked.text, "nothing seems left to be done"
        poses = poses_of(result.plan.steps[:2], scene)
        if isinstance(poses, str):
            return "stopped", asked.text, poses
        episode.pick_and_place(*poses)
    return "acted", asked.text, "all is done" if asked.done else "no action is left"


def poses_of(steps: Iterable[Step], scene: Scene) -> tuple[Pose, Pose] | str:
    """Where to pick and where to place, in the frame of the robot's base; or why that is not possible."""
    names = [step.action for step in steps]
    if len(names) != 2 or names[0] != "pick_up" or names[1] not in _PLACES:
        return f"{' and '.join(names)} is no pick and place"
    pick, place = steps
    thing = _things(scene)[pick.args[0]]
    tool = top_down(*thing.pose.position[:2], thing.top, thing.pose.yaw)
    spot = next(iter(_spots(place, scene, Hold.of(thing, tool, thing.pose.yaw))), None)
    if spot is None:
        return f"no place for {words_of(thing.id)}: {place}"
    base = judged_world().robot.base.position
    turn = top_down_yaw(spot) - thing.pose.yaw
    (px, py, pz), (x, y, z) = (np.subtract(pose.position, base).tolist() for pose in (tool, spot))
    return Pose.from_xyz_yaw(px, py, pz), Pose.from_xyz_yaw(x, y, z, turn)


def _with_neighbours(scene: Scene) -> Scene:
    """The scene in which things of one level are side by side up to `BESIDE`."""
    pairs = (
        Fact(predicate="next_to", args=(a.id, b.id))
        for a, b in permutations(scene.of_kind(*SOLIDS), 2)
        if abs(a.top - b.top) < LEVEL and gap(footprint(a), footprint(b)) < BESIDE
    )
    relations = dict.fromkeys((*scene.relations, *pairs))
    return scene.model_copy(update={"relations": tuple(relations)})


def _spots(step: Step, scene: Scene, hold: Hold) -> Iterable[Pose]:
    held, *under = step.args
    if len(under) == 2:
        one, other = (_things(scene)[name] for name in under)
        return placements.across(one, other, scene, held, hold)
    if under:
        return placements.on_top(_things(scene)[under[0]], scene, held, hold, tip_reach=0.0)
    return placements.on_table(scene, judged_world().table, judged_world().work_area, held, hold)


def _things(scene: Scene) -> dict[str, SceneObject]:
    return {thing.id: thing for thing in scene.objects}


def _tracker(first: Scene | None = None) -> SceneTracker:
    """A tracker that knows the colours, and how large cubes are from a `first` look at each alone."""
    palette = tuple(Colour(name=name, rgb=false_colour(name)) for name in sorted((*COLOURS, *SHADES)))
    known: dict[str, object] = {"palette": palette}
    if first is not None and (edges := [cube.size[0] for cube in first.of_kind("cube")]):
        known |= {"cubes": True, "cube_edge": float(np.median(edges))}
    return SceneTracker(ShapeDetector(Catalogue.from_world(judged_world()).model_copy(update=known)))
