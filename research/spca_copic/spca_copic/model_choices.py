"""Baselines that ask a language model at every decision: to judge candidates, or for the plan itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from spca_copic.episode import Choice, Moment, run_episode
from spca_copic.pool import DEADLINE_S, FUNCTION, LONGEST, SIGNATURE, ProgramPool
from spca_core.errors import BudgetExhausted, InputError
from spca_core.ports.chat import ChatModel, ChatUsage
from spca_core.ports.proposer import ModelError
from spca_programs.ipp.dialogue import Dialogue, render
from spca_programs.ipp.program import code_in
from spca_programs.plan_world import (
    ActionSequence,
    Briefing,
    Candidate,
    Case,
    ChoiceContext,
    Episode,
    PlanningProgram,
    Situation,
)
from spca_programs.ports.plan_world import PlanWorld

_NUMBER = re.compile(r"\d+")
_ACTIONS = re.compile(r"^ACTIONS:(.*)$", re.MULTILINE)
_SYSTEM = "You decide what to do next in a world, step by step."


class ModelJudge:
    """A `Choice`: the model names the candidate to follow; one that cannot be read counts as the first."""

    name = "model as judge"

    def __init__(self, model: ChatModel, briefing: Briefing) -> None:
        self._model, self._briefing = model, briefing
        self.usage: list[ChatUsage] = []

    def choose(
        self, moment: Moment, context: ChoiceContext, candidates: Sequence[Candidate]
    ) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`. Raises BudgetExhausted."""
        chosen = 0
        if len(candidates) > 1:
            dialogue = Dialogue(self._model, _SYSTEM)
            question = render(
                "spca_copic",
                "judge",
                briefing=self._briefing,
                instruction=context.instruction,
                text=context.text,
                tried=context.tried,
                failure=context.last_failure,
                plans=[c.plan for c in candidates],
            )
            try:
                numbers = [int(n) for n in _NUMBER.findall(dialogue.ask(question))]
            except ModelError:
                numbers = []
            self.usage.append(dialogue.usage)
            chosen = next((n - 1 for n in numbers if 1 <= n <= len(candidates)), 0)
        return chosen, np.eye(len(candidates))[chosen], 0.0


ASKED = {
    "react": "model at every step",
    "cot": "chain of thought",
    "cot-few": "chain of thought, with examples",
    "reflexion": "Reflexion",
    "adaplanner": "AdaPlanner",
}
"""Ways to ask a model (Yao et al. 2023, Wei et al. 2022, Shinn et al. 2023, Sun et al. 2023).

All but the last ask for the plans themselves; AdaPlanner for a program of this case.
"""
_WHOLE_PLAN = 50
_TRIES = 3
"""Episodes of a case that Reflexion may take; the last one counts."""
_EXAMPLES = 2
_REFINEMENTS = 3
"""Programs in a row that AdaPlanner may write until one of them has a plan."""
_QUESTION = "ask "
_QUESTIONS = 5
"""Single facts that AdaPlanner's program may ask for between two plans."""


class ModelPlans(ProgramPool):
    """In place of programs: the model itself is asked, in one of the ways of `ASKED`.

    `examples` are solved episodes of training, which `cot-few` shows.
    """

    def __init__(
        self,
        model: ChatModel,
        briefing: Briefing,
        way: str = "react",
        examples: Sequence[Episode] = (),
        deadline_s: float = DEADLINE_S,
    ) -> None:
        super().__init__((), deadline_s)
        self.name, self._way = ASKED[way], way
        self._model, self._briefing = model, briefing
        self.programs = (PlanningProgram(source="", proposer="model"),)
        self.usage: list[ChatUsage] = []
        solved = [episode for episode in examples if episode.success]
        self._examples = solved[-_EXAMPLES:] if way == "cot-few" else []
        self._lessons: list[str] = []
        self._answers: dict[str, str] = {}
        self._skills: list[str] = []  # programs that have solved a case
        self._program: PlanningProgram | None = None
        self._rest: ActionSequence = ()

    def play(self, world: PlanWorld, case: Case, choice: Choice) -> Episode:
        """An episode; after a failed one, Reflexion says in words what went wrong, and tries again."""
        self._lessons, self._answers, self._program = [], {}, None
        for left in reversed(range(_TRIES if self._way == "reflexion" else 1)):
            episode = run_episode(world, case, self, choice)
            if episode.success or not left:
                break
            with suppress(ModelError, BudgetExhausted):
                self._lessons.append(self._ask("reflect", episode=episode, lessons=self._lessons))
        if episode.success and self._program is not None:
            self._skills = [*self._skills, self._program.source][-_EXAMPLES:]
        return episode

    def propose(
        self, situation: Situation, memory: Sequence[Mapping[str, Any]], only: Sequence[str] | None = None
    ) -> tuple[tuple[Candidate, ...], dict[str, str]]:
        """See `ProgramPool.propose`: one candidate, or none where the answer holds no actions."""
        if self._way == "adaplanner":
            return self._by_program(situation, memory)
        once = self._way.startswith("cot")
        if not (once and memory):
            try:
                answer = self._ask(
                    "step",
                    instruction=situation.instruction,
                    text=situation.text,
                    observation=json.dumps(situation.observation),
                    memory=memory,
                    longest=_WHOLE_PLAN if once else LONGEST,
                    whole=once,
                    actions=situation.actions,
                    examples=self._examples,
                    lessons=self._lessons,
                )
            except (ModelError, BudgetExhausted) as error:
                return (), {"model": str(error)}
            named = (_ACTIONS.findall(answer) or [""])[-1].split(";")
            self._rest = tuple(" ".join(a.split()) for a in named if a.strip())[:_WHOLE_PLAN]
            if not self._rest:
                return (), {"model": "the answer holds no actions"}
        plan, self._rest = self._rest[:LONGEST], self._rest[LONGEST:]
        if not plan:
            return (), {"model": "its plan has ended"}
        return (Candidate(plan=plan, programs=("model",)),), {}

    def _by_program(
        self, situation: Situation, memory: Sequence[Mapping[str, Any]]
    ) -> tuple[tuple[Candidate, ...], dict[str, str]]:
        """What a program of this case plans; it is written anew whenever its last plan went wrong."""
        problem = "; ".join(remark["text"] for remark in memory[-1]["remarks"]) if memory else ""
        for _ in range(1 + _REFINEMENTS):
            if problem or self._program is None:
                try:
                    answer = self._ask(
                        "adapt", situation=situation, observation=json.dumps(situation.observation),
                        program=self._program, problem=problem, skills=self._skills, signature=SIGNATURE,
                        longest=LONGEST,
                    )  # fmt: skip
                    self._program = PlanningProgram(source=code_in(answer, FUNCTION), proposer="model")
                except (ModelError, BudgetExhausted, InputError) as error:
                    return (), {"model": str(error)}
                self.use([self._program])
            plan, problem = self._answered(self._program.id, situation, memory)
            if plan:
                return (Candidate(plan=plan, programs=("model",)),), {}
        return (), {"model": problem}

    def _answered(
        self, program: str, situation: Situation, memory: Sequence[Mapping[str, Any]]
    ) -> tuple[ActionSequence, str]:
        """What a program plans once the model has answered what it asks in a plan's place."""
        for _ in range(1 + _QUESTIONS):
            told = situation.model_copy(
                update={"observation": {**situation.observation, "answers": self._answers}}
            )
            plan, problem = self.plan_of(program, told, memory)
            if not plan or not plan[0].startswith(_QUESTION):
                return plan, problem
            question = plan[0].removeprefix(_QUESTION)
            try:
                self._answers[question] = self._ask("fact", situation=situation, question=question).strip()
            except (ModelError, BudgetExhausted) as error:
                return (), str(error)
        return (), f"more than {_QUESTIONS} questions in a row: {question}"

    def _ask(self, template: str, **values: Any) -> str:
        """The answer to a prompt. Raises ModelError, BudgetExhausted."""
        dialogue = Dialogue(self._model, _SYSTEM)
        try:
            return dialogue.ask(render("spca_copic", template, briefing=self._briefing, **values))
        finally:
            self.usage.append(dialogue.usage)
