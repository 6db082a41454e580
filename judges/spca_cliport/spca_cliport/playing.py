"""Plays an episode with the stack's eyes, words and plans: look, plan, one pick and place, look again."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import Literal

import cv2
import numpy as np

from spca_cliport.episode import PickPlaceEpisode, judged_world
from spca_cliport.seeing import COLOURS, SHADES, false_colour, filled, fused
from spca_core.camera import RgbdFrame
from spca_core.geometry import Array, Pose, top_down, top_down_yaw
from spca_core.kinds import SOLIDS, is_round
from spca_core.names import words_of
from spca_core.plan import PlanRequest, Step, Task
from spca_core.ports.stages import Planner
from spca_core.scene import Fact, Observation, Scene, SceneObject
from spca_sense.catalogue import Catalogue, Colour
from spca_sense.outline import footprint, gap
from spca_sense.search import ShapeDetector
from spca_sense.tracker import SceneTracker
from spca_tabletop.act import placements
from spca_tabletop.act.placements import EVEN, Hold

NAMED = {"brown box": "brown tray", " ring ": " cylinder "}
"""What CLIPort calls otherwise than the stack does: its box is what other blocks are packed into."""
SHADED = {
    "lightest brown block": "magenta thing", "middle brown block": "turquoise thing",
    "darkest brown block": "black thing", "to the lighter brown side": "onto the magenta thing",
    "to the middle of the stand": "onto the turquoise thing",
    "to the darker brown side": "onto the black thing",
}  # fmt: skip
"""Its words for shades, and the name that stands for each (see `seeing.SHADES`)."""
SUCKED = 0.07
"""Width in metres at which rings are held: suction needs none, and the stack's fingers open to 0.076 m."""
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
            tracker = _tracker(_tracker().update(fused(views, judged_world(), shades)))
        frame = fused(views, judged_world(), shades)
        scene = _rings(tracker.update(filled(frame))) if " ring " in asked.text else tracker.update(frame)
        scene = _with_neighbours(scene) if shades else scene
        real, scene = scene, scene.model_copy(update={"objects": tuple(map(_sucked, scene.objects))})
        text = _in_our_words(asked.text, scene)
        task = Task(group="judge", id="cliport", title=text, description=text)
        request = PlanRequest(attempt="1", task=task, observation=Observation.of(scene), skills=())
        result = planner.plan(request)
        if result.plan is None:
            return "refused", asked.text, result.message or result.status
        if not result.plan.steps:
            return "stopped", asked.text, "nothing seems left to be done"
        poses = poses_of(result.plan.steps[:2], real, frame)
        if isinstance(poses, str):
            return "stopped", asked.text, poses
        episode.pick_and_place(*poses)
    return "acted", asked.text, "all is done" if asked.done else "no action is left"


def _sucked(thing: SceneObject) -> SceneObject:
    """The thing as the stack's fingers would take it: suction needs no width."""
    length, width, height = thing.size
    size = (length, min(width, SUCKED), height)
    return thing.model_copy(update={"size": size}) if thing.kind == "cuboid" else thing


def _in_our_words(text: str, scene: Scene) -> str:
    """The sentence in the stack's words; "onto" a field is onto what stands there, if something does.

    Of the colours that are to be packed, those that no block has are left out.
    """
    if text.startswith("pack all the "):
        there = {thing.colour for thing in scene.of_kind(*SOLIDS)}
        for colour in [c for c in COLOURS if c not in there]:
            text = text.replace(f" {colour} and ", " ").replace(f" and {colour} blocks", " blocks")
    for phrase, name in (NAMED | SHADED).items():
        text = text.replace(phrase, name)
    if "onto the " in text:
        place = text.partition("onto the ")[2]
        field = next((thing for thing in scene.objects if thing.colour == place.split()[0]), None)
        while field is not None:
            text = text.replace(place, words_of(field.id))
            place = words_of(field.id)
            field = next((t for t in scene.of_kind(*SOLIDS) if scene.holds("on", t.id, field.id)), None)
    return text


def poses_of(steps: Iterable[Step], scene: Scene, frame: RgbdFrame) -> tuple[Pose, Pose] | str:
    """Return the pick pose and the place pose in the robot's base frame, or why that is not possible."""
    names = [step.action for step in steps]
    if len(names) != 2 or names[0] != "pick_up" or names[1] not in _PLACES:
        return f"{' and '.join(names)} is no pick and place"
    pick, place = steps
    thing = _things(scene)[pick.args[0]]
    tool = top_down(*thing.pose.position[:2], thing.top, thing.pose.yaw)
    spot = next(iter(_spots(place, scene, Hold.of(thing, tool, thing.pose.yaw))), None)
    if spot is None:
        return f"no place for {words_of(thing.id)}: {place}"
    base, off = judged_world().robot.base.position, np.zeros(3)
    turn = top_down_yaw(spot) - thing.pose.yaw
    if is_round(thing.kind):  # it may have a hole in the middle
        off, turn = _body(thing, frame) - tool.position, 0.0
    (px, py, pz), (x, y, z) = ((pose.position + off - base).tolist() for pose in (tool, spot))
    return Pose.from_xyz_yaw(px, py, pz), Pose.from_xyz_yaw(x, y, z, turn)


def _body(thing: SceneObject, frame: RgbdFrame) -> Array:
    """The middle of the widest part that is seen in a thing's colour, at the height of its top."""
    paint = np.multiply(false_colour(thing.colour), 255).astype(np.uint8)
    at, (x, y, _) = frame.points(), thing.pose.position
    own = (frame.colour == paint).all(axis=2) & (np.hypot(at[..., 0] - x, at[..., 1] - y) < thing.size[0] / 2)
    inside = cv2.distanceTransform(own.astype(np.uint8), cv2.DIST_L2, 5)
    found: Array = at[np.unravel_index(inside.argmax(), inside.shape)]
    return np.array([*found[:2], thing.top])


def _rings(scene: Scene) -> Scene:
    """The scene in which the stand's fields are mats, and what is round is a cylinder."""
    objects, names = [], {}
    for thing in scene.objects:
        kind = "mat" if thing.colour in SHADES else "cylinder" if is_round(thing.kind) else thing.kind
        names[thing.id] = thing.id.replace(thing.kind, kind)
        width = min(thing.size[0], SUCKED) if kind == "cylinder" else thing.size[0]
        size = (width, width if kind == "cylinder" else thing.size[1], thing.size[2])
        objects.append(thing.model_copy(update={"id": names[thing.id], "kind": kind, "size": size}))
    relations = [
        Fact(predicate=f.predicate, args=tuple(names.get(a, a) for a in f.args)) for f in scene.relations
    ]
    return scene.model_copy(update={"objects": tuple(objects), "relations": tuple(relations)})


def _with_neighbours(scene: Scene) -> Scene:
    """The scene in which things of one level are side by side up to `BESIDE`."""
    pairs = (
        Fact(predicate="next_to", args=(a.id, b.id))
        for a, b in permutations(scene.of_kind(*SOLIDS), 2)
        if abs(a.top - b.top) < EVEN and gap(footprint(a), footprint(b)) < BESIDE
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
