"""How fast runs, stages and physics are, in turns with another revision.

    .venv/bin/python benchmarks/speed.py --against HEAD~20
    .venv/bin/python benchmarks/speed.py --only run,physics --rounds 11
    .venv/bin/python benchmarks/measurements.py script speed Stages speed.py --against HEAD~20

The other revision is checked out beside this one for as long as it takes, and sets itself up; a folder in
which one stands already is taken as it is. Every probe is a process of its own, this checkout's and the other
one's in turns, so that what else the machine does hits both; the first one of each does not count. Figures
are medians, ratios those of the pairs: `wall` holds on a quiet machine, `processor` (with children that have
ended) nearly on any. MotionBenchMaker is measured by `bin/spca bench mbm`, the test command by itself.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
Figures = dict[str, tuple[float, float]]
"""Seconds of wall and of processor time by what took them."""

GOALS = {
    "run stack_01 --no-video": 1.2,
    "first look to verdict": 0.5,
    "plan stage": 0.1,
    "run stack_01": 2.5,
    "run stack_01 --no-video --ros": 3.0,
    "tower of six named among twelve cubes: reading": 0.05,
    "24 things: look": 0.1,
    "24 things: plan": 0.15,
    "24 things: run": 4.0,
}
"""Seconds on a quiet machine of two cores."""
_NOTHING = math.nan, math.nan

_CLOCK = """
import json, resource, statistics, time
def clocks():
    return time.perf_counter(), time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
def timed(action, repeats):
    action()
    taken = []
    for _ in range(repeats):
        began = clocks()
        action()
        taken.append([now - then for now, then in zip(clocks(), began)])
    return [statistics.median(one) for one in zip(*taken)]
"""
_PHYSICS = """
from spca_core.layout import nominal_layout
from spca_core.world import load_world
from spca_sim.mujoco_world import MujocoWorld
world = load_world()
simulator = MujocoWorld(world)
simulator.reset(nominal_layout(world))
found = {
    "simulated second of a table at rest": timed(lambda: simulator.step(1.0), 9),
    "reset": timed(lambda: simulator.reset(nominal_layout(world)), 9),
    "snapshot": timed(simulator.snapshot, 99),
    "picture": timed(simulator.capture, 9),
}
"""
_READING = """
from spca_tabletop.language.understanding import understand
from spca_testing.observations import scene, task
colours = "red green blue yellow orange purple white black pink cyan brown grey".split()
cubes = tuple(f"cube_{colour}" for colour in colours)
seen = scene(row=cubes, depth=cubes, objects=cubes)
text = f"Build a tower of six cubes, from bottom to top: {', '.join(colours[:6])}."
found = {"tower of six named among twelve cubes: reading": timed(lambda: understand(task(text), seen), 3)}
"""
_GYM = """
import gymnasium, os
import spca_extras.gym
NAME, STEPS, cores = "spca/Tabletop-stack_01-v1", 300, os.cpu_count()
def stepped(count):
    tables = gymnasium.make_vec(NAME, count, observe="state", preset="shuffled")
    tables.reset(seed=0)
    tables.action_space.seed(0)
    for _ in range(STEPS):
        tables.step(tables.action_space.sample())
    tables.close()
table = gymnasium.make(NAME, observe="state", preset="shuffled").unwrapped
seeds = iter(range(99))
found = {"gym: reset": timed(lambda: table.reset(seed=next(seeds)), 19)}
for count in (1, cores, 4 * cores):
    began = clocks()
    stepped(count)
    wall, spent = ((now - then) / STEPS / count for now, then in zip(clocks(), began))
    found[f"gym: a step of {count} tables at once"] = wall, spent
    found[f"gym: processor time of a step of {count}"] = spent, spent
"""
_GROWTH = """
from itertools import product
from pathlib import Path
from tempfile import mkdtemp
import spca, yaml
from spca_core.layout import Layout
from spca_core.geometry import Pose
from spca_core.plan import PlanRequest
from spca_core.world import load_world
from spca_planner.planner import DraftingPlanner
from spca_planner.trusted import TrustedDomains
from spca_sense.catalogue import PALETTE, Catalogue
from spca_sense.search import ShapeDetector
from spca_sim.mujoco_world import MujocoWorld
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.observations import scene, task
base, found, first = load_world(), {}, [colour.name for colour in PALETTE[:2]]
cube = next(thing for thing in base.objects if thing.kind == "cube")
places = [(0.30 + 0.08 * i, 0.08 * j - 0.28) for i, j in product(range(6), range(8))]
colours = [*((colour, "") for colour in PALETTE), *((c, f"_{k}") for k in range(2, 9) for c in PALETTE[2:])]
text, folder = f"Put the {first[0]} cube on the {first[1]} cube.", Path(mkdtemp())
level = {
    "task_group": "growth", "task_id": "01", "title": "Growth", "description": text, "difficulty": "easy",
    "time_limit_s": 180, "success": {"states": [{"thing": f"box_{first[0]}", "rests_on": f"box_{first[1]}"}]},
}
planner = DraftingPlanner(
    "tabletop", BuiltinProposer(), TrustedDomains(folder / "domains"), TabletopVocabulary()
)
for count in (3, 12, 24, 48):
    things, poses = [], {}
    for (x, y), (colour, number) in zip(places[:count], colours):
        name = f"box_{colour.name}{number}"
        things.append(cube.model_copy(update={"model": name, "colour": colour.rgb, "position": (x, y)}))
        poses[name] = Pose.from_xyz_yaw(x, y, base.table.top + cube.size[2] / 2)
    world = base.model_copy(update={"objects": tuple(things)})
    simulator = MujocoWorld(world)
    simulator.reset(Layout(poses=poses))
    found[f"{count} things: simulated second"] = timed(lambda: simulator.step(1.0), 3)
    frame, detector = simulator.capture(), ShapeDetector(Catalogue.from_world(world))
    found[f"{count} things: look"] = timed(lambda: detector.detect(frame), 5)
    simulator.close()
    cubes = tuple(name.replace("box", "cube") for name in poses)
    seen = scene(row=cubes, depth=cubes, objects=cubes)
    asked = PlanRequest(attempt="1", task=task(text), observation=seen, skills=())
    def plan():
        assert planner.plan(asked).status == "solved"
    found[f"{count} things: plan"] = timed(plan, 5)
    described, objects = folder / "world.yaml", [thing.model_dump(mode="json") for thing in things]
    described.write_text(yaml.safe_dump({"extends": "tabletop", "name": "growth", "objects": objects}))
    wanted = folder / "level.yaml"
    wanted.write_text(yaml.safe_dump(level | {"world": str(described)}))
    def run():
        assert spca.run(str(wanted), report=False, out=mkdtemp(dir=folder)).result.success
    found[f"{count} things: run"] = timed(run, 3)
planner.close()
"""


def inside(code: str) -> Callable[[Path], Figures]:
    """A probe that takes its times itself, in a process of a checkout; `found` is what it says."""

    def probe(checkout: Path) -> Figures:
        command = [checkout / ".venv/bin/python", "-c", f"{_CLOCK}{code}\nprint(json.dumps(found))"]
        said = subprocess.run(command, cwd=checkout, stdout=subprocess.PIPE, text=True, check=True).stdout
        return {name: (wall, spent) for name, (wall, spent) in json.loads(said.splitlines()[-1]).items()}

    return probe


def run(*options: str) -> Callable[[Path], Figures]:
    """A probe that runs stack_01 from the command line."""

    def probe(checkout: Path) -> Figures:
        with tempfile.TemporaryDirectory() as folder:
            command = [checkout / "bin/spca", "run", "stack_01", *options, "--out", f"{folder}/run"]
            began, spent = time.perf_counter(), sum(os.times()[2:4])
            subprocess.run(command, cwd=checkout, capture_output=True, check=True)
            whole = time.perf_counter() - began, sum(os.times()[2:4]) - spent
            result = json.loads(Path(folder, "run", "result.json").read_text())
        found = {" ".join(("run stack_01", *options)): whole}
        if options == ("--no-video",):
            stages = result["stage_wall"]
            found["first look to verdict"] = result["wall"], math.nan
            found |= {f"{name} stage": (stages[name], math.nan) for name in ("sense", "plan", "act")}
        return found

    return probe


PROBES: dict[str, Callable[[Path], Figures]] = {
    "run": run("--no-video"),
    "video": run(),
    "ros": run("--no-video", "--ros"),
    "physics": inside(_PHYSICS),
    "reading": inside(_READING),
    "growth": inside(_GROWTH),
    "gym": inside(_GYM),
}


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A folder with that revision, set up; removed afterwards unless it was there before."""
    if Path(revision).is_dir():
        yield Path(revision).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", f"{folder}/there", revision], check=True, stdout=sys.stderr)
        try:
            subprocess.run([f"{folder}/there/bin/spca", "--version"], check=True, stdout=sys.stderr)
            yield Path(folder, "there")
        finally:
            subprocess.run([*git, "remove", "--force", f"{folder}/there"], check=True)


def in_turns(name: str, checkouts: list[Path], rounds: int) -> list[list[Figures]]:
    """What each checkout took in each round of a probe; who begins changes from round to round."""
    taken: list[list[Figures]] = [[] for _ in checkouts]
    for number in range(rounds + 1):
        print(f"{name}, round {number} of {rounds}", file=sys.stderr)
        for index in sorted(range(len(checkouts)), reverse=bool(number % 2)):
            figures = PROBES[name](checkouts[index])
            if number:
                taken[index].append(figures)
    return taken


def rows(taken: list[list[Figures]]) -> Iterator[tuple[str, ...]]:
    """Yield what took how long: the goal, the median at the other revision and here in ms, both ratios."""
    for name in taken[0][0]:
        found = [[figures.get(name, _NOTHING) for figures in one] for one in reversed(taken)]
        cells = [
            1e3 * GOALS.get(name, math.nan),
            *(1e3 * statistics.median(w for w, _ in one) for one in found),
        ]
        if len(found) > 1:
            pairs = list(zip(*found, strict=True))
            cells += [statistics.median(ours[i] / theirs[i] for theirs, ours in pairs) for i in (0, 1)]
        texts = ("–" if math.isnan(c) else f"{c:,.0f}" if c >= 100 else f"{c:.3g}" for c in cells)
        yield (name, *texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", help="a revision, or the folder of a checkout")
    parser.add_argument("--only", default=",".join(PROBES), help=f"of {', '.join(PROBES)}")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    heads = (options.against, "here", "wall", "processor") if options.against else ("here",)
    with checked_out(options.against or str(ROOT)) as other:
        checkouts = [ROOT, other] if options.against else [ROOT]
        for name in options.only.split(","):
            table = Table(title=f"{name}: {options.rounds} rounds")
            for head, width in zip(("ms, median", "goal", *heads), (46, 5, 9, 9, 9, 9), strict=False):
                table.add_column(head, min_width=width)
            for row in rows(in_turns(name, checkouts, options.rounds)):
                table.add_row(*row)
            Console().print(table)


if __name__ == "__main__":
    main()
