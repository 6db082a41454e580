"""A proposer that has a language model write programs: independent drafts, then improved ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from spca_copic.pool import DEADLINE_S, FUNCTION, LONGEST, SIGNATURE
from spca_copic.recipe import BY_MODEL
from spca_core.errors import BudgetExhausted
from spca_core.ports.chat import ChatModel
from spca_core.ports.proposer import ModelError
from spca_core.result import Usage
from spca_programs.ipp.dialogue import Dialogue, render
from spca_programs.ipp.program import ProgramRunner
from spca_programs.ipp.strategies import loadable
from spca_programs.plan_world import Briefing, Decision, Episode, PlanningProgram

_PACKAGE = "spca_copic"
_MOST_DECISIONS = 12
"""Decisions of each episode that the model is shown: the last ones; a plan that is repeated counts as one."""


class LanguagePrograms:
    """See `spca_copic.ports.ProgramProposer`.

    Each program is a conversation of its own (role coder).
    """

    name = BY_MODEL

    def __init__(self, model: ChatModel, experience: Sequence[Episode] = ()) -> None:
        """With `experience`, the first programs are written after these episodes of other tasks."""
        self._model, self._experience = model, experience
        self.usage = Usage()
        """The usage of all conversations so far."""

    def write(self, briefing: Briefing, count: int, seed: int) -> list[PlanningProgram]:
        """Independent drafts for the same question."""
        question = render(
            _PACKAGE, "write", briefing=briefing, signature=SIGNATURE, episodes=self._experience,
            most=_MOST_DECISIONS, stretches=stretches,
        )  # fmt: skip
        return self._different(briefing, question, count, (), 0)

    def evolve(
        self,
        briefing: Briefing,
        programs: Sequence[PlanningProgram],
        episodes: Sequence[Episode],
        count: int,
        seed: int,
    ) -> list[PlanningProgram]:
        """Drafts after the programs in use and the last episodes; none, where the model fails altogether."""
        question = render(
            _PACKAGE, "evolve", briefing=briefing, signature=SIGNATURE, programs=programs, episodes=episodes,
            most=_MOST_DECISIONS, stretches=stretches,
        )  # fmt: skip
        trial = 1 + max((program.trial for program in programs), default=0)
        known = {program.id for program in programs}
        try:
            written = self._different(briefing, question, count, tuple(sorted(known)), trial)
        except (ModelError, BudgetExhausted):
            return []
        return [program for program in written if program.id not in known]

    def _different(
        self, briefing: Briefing, question: str, count: int, parents: tuple[str, ...], trial: int
    ) -> list[PlanningProgram]:
        found: dict[str, PlanningProgram] = {}
        trouble: ModelError | BudgetExhausted | None = None
        with ProgramRunner(function=FUNCTION) as runner:
            for _ in range(count):
                try:
                    source, model = self._one(briefing, question, runner)
                except (ModelError, BudgetExhausted) as error:
                    trouble = error
                    continue
                program = PlanningProgram(
                    source=source, proposer=self.name, parents=parents, trial=trial, remark=f"by {model}"
                )
                found.setdefault(program.id, program)
        if not found and trouble is not None:
            raise trouble
        return list(found.values())

    def _one(self, briefing: Briefing, question: str, runner: ProgramRunner) -> tuple[str, str]:
        """A program that loads, and the model's name. Raises ModelError, BudgetExhausted."""
        system = render(
            _PACKAGE, "system", briefing=briefing, signature=SIGNATURE, longest=LONGEST, deadline=DEADLINE_S
        )
        dialogue = Dialogue(self._model, system)
        try:
            return loadable(dialogue, dialogue.ask(question), runner, SIGNATURE), dialogue.model_name
        finally:
            self.usage = self.usage + dialogue.usage


def stretches(episode: Episode) -> list[tuple[Decision, int]]:
    """The first of equal decisions in a row, with how many there are."""

    def taken(decision: Decision) -> tuple[object, ...]:
        return decision.candidates[decision.chosen].plan, decision.remarks

    runs = [list(run) for _, run in groupby(episode.decisions, taken)]
    return [(run[0], len(run)) for run in runs]
