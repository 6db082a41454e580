"""`spca bench planetarium`: a chat model writes PDDL problems from texts; compared with the set's."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from spca_core.model import Record
from spca_core.validation import expecting, plain
from spca_planbench.asking import Verdict, Written, WrittenBench
from spca_planbench.scenes import same, scenes_of
from spca_planner.pddl.sexpr import PddlError
from spca_planner.solver.judgement import Case
from spca_planner.solver.process import warm_solver

DOMAINS = ("blocksworld", "gripper")
_SECONDS = 30.0
"""Of processor time for the plan of one problem."""
_TEST = ("random", "4")
"""The part of the set that its paper reports on."""
_QUESTION = """Write the complete PDDL problem file for this planning problem, without any explanation.

{text}

Its domain is:
{domain}"""
_SQL = """SELECT p.id, p.domain, d.domain_pddl, p.natural_language, p.problem_pddl, p.is_placeholder,
    iif(p.init_is_abstract, 'abstract to ', 'explicit to ') || iif(p.goal_is_abstract, 'abstract', 'explicit')
    FROM problems p JOIN domains d ON d.name = p.domain JOIN splits s ON s.problem_id = p.id
    WHERE s.split_type = ? AND s.split = ? ORDER BY p.domain, p.id"""


class Description(NamedTuple):
    """A problem of the set; `how` is how the text tells its start and its goal."""

    number: int
    domain: str
    rules: str
    text: str
    problem: str
    apart: int
    """See `scenes.same`."""
    how: str


class TextTrial(Record):
    """A text, by the set's number of it."""

    domain: str
    number: int
    how: str

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.domain}-{self.number}"


class PlanetariumBench(WrittenBench[TextTrial]):
    """`count` texts of each domain, evenly spread over the part that the set's paper reports on."""

    name = "planetarium"
    grouped = ("domain", "start to goal")

    data: Path

    def prepare(self, folder: Path) -> None:
        """See `Bench`."""
        descriptions(self.data)

    def trials(self) -> list[TextTrial]:
        """See `Bench`."""
        found = []
        for domain in DOMAINS:
            own = [d for d in descriptions(self.data).values() if d.domain == domain]
            found += [TextTrial(domain=domain, number=d.number, how=d.how) for d in self.some(own)]
        return found

    def group(self, trial: TextTrial) -> tuple[str, ...]:
        """See `WrittenBench`."""
        return trial.domain, trial.how

    def run_trial(self, trial: TextTrial, folder: Path) -> Written:
        """See `Bench`."""
        given = descriptions(self.data)[trial.number]
        question = _QUESTION.format(text=given.text, domain=given.rules)
        return self.ask(trial, folder, question, lambda answer: judge(answer, given))


def judge(answer: str, given: Description) -> Verdict:
    """The verdict on a problem that a model has written; the critics see its text and the domain only.

    Its text begins with `(define`, without the fence that may be around it.
    """
    text = re.sub(r"```.*", "", answer[max(0, answer.find("(define")) :], flags=re.DOTALL).strip()
    try:
        scenes = scenes_of(text)
    except PddlError as error:
        return Verdict(0, str(error))
    found = warm_solver().judge(Case(domain=given.rules, problem=text, timeout_s=_SECONDS))
    if found.critic:
        return Verdict(1, found.message)
    return Verdict(3 if same(scenes_of(given.problem), scenes, given.domain, bool(given.apart)) else 2)


@lru_cache(maxsize=1)
def descriptions(data: Path) -> Mapping[int, Description]:
    """The problems of the part, by their numbers. Raises InputError."""
    what = "the database that dataset_generator.py of github BatsResearch/planetarium makes"
    with expecting(what, data), closing(sqlite3.connect(f"file:{plain(data)}?mode=ro", uri=True)) as base:
        rows = base.execute(_SQL, _TEST).fetchall()
    return {row[0]: Description(*row) for row in rows}
