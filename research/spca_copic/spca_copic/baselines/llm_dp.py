"""LLM-DP (Dagan et al. 2023): the model writes PDDL and believes, a symbolic planner plans."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from spca_copic.baselines.base import REFINEMENTS, ModelPlans, NoPlan, trouble
from spca_copic.pool import LONGEST
from spca_core.prompting import fenced
from spca_planner.solver.judgement import Case as Draft
from spca_planner.solver.process import warm_solver
from spca_programs.plan_world import ActionSequence, Situation

_NAME = re.compile(r"\(\s*domain\s+([^\s()]+)", re.IGNORECASE)
_WORD = re.compile(r"[\w-]+")
_BELIEFS = 3
"""States that the model is asked to imagine, as published."""
_SEARCH_S = 5.0


class LlmDp(ModelPlans):
    """Searches a plan in each state that the model thinks likely, and follows the shortest one.

    In the paper the domain is given; a `PlanWorld` has none, so that the model writes it, once for all cases.
    The plan is followed until an action fails or it ends; then the model believes anew.
    """

    name = "LLM-DP"
    _domain = ""

    def begin(self) -> None:
        """See `ModelPlans.begin`."""
        self._goal = ""
        self._rest: ActionSequence = ()

    def plan(self, situation: Situation, memory: Sequence[Mapping[str, Any]]) -> ActionSequence:
        """See `ModelPlans.plan`."""
        problem = trouble(memory)
        if problem or not self._rest:
            self._rest = self._planned(situation, memory, problem)
        now, self._rest = self._rest[:LONGEST], self._rest[LONGEST:]
        return now

    def _planned(
        self, situation: Situation, memory: Sequence[Mapping[str, Any]], problem: str
    ) -> ActionSequence:
        for _ in range(1 + REFINEMENTS):
            observation = json.dumps(situation.observation)
            answer = self._ask(
                "believe", situation=situation, observation=observation, memory=memory, domain=self._domain,
                goal=self._goal, problem=problem, beliefs=_BELIEFS,
            )  # fmt: skip
            states = []
            for block in map(str.strip, fenced(answer)):
                if _NAME.search(block):
                    self._domain = block
                elif block.startswith("(:goal"):
                    self._goal = block
                else:
                    states.append(block)
            plans, problem = self._search(states[:_BELIEFS])
            if plans:
                return _in_the_worlds_words(min(plans, key=len), situation, observation)
        raise NoPlan(problem)

    def _search(self, states: Sequence[str]) -> tuple[list[ActionSequence], str]:
        """The plans that there are, and what the planner said last where there is none."""
        if not (name := _NAME.search(self._domain)) or not self._goal or not states:
            return [], "the answer lacks a domain, a goal or a state"
        plans, problem = [], ""
        for state in states:
            draft = f"(define (problem now) (:domain {name[1]})\n{state}\n{self._goal})"
            judged = warm_solver().judge(Draft(domain=self._domain, problem=draft, timeout_s=_SEARCH_S))
            problem = judged.message or "the goal holds already in a state"
            if judged.steps:
                plans.append(tuple(" ".join(step) for step in judged.steps))
        return plans, problem


def _in_the_worlds_words(plan: ActionSequence, situation: Situation, observation: str) -> ActionSequence:
    """The plan with the names as the world writes them: PDDL has no capitals, and no spaces in a name."""
    words = {word.casefold(): word for word in _WORD.findall(observation)}
    words |= {action.name.replace(" ", "_").casefold(): action.name for action in situation.actions}
    return tuple(" ".join(words.get(word.casefold(), word) for word in step.split()) for step in plan)
