"""Port: a world that carries out short plans and says what came of each."""

from __future__ import annotations

from typing import Protocol

from spca_core.plan_world import ActionSequence, Briefing, Case, Situation, Split, Transition


class PlanWorld(Protocol):
    """One world with its task types.

    Deterministic: the same case and the same plans give the same episode.
    """

    name: str
    tasks: tuple[str, ...]
    """The task types; programs are written for one of them."""

    def split(self, task: str, train: int, seen: int, unseen: int, seed: int) -> Split:
        """Cases of a task type, drawn by `seed`.

        Raises InputError for an unknown task type, or when there are too few.
        """
        ...

    def briefing(self, task: str) -> Briefing:
        """What the author of a program for that task type is told."""
        ...

    def reset(self, case: Case) -> Situation:
        """Begin an episode."""
        ...

    def step(self, plan: ActionSequence) -> Transition:
        """Carry out a plan.

        What cannot be done is a remark, never an exception; SpcaError after the episode's end.
        """
        ...

    def checkpoint(self) -> bytes:
        """The state of the running episode, to come back to."""
        ...

    def restore(self, checkpoint: bytes) -> Situation:
        """Back to a checkpoint, also one of another instance of this world; returns the situation there."""
        ...

    def picture(self) -> bytes:
        """A PNG of the world as it is now, for reports; empty where a world has none."""
        ...

    def close(self) -> None:
        """Release everything; harmless when called twice."""
        ...
