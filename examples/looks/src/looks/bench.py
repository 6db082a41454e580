"""The bench itself. A bench may compare with the truth; what is measured may not see it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import PageTable
from spca_benchmarks.campaigns.statistics import Rate
from spca_core.layout import random_layout
from spca_core.model import Record
from spca_core.names import symbol_of
from spca_core.world import load_world
from spca_sense.detection import make_detector
from spca_sim.mujoco_world import MujocoWorld


class LooksTrial(Record):
    """One table."""

    seed: int

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"table_{self.seed}"


class LooksResult(Record):
    """How many of the cubes were found, and how far off the worst of them is."""

    cubes: int
    found: int
    worst_mm: float


class LooksBench(Bench[LooksTrial, LooksResult]):
    """See `spca_benchmarks.campaigns.bench.Bench`; the fields are the settings."""

    name = "looks"
    result_type: ClassVar[type[Record]] = LooksResult

    detector: str = "shapes"
    tables: int = Field(5, ge=1)

    def trials(self) -> list[LooksTrial]:
        """One for each table."""
        return [LooksTrial(seed=seed) for seed in range(self.tables)]

    def run_trial(self, trial: LooksTrial, folder: Path) -> LooksResult:
        """Lay a table, photograph it, and compare what is seen with where things lie."""
        world = load_world()
        simulator = MujocoWorld(world)
        layout = random_layout(world, trial.seed)
        simulator.reset(layout, trial.seed)
        seen = make_detector(self.detector, world).detect(simulator.capture()).detections
        errors = []
        cubes = {m: pose for m, pose in layout.poses.items() if world.object(m).kind == "cube"}
        for model, pose in cubes.items():
            colour = symbol_of(model).split("_")[1]
            same = [d.pose.position for d in seen if (d.kind, d.colour) == ("cube", colour)]
            near = min((math.dist(p, pose.position) for p in same), default=math.inf)
            if near < world.object(model).size[0]:
                errors.append(near)
        return LooksResult(cubes=len(cubes), found=len(errors), worst_mm=1000 * max(errors, default=0.0))

    def success(self, result: LooksResult) -> bool:
        """Whether every cube was found."""
        return result.found == result.cubes

    def table(self, done: Sequence[Done[LooksTrial, LooksResult]]) -> PageTable:
        """One row: the rate of complete looks, and the worst error among them."""
        rate = Rate.of(self.success(d.result) for d in done)
        worst = max((d.result.worst_mm for d in done), default=0.0)
        heads = ("detector", "complete", "95 % interval", "worst mm")
        return PageTable(heads, [(self.detector, rate, rate.percent_interval, worst)])
