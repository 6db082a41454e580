"""One task put to one model: drafts and repairs until a plan is found or the attempts are used up."""

from __future__ import annotations

import time

from pydantic import BaseModel, Field

from spca_benchmarks.pddl.judge import FINAL, Judged, Status, judge
from spca_benchmarks.pddl.tasks import PddlTask
from spca_core.model import Record
from spca_core.plan import Draft
from spca_core.ports.chat import Message, Role
from spca_core.ports.proposer import SERVER_FAULTS, ModelError
from spca_core.prompting import system, user
from spca_core.result import Usage
from spca_llm.chat import Chat
from spca_llm.exchange import read_exchange
from spca_planner.solver.process import SolverProcess

ROLE: Role = "planner_big"
_SYSTEM = """\
You formalise planning tasks in PDDL. You are given the rules of a small world, a situation in it, and what is
wanted. You write a domain and a problem such that a classical planner finds a plan, and that plan would work
in the world described.

- Use :strips and :typing, and where they help :negative-preconditions, :disjunctive-preconditions, :equality,
  :conditional-effects and quantifiers. No durations, no numbers, no derived predicates.
- Name actions and objects exactly as given, with the arguments in the order given. Types and
  predicates are yours.
- Every rule counts: a plan that breaks one is wrong, even if your domain allows it.
- State in (:init …) all that holds at the start, and in (:goal …) all that is wanted.

Answer in JSON with two texts: `domain`, which begins with (define (domain, and `problem`, which begins
with (define (problem."""

_REPAIR = """\
Your draft before was this:

{domain}

{problem}

It was refused: {message}

Correct it and send both texts again, complete."""

_ADVICE = {
    "timeout": " Make it smaller: fewer parameters, types that are as narrow as possible.",
    "unsolvable": " Look for an effect, a fact or a connection that is missing.",
    "empty": " Check what holds at the start and what is wanted.",
}


class Attempt(Record):
    """One draft and its fate. `judge_seconds` of wall time; the model's are the result's."""

    judged: Judged
    draft: Draft | None = None
    judge_seconds: float = 0.0


class PddlResult(Record):
    """All attempts of one model at one task, and what the model used for them."""

    attempts: tuple[Attempt, ...]
    used: Usage = Usage()
    in_words: bool = False
    """Whether it was asked for JSON in words, as its server enforces no schema."""

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
        """The attempt whose plan the draft's own validators accept, whether or not it is right.

        A bench without a reference would count it as solved.
        """
        return len(self.attempts) if self.status in FINAL else None


def run_attempts(
    task: PddlTask, chat: Chat, solver: SolverProcess, attempts: int = 8, timeout_s: float = 20.0
) -> PddlResult:
    """At most `attempts` drafts.

    The reference's verdict is never told to the model, so a found plan ends the trial.

    Raises BudgetExhausted and InputError, as the chat model does, and ModelError where it is the server that
    failed.
    """
    done: list[Attempt] = []
    draft: Draft | None = None
    judged: Judged | None = None
    while len(done) < attempts and not (judged and judged.status in FINAL):
        try:
            reply = chat.complete(ROLE, messages(task, draft, judged), PddlAnswer)
        except ModelError as error:
            if error.kind in SERVER_FAULTS:
                raise
            done.append(Attempt(judged=Judged(status="no_answer", message=f"the model: {error}")))
            continue
        began = time.monotonic()
        draft = Draft(domain=reply.parsed.domain, problem=reply.parsed.problem)
        judged = judge(draft, task, solver, timeout_s)
        seconds = time.monotonic() - began
        done.append(Attempt(judged=judged, draft=draft, judge_seconds=seconds))
    answers = [read_exchange(path).answer for path in chat.ledger.folder.glob("*.json")]
    in_words = any(answer.in_words for answer in answers if answer)
    used = chat.ledger.totals().get(ROLE, Usage())
    return PddlResult(attempts=tuple(done), used=used, in_words=in_words)


class PddlAnswer(BaseModel):
    """A domain and a problem in PDDL."""

    domain: str = Field(min_length=1)
    problem: str = Field(min_length=1)


def messages(task: PddlTask, draft: Draft | None, judged: Judged | None) -> list[Message]:
    """The question; with a refused draft, the request for a better one."""
    question = [system(_SYSTEM), user(task.description)]
    if draft is not None and judged is not None:
        message = judged.message.rstrip(".") + "." + _ADVICE.get(judged.status, "")
        question.append(user(_REPAIR.format(domain=draft.domain, problem=draft.problem, message=message)))
    return question
