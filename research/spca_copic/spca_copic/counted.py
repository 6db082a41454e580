"""A world that counts what a training takes of it."""

from __future__ import annotations

from spca_core.model import Record
from spca_programs.plan_world import ActionSequence, Case, Situation, Transition
from spca_programs.ports.plan_world import PlanWorld


class WorldUse(Record):
    """Use made of a world: episodes and trials of programs alike."""

    plans: int = 0
    """Plans carried out."""
    actions: int = 0
    """Actions in them."""
    resets: int = 0
    restores: int = 0
    """Returns to a checkpoint."""

    def and_also(self, **more: int) -> WorldUse:
        """This and some more."""
        return self.model_copy(update={name: getattr(self, name) + count for name, count in more.items()})

    def __str__(self) -> str:
        return (
            f"{self.plans} plans with {self.actions} actions carried out, {self.resets} resets, "
            f"{self.restores} restores"
        )


class CountedWorld:
    """A `PlanWorld` over another one; `use` is what was taken of it so far."""

    def __init__(self, world: PlanWorld, sparse: bool = False) -> None:
        """With `sparse`, the reward is 1 for a success and else 0."""
        self._world, self._sparse = world, sparse
        self.name, self.tasks, self.cases, self.returns = world.name, world.tasks, world.cases, world.returns
        self.split, self.briefing = world.split, world.briefing
        self.checkpoint, self.close = world.checkpoint, world.close
        self.use = WorldUse()

    def reset(self, case: Case) -> Situation:
        """See `PlanWorld.reset`."""
        self.use = self.use.and_also(resets=1)
        return self._world.reset(case)

    def step(self, plan: ActionSequence) -> Transition:
        """See `PlanWorld.step`."""
        self.use = self.use.and_also(plans=1, actions=len(plan))
        transition = self._world.step(plan)
        reward = float(transition.success) if self._sparse else transition.reward
        return transition.model_copy(update={"reward": reward})

    def restore(self, checkpoint: bytes) -> Situation:
        """See `PlanWorld.restore`."""
        self.use = self.use.and_also(restores=1)
        return self._world.restore(checkpoint)
