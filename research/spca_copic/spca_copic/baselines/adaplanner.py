"""AdaPlanner (Sun et al. 2023): a program for each case, refined where a plan goes wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from spca_copic.baselines.base import EXAMPLES, REFINEMENTS, ModelPlans, NoPlan, trouble
from spca_copic.pool import FUNCTION, LONGEST, SIGNATURE
from spca_core.errors import InputError
from spca_programs.ipp.program import code_in
from spca_programs.plan_world import ActionSequence, Episode, PlanningProgram, Situation

_QUESTION = "ask "
_QUESTIONS = 5
"""Single facts that a program may ask for between two plans."""


class AdaPlanner(ModelPlans):
    """Keeps the last programs that solved a case as examples; where one failed, the next try refines it."""

    name = "AdaPlanner"
    tries = 3
    _program: PlanningProgram | None = None
    _skills: tuple[str, ...] = ()

    def begin(self) -> None:
        """See `ModelPlans.begin`."""
        self._program = self._program if self._lessons else None
        self._answers: dict[str, str] = {}

    def learn(self, episode: Episode) -> None:
        """See `ModelPlans.learn`: how it ended."""
        self._lessons.append(episode.ended)

    def keep(self) -> None:
        """See `ModelPlans.keep`."""
        if self._program is not None:
            self._skills = (*self._skills, self._program.source)[-EXAMPLES:]

    def plan(self, situation: Situation, memory: Sequence[Mapping[str, Any]]) -> ActionSequence:
        """See `ModelPlans.plan`."""
        problem = trouble(memory) if memory else "".join(self._lessons[-1:])
        for _ in range(1 + REFINEMENTS):
            if problem or self._program is None:
                answer = self._ask(
                    "adapt", situation=situation, observation=json.dumps(situation.observation),
                    program=self._program, problem=problem, skills=self._skills, signature=SIGNATURE,
                    longest=LONGEST,
                )  # fmt: skip
                try:
                    self._program = PlanningProgram(source=code_in(answer, FUNCTION), proposer="model")
                except InputError as error:
                    raise NoPlan(str(error)) from error
                self.use([self._program])
            plan, problem = self._answered(self._program.id, situation, memory)
            if plan:
                return plan
        raise NoPlan(problem)

    def _answered(
        self, program: str, situation: Situation, memory: Sequence[Mapping[str, Any]]
    ) -> tuple[ActionSequence, str]:
        """Return a program's plan once the model has answered what it asks in a plan's place."""
        for _ in range(1 + _QUESTIONS):
            told = situation.model_copy(
                update={"observation": {**situation.observation, "answers": self._answers}}
            )
            plan, problem = self.plan_of(program, told, memory)
            if not plan or not plan[0].startswith(_QUESTION):
                return plan, problem
            question = plan[0].removeprefix(_QUESTION)
            self._answers[question] = self._ask("fact", situation=situation, question=question).strip()
        return (), f"more than {_QUESTIONS} questions in a row: {question}"
