"""One task put to one model: drafts and repairs until a plan is found or the attempts are used up."""

from __future__ import annotations

import time
from collections.abc import Callable

from spca.pddl_bench.judge import FINAL, Judged, Status, judge
from spca.pddl_bench.prompts import PddlAnswer, messages
from spca.pddl_bench.tasks import PddlTask
from spca_core.model import Record
from spca_core.plan import Draft
from spca_core.ports.chat import ChatModel, ChatUsage, Role
from spca_core.ports.proposer import ModelError
from spca_planner.solver.process import SolverProcess

ROLE: Role = "planner_big"


class Attempt(Record):
    """One draft and its fate. `judge_seconds` of wall time; the model's are in `usage`."""

    judged: Judged
    draft: Draft | None = None
    usage: ChatUsage = ChatUsage()
    judge_seconds: float = 0.0


class Trial(Record):
    """All attempts of one model at one task; `number` counts repetitions from 1."""

    model: str
    task: str
    number: int
    attempts: tuple[Attempt, ...]

    @property
    def status(self) -> Status:
        """The fate of the last draft."""
        return self.attempts[-1].judged.status

    @property
    def solved_at(self) -> int | None:
        """The attempt (from 1) whose plan solves the reference."""
        return len(self.attempts) if self.status == "solved" else None

    @property
    def accepted_at(self) -> int | None:
        """The attempt whose plan the draft's own validators accept, right or wrong; what a looser bench would count."""
        return len(self.attempts) if self.status in FINAL else None


def run_trial(
    task: PddlTask,
    chat: ChatModel,
    solver: SolverProcess,
    model: str,
    number: int = 1,
    attempts: int = 8,
    timeout_s: float = 20.0,
    on_attempt: Callable[[Attempt], None] = lambda attempt: None,
) -> Trial:
    """At most `attempts` drafts. The reference's verdict is never told to the model, so a found plan ends the trial.

    Raises BudgetExhausted and InputError, as the chat model does.
    """
    done: list[Attempt] = []
    draft: Draft | None = None
    judged: Judged | None = None
    while len(done) < attempts and not (judged and judged.status in FINAL):
        usage, began = ChatUsage(), time.monotonic()
        try:
            reply = chat.complete(ROLE, messages(task, draft, judged), PddlAnswer)
        except ModelError as error:
            attempt = Attempt(judged=Judged(status="no_answer", message=f"the model: {error}"))
        else:
            usage, began = reply.usage, time.monotonic()
            draft = Draft(domain=reply.parsed.domain, problem=reply.parsed.problem)
            judged = judge(draft, task, solver, timeout_s)
            seconds = time.monotonic() - began
            attempt = Attempt(judged=judged, draft=draft, usage=usage, judge_seconds=seconds)
        done.append(attempt)
        on_attempt(attempt)
    return Trial(model=model, task=task.name, number=number, attempts=tuple(done))
