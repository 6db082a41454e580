"""How exactly and how fast Sense finds what lies on random tables, against the simulator's ground truth.

Run it from the checkout:  .venv/bin/python benchmarks/sense_accuracy.py --tables 100 --preset nominal
With things of every kind, whose sizes Sense does not know:  … --world crowd

Presets are those of campaigns: `nominal` (random tables, default noise), `noisy` (more noise, light changes,
small calibration errors) and `hard` (the same, larger, on cluttered tables). Each frame is taken with the arm
out of view and judged alone, without memory. A thing that no frame could show (a cube under another one) is
not counted as missed.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from spca_core.geometry import wrap_angle
from spca_core.layout import Layout, cluttered_layout, random_layout
from spca_core.names import symbol_of
from spca_core.world import World, load_world
from spca_sense.catalogue import Catalogue
from spca_sense.detection import Detection
from spca_sense.detector import ShapeDetector
from spca_sim.simulator import MujocoSimulator
from spca_sim.variation import PRESETS, draw_variation

_FAR = 0.02  # metres beyond which a detection is not the thing it is compared with


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
    """Whether another cube stands on it."""
    x, y, z = layout.poses[model].position
    edge = world.object(model).size[0]
    return any(
        p.position[2] > z + edge / 2 and np.hypot(p.position[0] - x, p.position[1] - y) < edge / 2
        for other, p in layout.poses.items()
        if other != model and world.object(other).kind == "cube" == world.object(model).kind
    )


def measure(tables: int, preset: str, first: int, name: str = "tabletop") -> Errors:
    """Run the detector over `tables` tables."""
    world = load_world(name)
    robot = world.robot.model_copy(update={"home": world.robot.out_of_view})
    away = world.model_copy(update={"robot": robot})
    detector = ShapeDetector(Catalogue.from_world(world))
    errors = Errors()
    simulator = None
    for seed in range(first, first + tables):
        if simulator is None or preset != "nominal":
            simulator = MujocoSimulator(away, variation=draw_variation(preset, seed))
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


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy and speed of Sense on random tables.")
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--preset", choices=PRESETS, default="nominal")
    parser.add_argument("--seed", type=int, default=0, help="of the first table")
    parser.add_argument("--world", default="tabletop")
    options = parser.parse_args()
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
