"""Rehearsal by sampling: a plan is tried in worlds drawn from the doubt about what was observed."""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from structlog.contextvars import bound_contextvars

from spca_core.model import Record
from spca_core.observation import Observation
from spca_core.plan import Plan
from spca_core.ports.rehearsal import Twin
from spca_core.rehearsal import Doubt, Fault, Moment, Rehearsed, Try
from spca_rehearsal.critic import Critic

PASSES_IN_A_ROW = 3
"""Tries that go well one after the other, from the first on, for a plan to be accepted at once."""
PASSES = 4
"""Of all five tries that must go well otherwise."""
FAILURES = 2
"""Tries with faults of one kind for a plan to be rejected."""

Status = Literal["accepted", "rejected", "doubtful", "unfinished"]


class Settings(Record):
    """How a rehearsal is done; the alternatives are for ablations."""

    drawn: int = 3
    """Tries with drawn errors, between the exact and the pessimistic one."""
    noise: bool = True
    """Whether errors are drawn; if not, all tries are exact, and one is enough."""
    frame: bool = True
    """Whether things that a step does not mention have to stay where they are."""
    exhaustive: bool = False
    """Whether all tries are made even when the judgement is clear, to measure the share that goes well."""

    def doubts(self, seed: int) -> list[Doubt]:
        """The worlds to try in, in order."""
        if not self.noise:
            return [Doubt()]
        drawn = [Doubt(kind="drawn", seed=seed + k) for k in range(1, self.drawn + 1)]
        return [Doubt(), *drawn, Doubt(kind="pessimistic", seed=seed + self.drawn + 1)]


class SampledRehearsal:
    """See `spca_core.ports.rehearsal.Rehearsal`. `make_twin` is called when the first plan is rehearsed."""

    def __init__(self, make_twin: Callable[[], Twin], settings: Settings | None = None) -> None:
        self._make_twin, self._settings = make_twin, settings or Settings()
        self._twin: Twin | None = None
        self._failing: tuple[Plan, str, Observation, Doubt] | None = None

    def try_out(
        self,
        attempt: str,
        plan: Plan,
        library: str,
        observation: Observation,
        wall_s: float,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Rehearsed:
        """See `Rehearsal`. An attempt's name before its last `/` is of no consequence."""
        began = time.monotonic()
        self._failing = None

        def over() -> bool:
            return cancelled() or time.monotonic() - began > wall_s

        twin = self._twin = self._twin or self._make_twin()
        if why := twin.refusal(observation):
            return Rehearsed(attempt=attempt, status="impossible", sentence=f"not rehearsed: {why}")
        tries: list[Try] = []
        status: Status | None = None
        doubts = (
            [Doubt()]
            if twin.certain
            else self._settings.doubts(zlib.crc32(attempt.rpartition("/")[2].encode()))
        )
        for doubt in doubts:
            made = self._try(twin, plan, library, observation, doubt, over)
            if over():  # what was cut short says nothing
                break
            tries.append(made)
            if tries[-1].fault is not None:
                self._failing = self._failing or (plan, library, observation, doubt)
            status = status or ruling([t.fault for t in tries], len(doubts))
            if status is not None and not self._settings.exhaustive:
                break
        return self._concluded(attempt, status or "unfinished", tries, time.monotonic() - began)

    def _try(
        self,
        twin: Twin,
        plan: Plan,
        library: str,
        observation: Observation,
        doubt: Doubt,
        cancelled: Callable[[], bool],
    ) -> Try:
        began = time.monotonic()
        critic = Critic(plan, twin.vocabulary, self._settings.frame)
        found: list[Fault] = []

        def go_on(moment: Moment) -> bool:
            fault = critic.judge(moment)
            found.extend([fault] if fault else [])
            return not found

        with bound_contextvars(rehearsal=doubt.kind):  # its log lines are not to be taken for the run's
            result, simulated = twin.play(plan, library, observation, doubt, go_on, cancelled)
        return Try(
            doubt=doubt,
            fault=found[0] if found else None,
            seconds=time.monotonic() - began,
            simulated=simulated,
            result=result,
        )

    @staticmethod
    def _concluded(attempt: str, status: Status, tries: list[Try], seconds: float) -> Rehearsed:
        faults = [t.fault for t in tries if t.fault is not None]
        fault = worst(faults) if status != "accepted" else None
        passed = len(tries) - len(faults)
        sentence = f"rehearsed: {passed} of {len(tries)} tries went well"
        if fault is not None:
            alike = sum(f.sort == fault.sort for f in faults)
            sentence = f"rehearsed: {fault.sentence}; {alike} of {len(tries)} tries"
        return Rehearsed(
            attempt=attempt,
            status=status,
            share=passed / len(tries) if tries else 0.0,
            sentence=sentence,
            fault=fault,
            suspects=(fault.action,) if fault and fault.action and status == "rejected" else (),
            seconds=seconds,
            tries=tuple(tries),
        )

    def record(self, folder: Path, name: str) -> None:
        """See `Rehearsal`: the first failing try is played once more, and what it looked like is written."""
        if self._twin is not None and self._failing is not None:
            self._twin.play(*self._failing, lambda moment: True)
            self._twin.record(folder, name)

    def close(self) -> None:
        """See `Rehearsal`."""
        if self._twin is not None:
            self._twin.close()


def ruling(faults: list[Fault | None], of: int) -> Status | None:
    """The judgement after these tries out of `of`; None while more are needed."""
    failed = [f for f in faults if f is not None]
    alike = Counter(f.sort for f in failed).most_common(1)
    if of == 1 and faults:
        return "rejected" if failed else "accepted"
    if alike and alike[0][1] >= FAILURES:
        return "rejected"
    if not failed and len(faults) >= PASSES_IN_A_ROW:
        return "accepted"
    if len(faults) - len(failed) >= PASSES:
        return "accepted"
    return "doubtful" if len(faults) == of else None


def worst(faults: list[Fault]) -> Fault | None:
    """The fault of the most frequent kind, as it was first seen."""
    if not faults:
        return None
    sort = Counter(f.sort for f in faults).most_common(1)[0][0]
    return next(f for f in faults if f.sort == sort)
