"""Base of worlds whose episodes are a limited number of actions, one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod

from spca_core.errors import SpcaError
from spca_programs.plan_world import ActionSequence, Remark, Situation, Transition


class LimitedActions(ABC):
    """The steps of a `PlanWorld`. Reward: 1 for success, less `cost` an action; refused actions count."""

    limit: int
    """Actions of an episode."""
    cost: float

    def __init__(self) -> None:
        self._taken, self._over = 0, True

    def step(self, plan: ActionSequence) -> Transition:
        """Carry out the actions up to the first that is refused."""
        if self._over:
            raise SpcaError("the episode is over: reset first")
        remarks: list[Remark] = []
        before, success, lost = self._taken, False, None
        for action in plan:
            if self._taken >= self.limit:
                break
            self._taken += 1
            refused = self._act(action)
            success, lost = self._success(), self._lost()
            remarks += [remark for remark in (refused, None if success else lost) if remark is not None]
            if refused is not None or success or lost is not None:
                break
        late = not success and lost is None and self._taken >= self.limit
        if late:
            remarks.append(Remark(kind="step_limit", text=f"not done after {self.limit} actions"))
        self._over = success or lost is not None or late
        return Transition(
            situation=self._situation(),
            reward=float(success) - self.cost * max(1, self._taken - before),
            success=success,
            done=self._over,
            remarks=tuple(remarks),
        )

    @abstractmethod
    def _act(self, action: str) -> Remark | None:
        """Carry out one action; why it was refused, or None."""

    @abstractmethod
    def _success(self) -> bool:
        """Return whether the task is done."""

    def _lost(self) -> Remark | None:
        """Return why the episode cannot go on; None if it can."""
        return None

    @abstractmethod
    def _situation(self) -> Situation:
        """Return what may be known now."""
