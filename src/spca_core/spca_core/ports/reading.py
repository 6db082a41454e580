"""Ports: what plans and libraries of skills say, and what was seen of it, in no language of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from spca_core.model import Record
from spca_core.plan import Draft, Plan
from spca_core.scene import Observation
from spca_core.skill import SkillSignature


class Literal(Record):
    """An atom that is predicted to hold, or not to hold."""

    atom: tuple[str, ...]
    holds: bool

    def __str__(self) -> str:
        text = f"({' '.join(self.atom)})"
        return text if self.holds else f"(not {text})"


class SideEffect(Record):
    """Effect elsewhere during `steps` (by index), none of which mentions it or, if `remote`, was near it."""

    steps: tuple[int, ...]
    sentence: str
    remote: bool = False


class StepEvidence(Record):
    """Evidence on one step's effects; what nothing could show is `unjudged`.

    `undone` are confirmed effects of the last step that a later look shows not to have lasted. `overlooked`
    is what was seen to be so of the step's own things, though the domain takes it for unchanged.
    """

    confirmed: tuple[Literal, ...] = ()
    undone: tuple[Literal, ...] = ()
    contradicted: tuple[Literal, ...] = ()
    unjudged: tuple[Literal, ...] = ()
    overlooked: tuple[Literal, ...] = ()


class Evidence(Record):
    """Evidence on a plan that was carried out: by step, as far as it came, and on its goal.

    `goal` is None where what was seen does not settle it; `expected` are the facts that the steps carried out
    were to bring about and that should hold at the end, `goal_unseen` the atoms of the goal that nothing
    could show, `goal_false` those that were seen not to hold although the goal wants them. `disturbances`
    are what moved although no step is about it. `unready` is what the last step needs and the look before it
    showed not to be so.
    """

    steps: tuple[StepEvidence, ...] = ()
    goal: bool | None = None
    expected: tuple[Literal, ...] = ()
    goal_unseen: tuple[tuple[str, ...], ...] = ()
    goal_false: tuple[Literal, ...] = ()
    disturbances: tuple[SideEffect, ...] = ()
    unready: tuple[Literal, ...] = ()

    @property
    def contradicted(self) -> tuple[int, ...]:
        """Indices of the steps whose effects were seen not to have come about."""
        return tuple(i for i, step in enumerate(self.steps) if step.contradicted)


class PlanReader(Protocol):
    """Reads what the domain and the problem of a plan say, in one environment."""

    def goal(self, draft: Draft) -> str:
        """Say the goal in plain words; empty for a draft that cannot be read."""

    def met(self, draft: Draft, seen: Observation) -> str:
        """Say what is seen to hold of the first way to the goal that may hold; empty where none does."""

    def say(self, ways: Sequence[frozenset[tuple[str, ...]]]) -> str:
        """Say goals any of which will do, each a set of ground atoms, as one phrase in plain words."""

    def predicted(self, plan: Plan) -> tuple[str, ...]:
        """Spell out what each step changes, and the goal; empty for a plan that cannot be read."""

    def weigh(
        self,
        plan: Plan,
        seen: Sequence[Observation | None],
        afterwards: Observation | None,
        before: Observation | None = None,
    ) -> Evidence:
        """Compare a plan's predictions with what was observed.

        Args:
            plan: what was carried out.
            seen: the look after each executed step; None where there was none.
            afterwards: the look at the end.
            before: the look before the first step, to find out what else has moved since.

        Returns:
            What was seen of each step's effects and of the goal; empty for a plan that cannot be read.
        """


class SkillReader(Protocol):
    """Reads libraries of skills, which are source text. Each raises InputError for what is not source."""

    def signatures(self, library: str) -> tuple[SkillSignature, ...]:
        """List the skills as a planner sees them."""

    def meaning(self, library: str, actions: Collection[str]) -> str:
        """Return a text that is the same for libraries in which these actions' skills do the same."""

    def restored(self, library: str, proven: str, actions: Collection[str]) -> str:
        """Return `library` with these actions' skills as in `proven`, without those that are not there."""


@dataclass(frozen=True)
class Readers:
    """The readers of one environment's plans and of its skills."""

    plans: PlanReader
    skills: SkillReader

    def fingerprint(self, plan: Plan, library: str) -> str:
        """Return a text that is the same for two plans whose outcomes cannot differ.

        They have the same steps, their domains predict the same of them, their goals are the same, and their
        skills, with all that these stand on, mean the same.
        """
        skills = self.skills.meaning(library, {step.action for step in plan.steps})
        text = "\n".join([*map(str, plan.steps), *self.plans.predicted(plan), skills])
        return sha256(text.encode()).hexdigest()[:16]
