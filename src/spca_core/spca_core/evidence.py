"""Evidence on a plan that was carried out: its effects step by step, its goal, and what else moved."""

from __future__ import annotations

from spca_core.model import Record


class Literal(Record):
    """An atom that is predicted to hold, or not to hold."""

    atom: tuple[str, ...]
    holds: bool

    def __str__(self) -> str:
        text = f"({' '.join(self.atom)})"
        return text if self.holds else f"(not {text})"


class SideEffect(Record):
    """Effect elsewhere during `steps` (by index), none of which mentions it."""

    steps: tuple[int, ...]
    sentence: str


class StepEvidence(Record):
    """Evidence on one step's effects; what nothing could show is `unjudged`.

    `undone` are confirmed effects of the last step that a later look shows not to have lasted. `overlooked`
    is what was seen to be so of the step's own things, though the domain takes it for unchanged.
    """

    confirmed: tuple[Literal, ...] = ()
    undone: tuple[Literal, ...] = ()
    contradicted: tuple[Literal, ...] = ()
    unjudged: tuple[Literal, ...] = ()
    overlooked: tuple[Literal, ...] = ()


class Evidence(Record):
    """Evidence on a plan that was carried out: by step, as far as it came, and on its goal.

    `goal` is None where what was seen does not settle it; `expected` are the facts that the steps carried out
    were to bring about and that should hold at the end, `goal_unseen` the atoms of the goal that nothing
    could show, `goal_false` those that were seen not to hold although the goal wants them. `disturbances`
    are what moved although no step is about it.
    """

    steps: tuple[StepEvidence, ...] = ()
    goal: bool | None = None
    expected: tuple[Literal, ...] = ()
    goal_unseen: tuple[tuple[str, ...], ...] = ()
    goal_false: tuple[Literal, ...] = ()
    disturbances: tuple[SideEffect, ...] = ()

    @property
    def contradicted(self) -> tuple[int, ...]:
        """The steps whose effects were seen not to have come about, by index."""
        return tuple(i for i, step in enumerate(self.steps) if step.contradicted)
