"""Run the whole curriculum from an empty library, with a scripted model that makes mistakes.

It shows what is learned and what that costs.

.venv/bin/python benchmarks/from_nothing.py --out runs/from_nothing      (run it again to continue)

The model is `spca_testing.models.grammar_model`: its plans are the built-in grammar's and its skills the
built-in ones, with faults put in. So this measures the loop of critics, repairs, blame and trust; not what a
language model can do.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from spca_coder.source import signatures
from spca_referee.level import list_levels, load_level
from spca_testing.models.grammar_model import GrammarModel
from spca_testing.models.model_run import run_with_model

ORDER = ("touch", "pickup", "pick_and_place", "stack")


def curriculum() -> list[str]:
    """The levels from the simplest group to the hardest, then the rest."""
    names = list_levels()
    rank = {group: i for i, group in enumerate(ORDER)}
    return sorted(names, key=lambda name: (rank.get(load_level(name).task_group, len(ORDER)), name))


def main(
    out: Annotated[Path, typer.Option(help="Folder for runs, library and results.")],
    levels: Annotated[int, typer.Option(help="Only the first so many.")] = 0,
) -> None:
    """Run the levels one after the other, in one library that is empty at first."""
    out.mkdir(parents=True, exist_ok=True)
    rows_file = out / "rows.jsonl"
    rows = [json.loads(line) for line in rows_file.read_text().splitlines()] if rows_file.is_file() else []
    done = {row["level"] for row in rows}
    model = GrammarModel()
    console = Console()
    names = curriculum()[: levels or None]
    for name in names:
        if name in done:
            continue
        began = time.monotonic()
        run = run_with_model(name, model, out)
        result = run.result
        row = {
            "level": name,
            "outcome": result.outcome.value,
            "reason": result.reason,
            "rounds": result.rounds,
            "attempts": result.attempts,
            "planner": result.planner.model_dump(),
            "coder": result.coder.model_dump(),
            "promoted": result.skills.promoted,
            "refused": result.skills.refused,
            "rejected_plans": len(run.plan_rejections()),
            "rejected_code": len(run.code_rejections()),
            "requests": len(run.requests),
            "repeated_requests": len(run.requests) - len({(s.body["model"], s.text) for s in run.requests}),
            "seconds": time.monotonic() - began,
        }
        rows.append(row)
        with rows_file.open("a") as file:
            file.write(json.dumps(row) + "\n")
        console.print(
            f"{name:<20} {row['outcome']:<8} attempts {row['attempts']} {result.reason}", highlight=False
        )
    report(rows, out, console)


def report(rows: list[dict], out: Path, console: Console) -> None:
    table = Table("group", "solved", "attempts a level", "rounds a level", "planner drafts", "coder drafts")
    groups = Counter(load_level(row["level"]).task_group for row in rows)
    for group in (*groups, "all"):
        of = [r for r in rows if group in ("all", load_level(r["level"]).task_group)]
        solved = sum(r["outcome"] == "success" for r in of)
        table.add_row(
            group,
            f"{solved} of {len(of)}",
            f"{sum(r['attempts'] for r in of) / len(of):.2f}",
            f"{sum(r['rounds'] for r in of) / len(of):.2f}",
            str(sum(sum(r["planner"].values()) for r in of)),
            str(sum(sum(r["coder"].values()) for r in of)),
        )
    console.print(table)
    library = out / "library/from_nothing/skills/tabletop/skills.py"
    skills = [s.name for s in signatures(library.read_text())] if library.is_file() else []
    console.print(f"{len(skills)} skills learned: {', '.join(skills)}", highlight=False)
    console.print(f"requests sent twice: {sum(r['repeated_requests'] for r in rows)}", highlight=False)


if __name__ == "__main__":
    typer.run(main)
