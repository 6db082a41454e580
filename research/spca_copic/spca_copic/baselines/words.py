"""Baselines that ask for the actions themselves: ReAct, chain of thought and Reflexion."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from spca_copic.baselines.base import ModelPlans, NoPlan
from spca_copic.pool import LONGEST
from spca_programs.plan_world import ActionSequence, Situation

_ACTIONS = re.compile(r"^ACTIONS:(.*)$", re.MULTILINE)
_WHOLE_PLAN = 50


class React(ModelPlans):
    """Asks for the next actions, again and again (Yao et al. 2023)."""

    name = "model at every step"
    once: ClassVar[bool] = False
    """Asked for the whole plan, at the beginning of a case."""
    few_shots: ClassVar[bool] = False
    _rest: ActionSequence = ()

    def plan(self, situation: Situation, memory: Sequence[Mapping[str, Any]]) -> ActionSequence:
        """See `ModelPlans.plan`."""
        if not (self.once and memory):
            answer = self._ask(
                "step",
                situation=situation,
                observation=json.dumps(situation.observation),
                memory=memory,
                longest=_WHOLE_PLAN if self.once else LONGEST,
                whole=self.once,
                examples=self._examples if self.few_shots else (),
                lessons=self._lessons,
            )
            named = (_ACTIONS.findall(answer) or [""])[-1].split(";")
            self._rest = tuple(" ".join(a.split()) for a in named if a.strip())[:_WHOLE_PLAN]
            if not self._rest:
                raise NoPlan("the answer holds no actions")
        now, self._rest = self._rest[:LONGEST], self._rest[LONGEST:]
        if not now:
            raise NoPlan("its plan has ended")
        return now


class ChainOfThought(React):
    """Asks once, for the whole plan (Wei et al. 2022)."""

    name = "chain of thought"
    once = True


class FewShots(ChainOfThought):
    """Shows solved episodes of the training, too."""

    name = "chain of thought, with examples"
    few_shots = True


class Reflexion(React):
    """Tries a case up to three times, with what it says of its failures (Shinn et al. 2023)."""

    name = "Reflexion"
    tries = 3
