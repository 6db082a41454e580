"""Scores the answers that the authors of GRASP released, by the rules of this project.

    .venv/bin/python benchmarks/grasp_released_answers.py RELEASE/data

The folder holds `grids/` and `results/` as released. A model's answer is free text: its actions are those of
its last bracketed list, or else the first action named on each numbered line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from spca_benchmarks.campaigns.statistics import Mean
from spca_programs.grasp.dataset import released
from spca_programs.grasp.grid import Grid
from spca_programs.grasp.rules import ACTIONS, Rules, play

NAME = re.compile(rf"\b({'|'.join(sorted(ACTIONS, key=len, reverse=True))})\b")
LIST = re.compile(r"\[([^\[\]]*)\]")
NUMBERED = re.compile(r"^\s*\**\d+[.)]\**\s*(.*)$", re.MULTILINE)
MODELS = {
    "GPT-3.5-Turbo": "batch_gpt35_output.jsonl",
    "GPT-4o": "batch_gpt4o_output.jsonl",
    "GPT-o1-mini": "gpt_o1_mini_output.jsonl",
}


def main(data: Annotated[Path, typer.Argument(help="The folder `data` of the release.")]) -> None:
    """Print the mean score and the mean number of actions of each released set of answers."""
    grids = {(p.name, r["index"]): Grid.from_text(r["grid"], p.name) for p, r in rows(data / "grids")}
    assert len(list(released(data / "grids"))) == len(grids)
    for kind in ("random", "greedy"):
        found = [
            (grids[p.name, r["index"]], rules(r["movement_prompt"] == 8, r["energy_limit_prompt"] == 2,
             r["cost_of_step_prompt"] > 0), [str(a).upper().replace("_", "") for a in r["answer"]])
            for p, r in rows(data / "results" / f"{kind}_results")
        ]  # fmt: skip
        show(kind, found)
    for model, name in MODELS.items():
        found = []
        for line in (data / "results" / name).read_text().splitlines():
            record = json.loads(line)
            file, index, *flags = record["custom_id"].split("-")
            moves, carry, cost = (flag == "1" for flag in flags)
            found.append((grids[file, int(index)], rules(moves, carry, cost), actions(text_of(record))))
        show(model, found)


def rows(folder: Path) -> Iterator[tuple[Path, dict]]:
    """Every line of every file, with its file."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            yield path, json.loads(line)


def rules(diagonals: bool, limited: bool, costly: bool) -> Rules:
    """The rules of an environment."""
    return Rules(diagonals=diagonals, carry_limit=2 if limited else None, cost=0.3 if costly else 0.0)


def text_of(record: dict) -> str:
    """A model's words, in either form of the release."""
    response = record["response"]
    return response if isinstance(response, str) else response["body"]["choices"][0]["message"]["content"]


def actions(text: str) -> list[str]:
    """The actions of a free answer; see the module."""
    text = re.sub(r"(UP|DOWN)[ _-](LEFT|RIGHT)", r"\1\2", text)
    lists = [names for inside in LIST.findall(text) if len(names := NAME.findall(inside)) > 1]
    if lists:
        return lists[-1]
    named = [NAME.search(line) for line in NUMBERED.findall(text)]
    return [match[1] for match in named if match]


def show(name: str, answers: list[tuple[Grid, Rules, list[str]]]) -> None:
    """One line: all environments, then each of the rules."""
    scores = [play(grid, r, plan).score for grid, r, plan in answers]
    every = Mean.of(scores)
    print(f"{name}: {every.value:.2f} ± {every.sd:.2f} over {every.count}, "
          f"{Mean.of([float(len(p)) for *_, p in answers]).value:.1f} actions, "
          f"{sum(not p for *_, p in answers)} without a plan")  # fmt: skip
    for rule in sorted({str(r) for _, r, _ in answers}):
        own = Mean.of([s for s, (_, r, _) in zip(scores, answers, strict=True) if str(r) == rule])
        print(f"  {rule:8} {own.value:6.2f} over {own.count}")


if __name__ == "__main__":
    typer.run(main)
