"""Ports: proposers of plans and code. Their proposals are untrusted; critics decide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from spca_core.errors import one_line
from spca_core.plan import Draft, PlanRequest, Rejection, Schemas
from spca_core.scene import Observation
from spca_core.skill import CtxApi


class NotUnderstood(Exception):
    """The proposer cannot make sense of the task.

    The message names the words that were not understood and says what would work; `proposal` is a sentence
    that would, where it asks about one.
    """

    def __init__(self, message: str, proposal: str = "") -> None:
        self.proposal = proposal
        super().__init__(message)


class Answered(NotUnderstood):
    """The text is a question, or what it asks for is so already, and has this answer."""

    NOTE = " (Answered; nothing was moved.)"

    def __init__(self, answer: str, about: Sequence[str] = ()) -> None:
        super().__init__(answer + self.NOTE)
        self.answer, self.about = answer, tuple(about)


class Impossible(Exception):
    """The task makes sense but cannot be done in the observed scene; the message says why."""


class PlanAtFault(Exception):
    """No skill can do what an action of the plan says; the message says why."""


BUILTIN = "builtin"
"""The name of every environment's own proposer, which needs no model."""


class PlanProposer(ABC):
    """Drafts PDDL. `rejection` is the critic's verdict on the previous draft, None for the first."""

    name: str
    domains: Sequence[str] = ()
    """Domains of this proposer's drafts, where they are always the same."""

    @abstractmethod
    def draft(self, request: PlanRequest, previous: Draft | None, rejection: Rejection | None) -> Draft:
        """Return a draft of a domain and a problem for the request.

        Raises NotUnderstood, Impossible, or ModelError when the model failed or gave an unusable answer.
        """

    def alternatives(self, draft: Draft, observation: Observation) -> Sequence[Draft]:
        """Return, for each way its own draft leaves open ("any cube"), a draft that leaves only that one."""
        return ()


class CodeProposer(Protocol):
    """Writes skills as Python source."""

    name: str

    def write(
        self, missing: Schemas, api: CtxApi, relevant: str, situation: str, previous: str, rejection: str
    ) -> str:
        """Return Python functions for the missing schemas.

        `relevant` is source of existing skills worth seeing, `situation` the task, scene sentences and plan,
        `previous` and `rejection` the last draft and what was wrong with it (empty at first). Raises
        ModelError and PlanAtFault.
        """


class ModelError(Exception):
    """A language model could not be reached or gave no usable answer.

    `kind` says which, in one word: refused, truncated, empty, invalid (not what was asked for), rejected (the
    server would not take the request), busy, broken, timeout, unreachable, repeated (the same request was
    answered before without success).
    """

    _ANSWERS = ("refused", "truncated", "empty", "invalid", "repeated")

    def __init__(self, message: str, kind: str = "invalid") -> None:
        self.kind = kind
        super().__init__(one_line(message))

    @property
    def answered(self) -> bool:
        """The model did answer, so that repeating the same request is pointless."""
        return self.kind in self._ANSWERS

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (str(self), self.kind)


SERVER_FAULTS = frozenset({"busy", "broken", "unreachable"})
"""Kinds of ModelError caused by the server rather than by the model."""
