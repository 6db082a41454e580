"""The prompts: a task in words, and what was wrong with the previous draft."""

from __future__ import annotations

from pydantic import BaseModel, Field

from spca_benchmarks.pddl.judge import Judged
from spca_benchmarks.pddl.tasks import PddlTask
from spca_core.plan import Draft
from spca_core.ports.chat import Message
from spca_llm.messages import system, user

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


class PddlAnswer(BaseModel):
    """A domain and a problem in PDDL."""

    domain: str = Field(min_length=1, json_schema_extra={"format": "pddl"})
    problem: str = Field(min_length=1, json_schema_extra={"format": "pddl"})


def messages(task: PddlTask, draft: Draft | None, judged: Judged | None) -> list[Message]:
    """The question; with a refused draft, the request for a better one."""
    question = [system(_SYSTEM), user(task.description)]
    if draft is not None and judged is not None:
        message = judged.message.rstrip(".") + "." + _ADVICE.get(judged.status, "")
        question.append(user(_REPAIR.format(domain=draft.domain, problem=draft.problem, message=message)))
    return question
