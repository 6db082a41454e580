"""Base of worlds whose episodes are a limited number of actions, one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod

from spca_core.errors import SpcaError
from spca_core.model import Record
from spca_core.validation import expecting
from spca_programs.plan_world import ActionSequence, Case, Remark, Situation, Transition


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


class Played(Record):
    """An episode so far."""

    case: Case
    plans: tuple[ActionSequence, ...] = ()


class PlayedAgain(LimitedActions):
    """A world that cannot be copied: the same case and plans lead to the same place."""

    name: str
    _played: Played | None = None

    @property
    def played(self) -> Played:
        """The episode so far. Raises SpcaError where none has begun."""
        if self._played is None:
            raise SpcaError("no episode has begun: reset first")
        return self._played

    @abstractmethod
    def reset(self, case: Case) -> Situation:
        """See `PlanWorld`; sets `_played`."""

    def step(self, plan: ActionSequence) -> Transition:
        """See `LimitedActions.step`; the plan is kept for `checkpoint`."""
        done = super().step(plan)
        self._played = Played(case=self.played.case, plans=(*self.played.plans, tuple(plan)))
        return done

    def checkpoint(self) -> bytes:
        """The case and the plans so far, as JSON."""
        return self.played.model_dump_json().encode()

    def restore(self, checkpoint: bytes) -> Situation:
        """The same episode, played again up to there. Raises InputError for anything else."""
        with expecting("a checkpoint", self.name):
            saved = Played.model_validate_json(checkpoint)
        situation = self.reset(saved.case)
        for plan in saved.plans:
            situation = self.step(plan).situation
        return situation
