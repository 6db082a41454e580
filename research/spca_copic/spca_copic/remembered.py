"""A world that remembers: what a plan led to is not simulated a second time."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from spca_core.errors import SpcaError
from spca_core.validation import expecting
from spca_programs.plan_world import ActionSequence, Case, Situation, Transition
from spca_programs.ports.plan_world import PlanWorld


@dataclass
class _Node:
    """A point of an episode: how it came about, how to return there, and where plans led from it."""

    transition: Transition | None
    situation: Situation
    checkpoint: bytes
    """Empty at the end of an episode."""
    path: tuple[ActionSequence, ...] = ()
    after: dict[ActionSequence, _Node] = field(default_factory=dict)


class RememberedWorld:
    """A `PlanWorld` around a slow one. Worlds are deterministic, and programs often propose the same plans.

    It keeps every situation it has seen, so it is for worlds with short episodes.
    """

    def __init__(self, world: PlanWorld) -> None:
        self._world = world
        self.name, self.tasks, self.cases, self.returns = world.name, world.tasks, world.cases, world.returns
        self.split, self.briefing = world.split, world.briefing
        self._known: dict[str, _Node] = {}
        self._case: Case | None = None
        self._node: _Node | None = None
        self._there: _Node | None = None
        """Where the world itself is."""

    def reset(self, case: Case) -> Situation:
        """See `PlanWorld.reset`."""
        self._case, key = case, case.model_dump_json()
        if key not in self._known:
            situation = self._world.reset(case)
            self._there = self._known[key] = _Node(None, situation, self._world.checkpoint())
        self._node = self._known[key]
        return self._node.situation

    def step(self, plan: ActionSequence) -> Transition:
        """See `PlanWorld.step`."""
        node = self._now()
        if plan not in node.after:
            if not node.checkpoint:
                raise SpcaError("the episode is over: reset first")
            if self._there is not node:
                self._world.restore(node.checkpoint)
            transition = self._world.step(plan)
            saved = b"" if transition.done else self._world.checkpoint()
            self._there = _Node(transition, transition.situation, saved, (*node.path, plan))
            node.after[plan] = self._there
        self._node = node.after[plan]
        assert self._node.transition is not None
        return self._node.transition

    def checkpoint(self) -> bytes:
        """The case and the plans since its beginning."""
        assert self._case is not None
        path = [list(plan) for plan in self._now().path]
        return json.dumps([self._case.model_dump(mode="json"), path]).encode()

    def restore(self, checkpoint: bytes) -> Situation:
        """See `PlanWorld.restore`; plans that are not remembered are carried out again."""
        with expecting("a checkpoint", self.name):
            case, path = json.loads(checkpoint)
            situation = self.reset(Case.model_validate(case))
            for plan in path:
                situation = self.step(tuple(plan)).situation
        return situation

    def close(self) -> None:
        """Forget everything and close the world."""
        self._known.clear()
        self._node = self._there = None
        self._world.close()

    def _now(self) -> _Node:
        if self._node is None:
            raise SpcaError("no episode has begun: reset first")
        return self._node
