"""How exactly and how fast Sense finds what lies on random tables, against the simulator's ground truth.

Run it from the checkout:  .venv/bin/python benchmarks/sense_accuracy.py --tables 100 --preset nominal
With things of every kind, whose sizes Sense does not know:  … --world crowd
With up to twelve solids and plates of any size from 6 to 150 mm, flush with each other and on each other:
                                                             … --world random
To try a change, list what became different from another revision's Sense, which looks at the same frames:
                                                             … --world random --against HEAD --pictures /tmp/p

Presets are those of campaigns: `nominal` (random tables, default noise), `noisy` (more noise, light changes,
small calibration errors) and `hard` (the same, larger, on cluttered tables). Each frame is taken with the arm
out of view and judged alone, without memory. A thing that no frame could show (a cube under another one, or
less than 1 cm² of an upper face) is not counted as missed.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from functools import cache, partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.geometry import Array, Pose, wrap_angle
from spca_core.kinds import UNKNOWN
from spca_core.layout import Layout, cluttered_layout, random_layout
from spca_core.names import symbol_of
from spca_core.world import World, WorldObject, load_world
from spca_sense.catalogue import PALETTE, Catalogue
from spca_sense.detection import Detection, Look
from spca_sense.outline import outline_of, polygon_area, shared_area
from spca_sense.search import ShapeDetector
from spca_sense.view import HeightView
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.variation import PRESETS, draw_variation

_FAR = 0.02  # metres beyond which a detection is not the thing it is compared with
_LEVEL = 0.004  # metres by which pixels of an upper face are off
_WITHIN = 0.9  # share of a thing's outline within something higher, of which it is taken for a part
_IN_SIGHT = 1e-4  # square metres of an upper face; what shows less is hidden
_BELOW = 0.008  # metres below an upper face at which something may end that covers it
WRONG = ("unseen", "bare", "split", "merged", "mistaken")


@dataclass
class Errors:
    """What was measured: millimetres, degrees, seconds; and which tables went wrong."""

    position: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    size: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """The largest error of an edge or a diameter."""
    yaw: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)


def compare(errors: Errors, world: World, layout: Layout, found: tuple[Detection, ...], table: int) -> None:
    """Match detections to the true objects and note the errors."""
    unused = [d for d in found if d.seen]
    for model, pose in layout.poses.items():
        kind, colour = symbol_of(model).split("_")[:2]
        same = [d for d in unused if (d.kind, d.colour) == (kind, colour)]
        best = min(
            same, key=lambda d: np.linalg.norm(np.subtract(d.pose.position, pose.position)), default=None
        )
        error = (
            _FAR if best is None else float(np.linalg.norm(np.subtract(best.pose.position, pose.position)))
        )
        if best is None or error >= _FAR:
            if not _covered(world, layout, model):
                errors.missed.append(f"table {table}: {model}")
            continue
        unused.remove(best)
        errors.position[kind].append(error * 1000)
        true = world.object(model)
        swapped = (best.size[1], best.size[0], best.size[2])
        errors.size[kind].append(
            1000 * min(float(np.abs(np.subtract(s, true.size)).max()) for s in (best.size, swapped))
        )
        if kind in ("cube", "cuboid"):  # which of its axes is called the first makes no difference
            errors.yaw.append(abs(np.degrees(wrap_angle(best.pose.yaw - pose.yaw, np.pi / 2))))
    errors.invented += [f"table {table}: {d.colour} {d.kind}" for d in unused]


def _covered(world: World, layout: Layout, model: str) -> bool:
    """Return whether another cube stands on it."""
    x, y, z = layout.poses[model].position
    edge = world.object(model).size[0]
    return any(
        p.position[2] > z + edge / 2 and np.hypot(p.position[0] - x, p.position[1] - y) < edge / 2
        for other, p in layout.poses.items()
        if other != model and world.object(other).kind == "cube" == world.object(model).kind
    )


@dataclass
class Regions:
    """What of the things on random tables was taken for something else."""

    things: int = 0
    """Of which anything is in sight."""
    blocks: int = 0
    """How many of the things are cubes or cuboids."""
    unseen: list[str] = field(default_factory=list)
    """Nothing was seen there, not even an obstacle."""
    split: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    mistaken: list[str] = field(default_factory=list)
    """Seen as a thing of another kind, as an obstacle, or as a part of one."""
    bare: list[str] = field(default_factory=list)
    """More of it than what counts as in sight is outside of the hulls of all that was seen."""

    def wrong(self) -> set[tuple[str, str]]:
        """All that went wrong: how, and with what."""
        return {(name, words) for name in WRONG for words in getattr(self, name)}


def random_things(world: World, seed: int) -> tuple[World, Layout]:
    """A table of things of any size; a third flush with another, a sixth on top of another."""
    rng = np.random.default_rng(seed)
    objects: list[WorldObject] = []
    poses: dict[str, Pose] = {}
    outlines: list[Array] = []
    tops: dict[str, float] = {}
    for k in range(int(rng.integers(4, 13))):
        kind = str(rng.choice(["cube", "cuboid", "cuboid", "cuboid", "cylinder", "plate"]))
        a, b, c = (float(v) for v in np.exp(rng.uniform(np.log(0.02), np.log(0.15), 3)))
        c = float(np.exp(rng.uniform(np.log(0.006), np.log(0.10))))
        size = {"cube": (a, a, a), "cuboid": (a, b, c), "cylinder": (a, a, c), "plate": (a, a, 0.008)}[kind]
        colour = PALETTE[int(rng.integers(len(PALETTE)))]
        model = f"{'box' if kind == 'cube' else kind}_{colour.name}" + f"_{k}"
        for _ in range(40):
            how, yaw, bottom = rng.random(), float(rng.uniform(-np.pi, np.pi)), 0.0
            other = objects[int(rng.integers(len(objects)))] if objects else None
            x, y = (float(rng.uniform(*side)) for side in (world.work_area.x, world.work_area.y))
            if other is not None and how < 0.33:
                beside, yaw = poses[other.model], poses[other.model].yaw
                reach = (other.size[0] + size[0]) / 2 + 0.0003
                x, y = beside.position[0] + reach * np.cos(yaw), beside.position[1] + reach * np.sin(yaw)
            on = other is not None and how > 0.83 and max(size[:2]) < 0.8 * min(other.size[:2])
            if on and other is not None and tops[other.model] + size[2] < 0.15:
                bottom, (x, y, _) = tops[other.model], poses[other.model].position
            pose = Pose.from_xyz_yaw(x, y, world.table.top + bottom + size[2] / 2, yaw)
            own = outline_of(kind, pose, size)
            inside = all(0.25 < px < 0.72 and abs(py) < 0.38 for px, py in own)
            if inside and (bottom > 0 or all(shared_area(own, o) == 0 for o in outlines)):
                break
        else:
            continue
        if bottom > 0 and other is not None:
            tops.pop(other.model)
            tops[other.model] = np.inf  # carries one already
        objects.append(
            WorldObject(
                model=model, kind=kind, colour=colour.rgb, size=size, mass=0.1, friction=1.0, position=(x, y)
            )
        )
        poses[model], tops[model] = pose, bottom + size[2]
        outlines += [own]
    return world.model_copy(update={"objects": tuple(objects)}), Layout(poses=poses)


def _shown(view: HeightView, outline: Array, top: float, hulls: Iterable[Array] = ()) -> float:
    """How much the camera shows of an upper face at a height above the table outside of hulls, m²."""
    face = view.patch(np.column_stack((outline, np.full(len(outline), top))))
    shown = face.mask & (np.abs(view.heights[face.window] - top) < _LEVEL)
    for hull in hulls:
        shown &= ~view.patch(np.column_stack((hull, np.full(len(hull), top))), grow=2).within(face.window)
    thick = cv2.morphologyEx(shown.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    return float(np.count_nonzero(thick if hulls else shown) * view.metres_per_pixel(top) ** 2)


def compare_regions(regions: Regions, world: World, layout: Layout, look: Look, t: int) -> None:
    """Count what was not seen, seen as several, or together with another."""
    seen = [(d, outline_of(d.kind, d.pose, d.size)) for d in look.detections if d.seen]
    near: dict[str, list[tuple[Detection, float]]] = {}
    for thing in world.objects:
        pose = layout.poses[thing.model]
        own, top = outline_of(thing.kind, pose, thing.size), pose.position[2] + thing.size[2] / 2
        colour = symbol_of(thing.model).split("_")[1]
        near[thing.model] = [
            (d, shared_area(own, o) / polygon_area(own))
            for d, o in seen
            if abs(d.top - top) < 0.008 and d.colour in (colour, UNKNOWN)
        ]
    tops = {o.model: layout.poses[o.model].position[2] + o.size[2] / 2 for o in world.objects}
    whole: dict[int, list[str]] = defaultdict(list)
    for thing in world.objects:
        words = f"table {t}: {thing.model} " + "×".join(f"{1000 * s:.0f}" for s in thing.size)
        own = outline_of(thing.kind, layout.poses[thing.model], thing.size)
        top = tops[thing.model] - world.table.top
        if _shown(look.view, own, top) < _IN_SIGHT:
            continue
        hulls = [o for d, o in seen if d.top > tops[thing.model] - _BELOW]
        if _shown(look.view, own, top, hulls) > _IN_SIGHT:
            regions.bare.append(words)
        mine = [(d, share) for d, share in near[thing.model] if share > 0.15]
        # What lies at another height is another thing's, where that one is seen there.
        others = [
            d
            for d, _ in mine
            if any(
                abs(d.top - tops[other]) + 0.002 < abs(d.top - tops[thing.model])
                for other, its in near.items()
                if any(d is e and share > 0.5 for e, share in its)
            )
        ]
        own_ones = [(d, share) for d, share in mine if all(d is not e for e in others)] or mine[:1]
        regions.things += 1
        regions.blocks += thing.kind in ("cube", "cuboid")
        if not mine:
            within = any(
                d.top > tops[thing.model] and shared_area(own, o) > _WITHIN * polygon_area(own)
                for d, o in seen
            )
            within |= any(d.kind == UNKNOWN and shared_area(own, o) > 0.15 * polygon_area(o) for d, o in seen)
            (regions.mistaken if within else regions.unseen).append(words)
        elif len(own_ones) > 1:
            regions.split.append(words)
        elif own_ones[0][0].kind != thing.kind and not (thing.size[2] < 0.012 and thing.kind == "cylinder"):
            regions.mistaken.append(f"{words} is seen as {own_ones[0][0].kind}")
        for d, share in own_ones:
            if share > 0.5:
                whole[id(d)].append(words)
    regions.merged += [" and ".join(names) for names in whole.values() if len(names) > 1]


def random_frame(seed: int, preset: str) -> tuple[World, Layout, RgbdFrame]:
    """A table of random things, and the picture of it."""
    world, layout = random_things(load_world("crowd"), seed)
    simulator = MujocoWorld(world, variation=draw_variation(preset, seed))
    simulator.reset(layout, seed)
    frame = simulator.capture()
    simulator.close()
    return world, layout, frame


@cache
def sense_of(revision: str) -> tuple[Any, Any]:
    """The catalogue's and the detector's class of a revision; of this tree for ""."""
    if not revision:
        return Catalogue, ShapeDetector
    root = Path(__file__).parents[1]
    archive = subprocess.check_output(["git", "-C", root, "archive", revision, "src/spca_sense/spca_sense"])
    ours = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("spca_sense")}
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        sys.path.insert(0, f"{folder}/src/spca_sense")
        from spca_sense.catalogue import Catalogue as OtherCatalogue
        from spca_sense.search import ShapeDetector as OtherDetector

        sys.path.pop(0)
    sys.modules.update(ours)
    return OtherCatalogue, OtherDetector


def look_at_random(
    seed: int, preset: str, revisions: tuple[str, ...], pictures: Path | None = None
) -> list[tuple[Regions, Errors]]:
    """What each revision's detector makes of one table of random things, in a world of its own."""
    cv2.setNumThreads(1)
    world, layout, frame = random_frame(seed, preset)
    results = []
    for revision in revisions:
        catalogue, detector = sense_of(revision)
        shapes = detector(catalogue.from_world(world))
        start = time.thread_time()
        look = shapes.detect(frame)
        regions, errors = Regions(), Errors(seconds=[time.thread_time() - start])
        compare(errors, world, layout, look.detections, seed)
        errors.missed, errors.invented = [], []
        compare_regions(regions, world, layout, look, seed)
        results.append((regions, errors))
        if pictures and results[0][0].wrong() != regions.wrong():
            draw(pictures / f"{seed}.png", look, world, layout)
    return results


def merge(into: Any, more: Any) -> None:
    """Add up counts, and join lists, of two records of the same kind."""
    for name in (f.name for f in fields(into)):
        mine, other = getattr(into, name), getattr(more, name)
        if isinstance(mine, dict):
            for key, values in other.items():
                mine[key] += values
        else:
            setattr(into, name, mine + other)


def measure_random(
    tables: int, preset: str, first: int, revisions: tuple[str, ...], pictures: Path | None
) -> Iterator[list[tuple[Regions, Errors]]]:
    """Run each revision's detector over tables of random things, two at a time."""
    look = partial(look_at_random, preset=preset, revisions=revisions, pictures=pictures)
    with ProcessPoolExecutor(2) as pool:
        yield from pool.map(look, range(first, first + tables), chunksize=4)


def measure(tables: int, preset: str, first: int, name: str = "tabletop") -> Errors:
    """Run the detector over `tables` tables."""
    world = load_world(name)
    detector = ShapeDetector(Catalogue.from_world(world))
    errors = Errors()
    simulator = None
    for seed in range(first, first + tables):
        if simulator is None or preset != "nominal":
            simulator = MujocoWorld(world, variation=draw_variation(preset, seed))
        layout = (cluttered_layout if preset == "hard" else random_layout)(world, seed)
        simulator.reset(layout, seed)
        frame = simulator.capture()
        start = time.perf_counter()
        look = detector.detect(frame)
        errors.seconds.append(time.perf_counter() - start)
        compare(errors, world, layout, look.detections, seed)
        if preset != "nominal":
            simulator.close()
    return errors


def _line(name: str, unit: str, values: list[float]) -> str:
    if not values:
        return f"{name:<18} none"
    return (
        f"{name:<18} median {np.median(values):6.2f} {unit}   95 % {np.percentile(values, 95):6.2f} {unit}"
        f"   worst {max(values):6.2f} {unit}"
    )


def draw(file: Path, look: Look, world: World, layout: Layout) -> None:
    """Write the picture of a table: the outlines of what lies there in white, of what was seen in black."""
    colour = cv2.cvtColor(look.view.frame.colour, cv2.COLOR_RGB2BGR)
    image = cv2.resize(colour, None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    true = [
        (o.kind, p := layout.poses[o.model], o.size, p.position[2] + o.size[2] / 2) for o in world.objects
    ]
    found = [(d.kind, d.pose, d.size, d.top) for d in look.detections]
    for shade, things in ((255, true), (0, found)):
        for kind, pose, size, top in things:
            outline = outline_of(kind, pose, size)
            face = np.column_stack((outline, np.full(len(outline), top - world.table.top)))
            corners = np.round((look.view.to_pixels(face) + 0.5) * 2).astype(np.int32)
            cv2.polylines(image, [corners], True, (shade,) * 3, 1)
    file.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(file), image)


def report_random(options: argparse.Namespace) -> Errors:
    """Measure on random tables, print what went wrong, and what did at another revision only."""
    revisions = ("",) if options.against is None else (options.against, "")
    totals = [(Regions(), Errors()) for _ in revisions]
    for looks in measure_random(options.tables, options.preset, options.seed, revisions, options.pictures):
        for total, look in zip(totals, looks, strict=True):
            merge(total[0], look[0])
            merge(total[1], look[1])
    (before, slower), (now, errors) = totals[0], totals[-1]
    print(f"{now.things} things, of which {now.blocks} are blocks")
    for name in WRONG:
        found, was = set(getattr(now, name)), set(getattr(before, name))
        print(f"{name:<9} {len(found):4d}" + (f", before {len(was)}" if options.against else ""))
        for words in sorted(found ^ was if options.against else found):
            print(f"  {'' if not options.against else 'now ' if words in found else 'no longer '}{words}")
    if options.against:
        print(f"time {np.sum(errors.seconds) / np.sum(slower.seconds):.3f} of that before")
    return errors


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy and speed of Sense on random tables.")
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--preset", choices=PRESETS, default="nominal")
    parser.add_argument("--seed", type=int, default=0, help="of the first table")
    parser.add_argument("--world", default="tabletop")
    parser.add_argument("--against", metavar="REVISION", help="of which to list what it does otherwise")
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of tables that became different")
    options = parser.parse_args()
    if options.world == "random":
        errors = report_random(options)
    else:
        errors = measure(options.tables, options.preset, options.seed, options.world)
    print(f"{options.tables} tables of {options.world}, preset {options.preset}")
    for kind, found in errors.position.items():
        print(_line(f"position, {kind}s", "mm", found))
    print(_line("position, all", "mm", [e for found in errors.position.values() for e in found]))
    for kind, found in errors.size.items():
        print(_line(f"size, {kind}s", "mm", found))
    print(_line("yaw", "° ", errors.yaw))
    print(_line("time a frame", "ms", [s * 1000 for s in errors.seconds]))
    print(f"missed {len(errors.missed)}, invented {len(errors.invented)}")
    for what in [f"missed   {m}" for m in errors.missed] + [f"invented {i}" for i in errors.invented]:
        print(f"  {what}")


if __name__ == "__main__":
    main()
