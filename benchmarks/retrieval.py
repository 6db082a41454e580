"""Whether the domain that a planner's model is shown as an example has the pattern that the task needs.

Run it from the checkout:  .venv/bin/python benchmarks/retrieval.py --seeds 5

For each seed, 30 levels drawn at random have been solved, each with a domain of its own: of the built-in
one the actions that the level's plan uses, and no more, under names that say nothing. Every other level is
then asked for. The pattern is there if the domain that is shown has every action of the built-in plan;
where no domain of the library has them all, if none has more of them. Picking up, which most have, counts
where it is all.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from spca_core.plan import PlanRequest, Task
from spca_core.scene import Observation
from spca_planner.pddl.syntax import parse_domain
from spca_planner.planner import DraftingPlanner
from spca_planner.solver.process import SolverProcess
from spca_planner.trusted import TrustedDomains
from spca_referee.level import list_levels, load_level
from spca_referee.level import task as task_of
from spca_tabletop.level_check import nominal_observation
from spca_tabletop.plan.problem import domain
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary

LIBRARY = 30
_COMMON = ("pick_up", "take_down")


@dataclass(frozen=True)
class Case:
    """A level: what is asked for and seen, and the actions of the built-in plan."""

    level: str
    task: Task
    seen: Observation
    actions: frozenset[str]

    @property
    def needs(self) -> set[str]:
        """The actions whose pattern has to be shown."""
        return {name for name in self.actions if name not in _COMMON} or {"pick_up"}


def cases() -> list[Case]:
    """Every level of the tabletop that the built-in proposer plans for."""
    found, vocabulary = [], TabletopVocabulary()
    with TemporaryDirectory() as folder, SolverProcess() as solver:
        planner = DraftingPlanner(
            "tabletop", BuiltinProposer(), TrustedDomains(Path(folder)), vocabulary, 1, 5.0, solver
        )
        for level in list_levels():
            task, seen = task_of(load_level(level)), nominal_observation(level)
            plan = planner.plan(PlanRequest(attempt="1", task=task, observation=seen, skills=())).plan
            if plan is not None and plan.steps:
                found.append(Case(level, task, seen, frozenset(step.action for step in plan.steps)))
    return found


def cut(actions: frozenset[str]) -> str:
    """The built-in domain with these actions alone, whose names say nothing; the true ones as a comment."""
    whole = parse_domain(domain())
    texts = [
        re.sub(rf"\b{name}\b", f"do_{i}", whole.actions[name].text) for i, name in enumerate(sorted(actions))
    ]
    head = domain().partition("(:action")[0]
    return re.sub(r";.*", "", head) + "\n".join(texts) + f")\n;{' '.join(sorted(actions))}\n"


def main(seeds: Annotated[int, typer.Option(help="Libraries that are drawn.")] = 5) -> None:
    """Print how often the pattern is shown, and where it is not."""
    known, console = cases(), Console(width=110, highlight=False)
    shown, asked, vocabulary = 0, 0, TabletopVocabulary()
    for seed in range(seeds):
        library = random.Random(seed).sample(known, LIBRARY)
        with TemporaryDirectory() as folder:
            trusted = TrustedDomains(Path(folder))
            for case in library:
                trusted.add("tabletop", case.task, cut(case.actions))
            best = {c.level: max(len(c.needs & other.needs) for other in library) for c in known}
            for case in (c for c in known if c not in library):
                goals, words = vocabulary.asked(case.task, case.seen), vocabulary.words()
                found = trusted.fitting("tabletop", case.task, case.seen.objects, goals, words)
                has = {*found.text.rpartition(";")[2].split()} if found else set()
                asked += 1
                if len(case.needs & has) == best[case.level]:
                    shown += 1
                else:
                    console.print(f"{seed} {case.level} needs {sorted(case.needs)}, is shown {sorted(has)}")
    console.print(f"{len(known)} levels; the pattern is shown for {shown} of {asked} ({shown / asked:.1%})")


if __name__ == "__main__":
    typer.run(main)
