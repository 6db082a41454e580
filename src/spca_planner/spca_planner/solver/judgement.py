"""The requests to the solver process and its answers, also where a draft could not be judged."""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import Literal

from spca_core.model import Record
from spca_core.plan import ActionSchema, Draft, Plan, Rejection, Step
from spca_core.ports.vocabulary import Extension, ObservableWord
from spca_core.processes import PATIENCE
from spca_core.scene import Observation
from spca_planner.pddl.lint import instances
from spca_planner.pddl.sexpr import PddlError
from spca_planner.pddl.syntax import Domain, Problem, parse_domain, parse_problem

Words = tuple[str, ...]
"""A step of a plan: the action's name and its arguments."""

MAX_BYTES = 1 << 24
"""Maximum number of bytes of a message between the process and its user."""
GRACE_SECONDS = 5.0
"""Processor time in seconds that a draft may take beyond the search's limit.

It is for reading, explaining and validating.
"""


class DraftContext(Record):
    """Context that a draft must fit: the scene, its PDDL predicates, and the objects that the task names."""

    observation: Observation
    extensions: dict[str, Extension]
    required: tuple[str, ...] = ()
    words: tuple[ObservableWord, ...] = ()


Greedy = Literal["relaxation", "counting"]
"""Guide of a greedy search: plans without delete effects, or how many goals are met."""


class Case(Record):
    """Draft to be judged. `timeout_s` bounds translation and search, in seconds of processor time.

    Without a `context`, the draft is judged as a planning problem only.
    """

    domain: str
    problem: str
    timeout_s: float
    context: DraftContext | None = None
    greedy: Greedy | None = None
    """Guide of a greedy search by Fast Downward whose first plan is taken; the caller has to check it."""

    @property
    def wall_s(self) -> float:
        """The wall time in seconds within which there is an answer, whatever else the machine does."""
        return PATIENCE * (self.timeout_s + GRACE_SECONDS)


class Judgement(Record):
    """A proven plan, or who refused and why. Seconds of wall time, one after the other.

    The search begins with the parsing; `solve_seconds` is what it took longer.
    """

    critic: Literal["", "draft", "model", "parse", "scene", "goal", "solve", "validate"] = ""
    message: str = ""
    timed_out: bool = False
    steps: tuple[Words, ...] = ()
    schemas: tuple[ActionSchema, ...] = ()
    """Schemas of the actions in `steps`."""
    parse_seconds: float = 0.0
    solve_seconds: float = 0.0
    validate_seconds: float = 0.0

    @property
    def rejection(self) -> Rejection | None:
        """Who refused and why; None if the plan is proven."""
        return Rejection(critic=self.critic, message=self.message) if self.critic else None

    def plan(self, draft: Draft) -> Plan | None:
        """Return the proven plan of the draft that was judged; None if it was refused."""
        steps = tuple(Step(action=words[0], args=words[1:]) for words in self.steps)
        return None if self.critic else Plan(steps=steps, schemas=self.schemas, draft=draft)


MEMORY_BYTES = 2 * 2**30
"""Limit in bytes of the address space of the solver's process, and of the search."""

_MANY = 10_000
"""Number of ground actions or conditions from which on they are worth naming as a cause."""


def refused_unjudged(case: Case, out_of_time: bool) -> Judgement:
    """Refuse a draft that took too long or ended the process that judged it."""
    if out_of_time:
        why = f"it could not be judged within {case.timeout_s + GRACE_SECONDS:g} s"
    else:
        why = (
            f"judging it needs more than the {MEMORY_BYTES / 2**30:g} GB of memory there "
            "are, or crashes the solver"
        )
    with suppress(PddlError):
        why += likely_cause(parse_domain(case.domain), parse_problem(case.problem))
    return Judgement(critic="solve", message=why, timed_out=out_of_time)


def likely_cause(domain: Domain, problem: Problem) -> str:
    """Name what makes a draft hard to ground, as the end of a sentence; empty if nothing does."""
    count, what = max(_costs(domain, problem))
    if count < _MANY:
        return ""
    return f"; the likely cause: {what}, which stands for {count:,} combinations of objects. Make it smaller"


def _costs(domain: Domain, problem: Problem) -> list[tuple[int, str]]:
    found = [(instances(problem.goal, domain, problem), "the goal with its quantifiers")]
    for action in domain.actions.values():
        count = prod(len(problem.of_type(domain, p.type)) for p in action.parameters)
        parts = [f for f in (action.precondition, action.effect) if f]
        inner = max((instances(f, domain, problem) for f in parts), default=1)
        found.append((count * inner, f"action {action.name} with its {len(action.parameters)} parameters"))
    return found
