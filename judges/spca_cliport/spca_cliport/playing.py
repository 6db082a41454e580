"""Plays an episode with the stack's eyes, words and plans: look, plan, one pick and place, look again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, permutations
from typing import Literal

import cv2
import numpy as np

from spca_cliport.episode import PickPlaceEpisode, judged_world
from spca_cliport.seeing import COLOURS, SHADES, false_colour, filled, fused, without
from spca_core.camera import RgbdFrame
from spca_core.geometry import Array, Pose, about_z, top_down, top_down_yaw
from spca_core.kinds import APART, OFF_WALLS, SOLIDS, WALL, is_round, packed
from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.plan import PlanRequest, Step, Task
from spca_core.ports.stages import Planner
from spca_core.scene import Fact, Observation, Scene, SceneObject
from spca_sense.catalogue import Catalogue, Colour
from spca_sense.outline import footprint, gap
from spca_sense.relations import relate
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
THIN = 0.002
"""Metres that the walls of CLIPort's box are thick, which are thinner than a tray's."""
SPREAD = (0.025, 0.02, 0.015, 0.012, 0.01, 0.008)
"""Free space between things in the box, the widest first with which all that is to come has room. Metres."""
BESIDE = 0.015
"""Blocks on the fields of CLIPort's stand are side by side: near enough for a third across both. Metres."""
End = Literal["acted", "stopped", "refused", "not_understood"]
"""All actions done, or CLIPort content; nothing more to do; no plan on what is seen; none for the words."""
_PLACES = ("place_on", "stack_on", "place_on_table", "place_across")


def play(episode: PickPlaceEpisode, planner: Planner) -> tuple[End, str, str]:
    """Act as long as there are actions left and something is to be done.

    Returns how that ended, the sentence at which it did, and why.
    """
    tracker, box, shades = None, None, False
    while (asked := episode.instruction()).left and not asked.done:
        rings, shades = " ring " in asked.text, shades or any(phrase in asked.text for phrase in SHADED)
        frame = fused(episode.look(), judged_world(), shades)
        seen = filled(frame) if rings else frame
        if tracker is None:
            first = _tracker().update(seen)
            tracker, box = _tracker(first), next(iter(first.of_kind("tray")), None)
        scene = tracker.update(without(seen, box) if box else seen)
        scene = _rings(scene) if rings else _boxed(scene, box) if box else scene
        real = _with_neighbours(scene) if shades else scene
        scene = real.model_copy(update={"objects": tuple(map(_sucked, real.objects))})
        text = _in_our_words(asked.text, scene)
        task = Task(group="judge", id="cliport", title=text, description=text)
        request = PlanRequest(attempt="1", task=task, observation=Observation.of(scene), skills=())
        result = planner.plan(request)
        if result.plan is None:
            unread: End = "not_understood" if result.status == "not_understood" else "refused"
            return unread, asked.text, result.message or result.status
        if not result.plan.steps:
            return "stopped", asked.text, "nothing seems left to be done"
        poses = poses_of(result.plan.steps, real, frame)
        if isinstance(poses, str):
            return "stopped", asked.text, poses
        episode.pick_and_place(*poses)
    return "acted", asked.text, "all is done" if asked.done else "no action is left"


def _sucked(thing: SceneObject) -> SceneObject:
    """The thing as the planner is told it: suction needs no width, and the box has room for all of them."""
    length, width, height = thing.size
    narrow, size = min(width, SUCKED), {"tray": (2 * length, 2 * width, height)}
    size |= {"cuboid": (length, narrow, height), "cylinder": (narrow, narrow, height)}
    return thing.model_copy(update={"size": size.get(thing.kind, thing.size)})


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


def poses_of(steps: Sequence[Step], scene: Scene, frame: RgbdFrame) -> tuple[Pose, Pose] | str:
    """Return the pick pose and the place pose in the robot's base frame, or why that is not possible."""
    names = [step.action for step in steps[:2]]
    if len(names) != 2 or names[0] != "pick_up" or names[1] not in _PLACES:
        return f"{' and '.join(names)} is no pick and place"
    pick, place, *after = steps
    things = {thing.id: thing for thing in scene.objects}
    thing, rest = things[pick.args[0]], [things[s.args[0]] for s in after if s.args[1:] == place.args[1:]]
    under = [things[name] for name in place.args[1:]]
    tool = top_down(*thing.pose.position[:2], thing.top, thing.pose.yaw)
    spot = next(iter(_spots(thing.id, under, scene, Hold.of(thing, tool, thing.pose.yaw), rest)), None)
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


def _boxed(scene: Scene, box: SceneObject) -> Scene:
    """The scene with the box, as roomy as it is, and what is over it in it; what leans can be taken, too."""
    under = {f.args[0]: f.args[1] for f in scene.relations if f.predicate == "on"}
    outline, facts = footprint(box).astype(np.float32), [f for f in scene.relations if f.predicate != "on"]
    for name, at in ((o.id, o.pose.position[:2]) for o in scene.of_kind(*SOLIDS)):
        below = under.get(name, TABLE_SYMBOL)
        inside = below == TABLE_SYMBOL and cv2.pointPolygonTest(outline, at, False) > 0
        facts.append(Fact(predicate="on", args=(name, box.id if inside else below)))
    wide = np.add(box.size, (2 * (WALL - THIN), 2 * (WALL - THIN), 0.0))
    box = box.model_copy(update={"size": tuple(wide.tolist())})
    return scene.model_copy(update={"objects": (*scene.objects, box), "relations": tuple(facts)})


def _rings(scene: Scene) -> Scene:
    """The scene in which the stand's fields are mats, and what is round is a cylinder."""
    objects = []
    for thing in scene.objects:
        kind = "mat" if thing.colour in SHADES else "cylinder" if is_round(thing.kind) else thing.kind
        objects.append(thing.model_copy(update={"id": thing.id.replace(thing.kind, kind), "kind": kind}))
    relations, _ = relate(objects, None, judged_world().table.top)
    return scene.model_copy(update={"objects": tuple(objects), "relations": tuple(relations)})


def _with_neighbours(scene: Scene) -> Scene:
    """The scene in which things of one level are side by side up to `BESIDE`."""
    pairs = (
        Fact(predicate="next_to", args=(a.id, b.id))
        for a, b in permutations(scene.of_kind(*SOLIDS), 2)
        if abs(a.top - b.top) < EVEN and gap(footprint(a), footprint(b)) < BESIDE
    )
    return scene.model_copy(update={"relations": tuple(dict.fromkeys((*scene.relations, *pairs)))})


def _spots(
    held: str, under: Sequence[SceneObject], scene: Scene, hold: Hold, rest: Sequence[SceneObject]
) -> Iterable[Pose]:
    if len(under) == 2:
        return placements.across(under[0], under[1], scene, held, hold)
    if under:
        packing = _packed(held, under[0], scene, hold, rest) if under[0].kind == "tray" else ()
        return chain(packing, placements.on_top(under[0], scene, held, hold, tip_reach=0.0))
    return placements.on_table(scene, judged_world().table, judged_world().work_area, held, hold)


def _packed(
    held: str, box: SceneObject, scene: Scene, hold: Hold, rest: Sequence[SceneObject]
) -> Iterator[Pose]:
    """Yield the tool pose in a box, as far from others as the rest has room, too; or most of it."""
    (x, y, _), yaw, turn = box.pose.position, box.pose.yaw, about_z(box.pose.yaw)[:2, :2]
    inner = np.subtract(box.size[:2], 2 * WALL + OFF_WALLS)
    inside = (o for o in scene.of_kind(*SOLIDS) if o.id != held and scene.holds("on", o.id, box.id))
    own = [(footprint(o) - (x, y)) @ turn + inner / 2 for o in inside]
    sizes = [(hold.along, hold.across), *sorted(o.size[:2] for o in rest)]
    ways = [*((len(sizes), apart) for apart in SPREAD), *((n, APART) for n in range(len(sizes), 0, -1))]
    for count, apart in ways:
        taken = [(*o.min(axis=0), *(o.max(axis=0) + apart)) for o in own]
        room = inner[0] + apart, inner[1] + apart
        if places := packed(room, [(a + apart, b + apart) for a, b in sizes[:count]], taken):
            u, v, turned = places[0]
            px, py = (turn @ ((u, v) - inner / 2 - apart / 2) + (x, y)).tolist()
            for way in hold.least_turned(*(yaw + turned * np.pi / 2 + k * np.pi for k in (0, 1))):
                yield top_down(px, py, box.deck + hold.height + placements.DROP, way)
            return


def _tracker(first: Scene | None = None) -> SceneTracker:
    """A tracker that knows the colours, and how large blocks are from a `first` look at each alone."""
    palette = tuple(Colour(name=name, rgb=false_colour(name)) for name in sorted((*COLOURS, *SHADES)))
    known: dict[str, object] = {"palette": palette}
    if first is not None:
        blocks, edges = first.of_kind("cuboid"), [cube.size[0] for cube in first.of_kind("cube")]
        known["others"] = tuple((b.colour, b.kind, b.size) for b in blocks if b.colour in COLOURS)
        known |= {"cubes": True, "cube_edge": float(np.median(edges))} if edges else {}
    return SceneTracker(ShapeDetector(Catalogue.from_world(judged_world()).model_copy(update=known)))
