"""Rehearsal by sampling: a plan is tried in worlds drawn from the uncertainty of what was observed."""

from __future__ import annotations

import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from spca.rehearsal.critic import Critic
from spca_core.log import logged_with
from spca_core.model import Record
from spca_core.plan import Choice, Fault, Moment, Perturbation, Plan, Rehearsed, Try
from spca_core.ports.stages import Twin
from spca_core.processes import PATIENCE
from spca_core.scene import Observation
from spca_core.stopping import Stop, never

PASSES_IN_A_ROW = 3
"""Number of tries in a row, from the first on, that go well when a plan is accepted at once."""
PASSES = 4
"""Number of tries, of all five, that must go well for a plan to be accepted otherwise."""
FAILURES = 2
"""Number of tries with faults of one kind after which a plan is rejected."""
ALTERNATIVES = 8
"""Maximum number of other plans and choices that are tried in place of one that fails."""
DRAWN = 3
"""Number of tries with drawn errors, between the exact and the pessimistic one."""
ENOUGH = 2
"""Number of alternatives that go well when the better of them is taken without trying the rest."""

Status = Literal["accepted", "rejected", "doubtful", "unfinished"]


class Settings(Record):
    """Settings of a rehearsal; the alternatives are for ablations."""

    checks_unmentioned: bool = True
    """Things that a step does not mention have to stay where they are."""
    choose: bool = True
    """Other choices and plans are tried where the first fails."""


def perturbations(seed: int) -> list[Perturbation]:
    """Return the perturbations of the worlds to try in, in order."""
    drawn = [Perturbation(kind="drawn", seed=seed + k) for k in range(1, DRAWN + 1)]
    return [Perturbation(), *drawn, Perturbation(kind="pessimistic", seed=seed + DRAWN + 1)]


class SampledRehearsal:
    """See `spca_core.ports.stages.Rehearsal`. `make_twin` is called when the first plan is rehearsed."""

    def __init__(self, make_twin: Callable[[], Twin], settings: Settings | None = None) -> None:
        self._make_twin, self._settings = make_twin, settings or Settings()
        self._twin: Twin | None = None
        self._failing: tuple[Plan, str, Observation, Perturbation] | None = None

    def try_out(
        self,
        attempt: str,
        plan: Plan,
        library: str,
        observation: Observation,
        simulated_s: float,
        cancelled: Stop = never,
        others: Callable[[], Sequence[Plan]] = tuple,
    ) -> Rehearsed:
        """See `Rehearsal`. An attempt's name before its last `/` is of no consequence."""
        began, clock = time.monotonic(), time.pthread_getcpuclockid(threading.get_ident())
        used = time.clock_gettime(clock)
        self._failing = None

        def over() -> bool:
            return cancelled() or time.monotonic() - began > PATIENCE * simulated_s

        twin = self._twin = self._twin or self._make_twin()
        if why := twin.refusal(observation):
            return Rehearsed(attempt=attempt, status="impossible", sentence=f"not rehearsed: {why}")
        seed = zlib.crc32(attempt.rpartition("/")[2].encode())
        worlds = [Perturbation()] if twin.certain else perturbations(seed)
        series = _Series(twin, library, observation, self._settings, worlds, simulated_s, over)
        found = series.judged(attempt, plan)
        failing = next((t for t in found.tries if t.fault is not None), None)
        if failing is not None:
            self._failing = (plan, library, observation, failing.perturbation)
            if self._settings.choose and found.status in ("rejected", "doubtful"):
                found = series.better(found, failing, plan, others())
        spent = {
            "seconds": time.monotonic() - began,
            "simulated": series.simulated,
            "cpu": time.clock_gettime(clock) - used,
        }
        return found.model_copy(update=spent)

    def record(self, folder: Path, name: str) -> None:
        """See `Rehearsal`: the first failing try is played once more, and what it looked like is written."""
        if self._twin is not None and self._failing is not None:
            self._twin.play(*self._failing, lambda moment: True)
            self._twin.record(folder, name)

    def close(self) -> None:
        """See `Rehearsal`."""
        if self._twin is not None:
            self._twin.close()


@dataclass
class _Series:
    """Tries of plans with one library, from one observation.

    None begins after `simulated_s` seconds on the twin's clock, and all ends when it is `over`.
    """

    _twin: Twin
    _library: str
    _observation: Observation
    _settings: Settings
    _perturbations: Sequence[Perturbation]
    _simulated_s: float
    _over: Stop
    _choices: Sequence[Sequence[Choice]] = ()
    simulated: float = 0.0

    def judged(self, attempt: str, plan: Plan, known: Try | None = None) -> Rehearsed:
        """Judge a plan by its tries, one after the other until the result is clear; one may be known."""
        tries: list[Try] = []
        status: Status | None = None
        for perturbation in self._perturbations:
            made = known if known and known.perturbation == perturbation else self._try(plan, perturbation)
            if made is None:
                break
            tries.append(made)
            if made.fault is not None and not self._choices:
                self._choices = self._twin.alternatives()
            status = ruling([t.fault for t in tries], len(self._perturbations))
            if status is not None:
                break
        return _concluded(attempt, status or "unfinished", tries)

    def better(self, first: Rehearsed, failing: Try, plan: Plan, others: Sequence[Plan]) -> Rehearsed:
        """Rehearse the other plans, or the plan with other choices; return the best result or `first`.

        They are compared in the world in which the plan failed: the other plans, then the alternatives to
        each choice. The best of the first of these groups in which one goes well is judged as the plan was.
        """
        choices = [
            [plan.model_copy(update={"choices": (*plan.choices, c)}) for c in group]
            for group in self._choices
        ]
        tried: list[Try] = []
        found = first
        for group in (others, *choices):
            passing: list[tuple[Try, Plan]] = []
            for candidate in group[: ALTERNATIVES - len(tried)]:
                made = self._try(candidate, failing.perturbation)
                if made is None:
                    break
                tried.append(made)
                passing += [(made, candidate)] if made.fault is None else []
                if len(passing) >= ENOUGH:
                    break
            for made, candidate in sorted(passing, key=lambda t: (-t[0].margin, t[0].simulated)):
                found = max(found, self._instead(first, candidate, made), key=lambda r: r.share)
                if found.status == "accepted":
                    break
            if passing:
                break
        before = first.tries if found.instead else ()
        return found.model_copy(update={"others": (*before, *tried)})

    def _instead(self, first: Rehearsed, plan: Plan, made: Try) -> Rehearsed:
        """Return the result of a plan that was found to go well in one world; `first` if unfinished."""
        found = self.judged(first.attempt, plan, made)
        if found.status == "unfinished":
            return first
        what = ", ".join(map(str, plan.choices)) or "another plan"
        why = first.sentence.removeprefix("rehearsed: ")
        return found.model_copy(
            update={"instead": plan, "sentence": f"{found.sentence} with {what}; as it was: {why}"}
        )

    def _try(self, plan: Plan, perturbation: Perturbation) -> Try | None:
        """Try a plan; return None where there was no time for it: what is cut short says nothing."""
        if self.simulated >= self._simulated_s:
            return None
        began = time.monotonic()
        critic = Critic(plan, self._twin.vocabulary, self._settings.checks_unmentioned)
        found: list[Fault] = []

        def go_on(moment: Moment) -> bool:
            fault = critic.judge(moment)
            found.extend([fault] if fault else [])
            return not found

        # Its log lines are not to be taken for the run's.
        with logged_with(rehearsal=perturbation.kind):
            world = self._library, self._observation, perturbation
            result, simulated = self._twin.play(plan, *world, go_on, self._over)
        self.simulated += simulated
        if self._over():
            return None
        return Try(
            perturbation=perturbation,
            fault=found[0] if found else None,
            seconds=time.monotonic() - began,
            simulated=simulated,
            margin=critic.margin,
            result=result,
        )


def _concluded(attempt: str, status: Status, tries: list[Try]) -> Rehearsed:
    faults = [t.fault for t in tries if t.fault is not None]
    fault = worst(faults) if status != "accepted" else None
    passed = len(tries) - len(faults)
    sentence = f"rehearsed: {passed} of {len(tries)} tries went well"
    if fault is not None:
        alike = sum(f.kind_and_step == fault.kind_and_step for f in faults)
        sentence = f"rehearsed: {fault.sentence}; {alike} of {len(tries)} tries"
    return Rehearsed(
        attempt=attempt,
        status=status,
        share=passed / len(tries) if tries else 0.0,
        sentence=sentence,
        fault=fault,
        suspects=(fault.action,) if fault and fault.action and status == "rejected" else (),
        tries=tuple(tries),
    )


def ruling(faults: list[Fault | None], of: int) -> Status | None:
    """Return the judgement after these tries out of `of`; None while more are needed."""
    failed = [f for f in faults if f is not None]
    alike = Counter(f.kind_and_step for f in failed).most_common(1)
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
    """Return the first fault of the most frequent kind; None without faults."""
    if not faults:
        return None
    sort = Counter(f.kind_and_step for f in faults).most_common(1)[0][0]
    return next(f for f in faults if f.kind_and_step == sort)
