"""Choice by rehearsal against what geometry puts first, on tables where the two differ.

Run it from the checkout:  .venv/bin/python benchmarks/rehearsal_choice.py --tables 20 --out /tmp/choice

Each table has a tall, slender block next to the cube that another is stacked on, at a distance and in a
direction drawn by seed, where the fingers may or may not have room to open (`spca_testing.tables.slender`).
The built-in plan is carried out as it is, and with what the twin prefers. Results go to `OUT/results.jsonl`;
tables in it are passed over.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from pathlib import Path

from spca_bench.bench import Done
from spca_bench.statistics import median_of
from spca_benchmarks.rehearsal import RehearsalBench, RehearsalResult, choice
from spca_testing.tables import slender


def main() -> None:
    """Write the tables, run what is missing, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    results = options.out / "results.jsonl"
    levels = []
    for seed in range(options.tables):
        folder, draw = options.out / f"table_{seed:02}", random.Random(seed)
        folder.mkdir(parents=True, exist_ok=True)
        levels.append(
            slender(folder, draw.uniform(0.050, 0.064), draw.choice((0.0, 0.5, 1.0, -0.5)) * math.pi)
        )
    bench = RehearsalBench(levels=tuple(map(str, levels)), presets=("nominal",), faults=False)
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    found = {k["level"]: RehearsalResult.model_validate(k["result"]) for k in known}
    for trial in bench.trials():
        if trial.level not in found:
            result = found[trial.level] = bench.run_trial(trial, options.out)
            with results.open("a") as file:
                file.write(
                    json.dumps({"level": trial.level, "result": result.model_dump(mode="json")}) + "\n"
                )
            print(
                Path(trial.level).parent.name, result.solved, result.status, result.chosen or "-", flush=True
            )
    done = [Done(t, r) for t in bench.trials() if (r := found[t.level]).applies]
    for name, rate in choice(done).items():
        print(f"{name:20} {rate} solved, {rate.percent_interval}")
    rejected = [d.result for d in done if d.result.status == "rejected"]
    print(f"rejected {len(rejected)}, of these solved as they were: {sum(r.solved for r in rejected)}")
    print(f"processor time of a rehearsal without choice: {median_of(d.result.cpu for d in done)} s")


if __name__ == "__main__":
    main()
