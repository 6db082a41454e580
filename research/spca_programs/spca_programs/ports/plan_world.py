"""Port: a world that executes short plans and reports their effects."""

from __future__ import annotations

from typing import Protocol

from spca_programs.plan_world import ActionSequence, Briefing, Case, Situation, Split, Transition


class PlanWorld(Protocol):
    """One world with its task types.

    Deterministic: the same case and the same plans give the same episode.
    """

    name: str
    tasks: tuple[str, ...]
    """The task types; programs are written for one of them."""
    cases: int
    """Training cases of a task type that a training should use.

    Each trial takes the next ones and begins again at the end. Many are needed where what has to be learned
    differs from case to case, few where cases are alike or slow.
    """

    returns: bool
    """Whether `checkpoint` and `restore` are cheap enough to try plans out in a training."""

    def split(self, task: str, train: int, seen: int, unseen: int, seed: int) -> Split:
        """Cases of a task type, drawn by `seed`.

        Raises InputError for an unknown task type, or when there are too few.
        """

    def briefing(self, task: str) -> Briefing:
        """The information given to the author of a program for that task type."""

    def reset(self, case: Case) -> Situation:
        """Begin an episode."""

    def step(self, plan: ActionSequence) -> Transition:
        """Execute a plan.

        An action that fails is reported as a remark, never as an exception. Raises SpcaError after the end of
        the episode.
        """

    def checkpoint(self) -> bytes:
        """The state of the running episode, for `restore`."""

    def restore(self, checkpoint: bytes) -> Situation:
        """Return to a checkpoint, possibly of another instance of this world; returns its situation.

        Raises InputError for bytes that are no checkpoint of this world.
        """

    def close(self) -> None:
        """Release everything; harmless when called twice."""
