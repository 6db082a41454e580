"""Keeps the agent's program consistent with everything seen, and optimistic, by asking a synthesizer."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from spca_core.ports.proposer import SERVER_FAULTS, ModelError
from spca_programs.experience import EMPTY_PROGRAM, Asked, Draft, Experience, Program, Transition, Verdict
from spca_programs.state import State, in_words
from spca_worldcoder.agent.bandit import Arm, Bandit, search
from spca_worldcoder.agent.planner import ModelPlanner, Plan
from spca_worldcoder.options import Settings
from spca_worldcoder.sandbox import ModelRunner
from spca_worldcoder.synthesizer import ModelSynthesizer

T = TypeVar("T")
_TOLERANCE = 1e-6
_TWICE = 10
"""How many transitions are asked twice, if there are several: who answers differently explains nothing."""


class Modelling:
    """The program, the data it is to explain, and the search for a better one.

    The search has the two phases of Tang, Key and Ellis 2024: first a program that explains all data, then
    one in which the mission can also be accomplished from the episode's first state. A synthesizer that
    counts through its bolder programs (`enumerates`) is asked for them wherever a plan is missing instead.
    """

    def __init__(
        self,
        runner: ModelRunner,
        planner: ModelPlanner,
        synthesizer: ModelSynthesizer,
        settings: Settings,
        rng: np.random.Generator,
        listener: Callable[[Draft, bool], None],
    ) -> None:
        self.runner, self._planner, self._synthesizer = runner, planner, synthesizer
        self._settings, self._rng, self._listener = settings, rng, listener
        self.experience = Experience()
        self.program, self.fits = EMPTY_PROGRAM, True
        self.actions_taken = 0
        self.seconds = 0.0
        """Wall time spent in synthesis."""
        self._planless: set[tuple[str, str]] = set()
        # Within an episode, no plan from a state means none from what the model leads to from there.
        self._reaches: dict[tuple[str, State, str], bool] = {}
        self._asked: set[tuple[Asked, str, str]] = set()
        # Asked about a program and a mission, in vain or not: never again.

    def take(self, experience: Experience, program: Program) -> None:
        """Go on with these data and this program."""
        self.experience, self.program = experience, program
        self.fits = self.judge(program, experience.transitions).fits
        self._planless.clear()
        self._reaches.clear()
        self._asked.clear()

    def begin(self, state: State, mission: str) -> None:
        """Note the first state and the mission of a new episode."""
        self.experience.starts.append((state, mission))
        self._planless.clear()
        if self.experience.transitions and self.fits:
            self._adopt_goal(state)

    def judge(self, program: Program, data: Sequence[Transition]) -> Verdict:
        """The critic's verdict on a program."""
        return judge(self.runner, program, data, self._settings.rewards == "learned")

    def plan(self, state: State, mission: str, actions: Sequence[str]) -> tuple[Plan | None, bool]:
        """A plan, and whether it is one in a bolder program that explains the data too."""
        plan = self._search(self.program, state, mission, actions)
        if plan is not None or not self._settings.optimism or not self._synthesizer.enumerates:
            return plan, False
        for attempt in itertools.count():
            told = (self.program, self.experience, state, mission, attempt)
            bolder = self._timed(partial(self._synthesizer.for_plan, *told))
            if bolder is None:
                break
            plan = self._search(bolder, state, mission, actions, quick=True)
            if plan is not None:
                verdict = self.judge(bolder, self.experience.transitions)
                self._report("plan", bolder, verdict.model_copy(update={"optimistic": True}), False)
                if verdict.fits:
                    return plan, True
        return None, False

    def improve(self, state: State) -> None:
        """Find a program that explains all data, and then one in which the mission can be accomplished.

        `state` is the present one. An answer of a model that cannot be used is a failed draft like any other.
        Raises what else the synthesizer raises.
        """
        start, mission = self.experience.starts[-1]
        if self.fits and not self._lacks_plan(start, mission):
            return
        bandit = Bandit(self._rng, self._settings.strategy)
        if self.program is not EMPTY_PROGRAM:
            bandit.add(self.program, self.judge(self.program, self.experience.transitions))
        if not self.fits:
            full = not self._synthesizer.enumerates  # as published: a model may say another thing
            found = self._refine(bandit, start, mission, lambda verdict: verdict.fits, full)
            if found is not None:
                self.program, self.fits = found[0], found[1].fits
            if not self.fits:
                return
            self._adopt_goal(state)
        if self._lacks_plan(start, mission):
            self._asked.add(("plan", self.program.id, mission))
            found = self._refine(bandit, start, mission, lambda v: v.fits and v.optimistic is True)
            if found is not None and found[1].fits and found[1].optimistic:
                self.program = found[0]

    def _refine(
        self, bandit: Bandit, start: State, mission: str, good: Callable[[Verdict], bool], full: bool = False
    ) -> tuple[Program, Verdict] | None:
        """One phase: every draft is an arm; who repeats himself is given up unless `full`."""
        synthesizer, data = self._synthesizer, self.experience

        def draft(arm: Arm) -> tuple[Program, Verdict] | None:
            program, verdict, tries = arm.program, arm.verdict, arm.tries
            if program is None:
                return self._draft("first", lambda: synthesizer.first(data), good)
            if not verdict.fits:
                return self._draft("refine", lambda: synthesizer.refine(program, data, verdict), good)
            return self._draft(
                "plan", lambda: synthesizer.for_plan(program, data, start, mission, tries), good
            )

        most = self._settings.refinements
        return search(bandit, draft, lambda _, verdict: good(verdict), most, None if full else 3)

    def _adopt_goal(self, state: State) -> None:
        """See to a reward for the mission, unless the program has one that can be come to."""
        start, mission = self.experience.starts[-1]
        if not self._synthesizer.enumerates:
            key: tuple[Asked, str, str] = ("goal", self.program.id, mission)
            if key in self._asked or self._optimistic(self.program, start, mission):
                return
            self._asked.add(key)
        made = self._draft(
            "goal",
            lambda: self._synthesizer.for_goal(self.program, self.experience, state, mission),
            lambda verdict: verdict.fits,
        )
        if made is not None and made[1].fits:
            self.program = made[0]

    def _draft(
        self, asked: Asked, write: Callable[[], Program | None], good: Callable[[Verdict], bool]
    ) -> tuple[Program, Verdict] | None:
        """A program that was written and judged; None where there is no new one."""
        if self._synthesizer.usage.questions >= self._settings.questions:
            return None
        try:
            program = self._timed(write)
        except ModelError as error:
            if error.kind in SERVER_FAULTS:
                raise
            self._report(asked, EMPTY_PROGRAM, Verdict(explained=0.0, problem=str(error)), False)
            return None
        if program is None or (asked == "goal" and program.source == self.program.source):
            return None
        verdict = self.judge(program, self.experience.transitions)
        if asked != "goal" and verdict.fits and not good(verdict):
            optimistic = self._optimistic(program, *self.experience.starts[-1])
            verdict = verdict.model_copy(update={"optimistic": optimistic})
        self._report(asked, program, verdict, good(verdict))
        return program, verdict

    def _lacks_plan(self, start: State, mission: str) -> bool:
        """Return whether the second phase has something to do that it did not try in vain."""
        return (
            self._settings.optimism
            and not self._synthesizer.enumerates
            and ("plan", self.program.id, mission) not in self._asked
            and not self._optimistic(self.program, start, mission)
        )

    def _optimistic(self, program: Program, start: State, mission: str) -> bool:
        """Return whether the mission can be accomplished from `start` in a program; searched for once."""
        key = (program.id, start, mission)
        if key not in self._reaches:
            found = self._planner.plan(program, start, mission, self.experience.actions)
            self._reaches[key] = found is not None
        return self._reaches[key]

    def _search(
        self, program: Program, state: State, mission: str, actions: Sequence[str], quick: bool = False
    ) -> Plan | None:
        key = (program.id, mission)
        if key in self._planless:
            return None
        plan = self._planner.plan(program, state, mission, actions, quick)
        if plan is None:
            self._planless.add(key)
        return plan

    def _timed(self, work: Callable[[], T]) -> T:
        began = time.perf_counter()
        try:
            return work()
        finally:
            self.seconds += time.perf_counter() - began

    def _report(self, asked: Asked, program: Program, verdict: Verdict, adopted: bool) -> None:
        draft = Draft(
            program=program, verdict=verdict, asked=asked, parent=self.program.id,
            actions=self.actions_taken, usage=self._synthesizer.usage,
        )  # fmt: skip
        self._listener(draft, adopted)


def judge(runner: ModelRunner, program: Program, data: Sequence[Transition], rewards: bool = True) -> Verdict:
    """Ask a program about every transition; without `rewards`, only about its next state."""
    if problem := runner.load(program):
        return Verdict(explained=0.0, failing=tuple(range(len(data))), problem=problem)
    if not data:
        return Verdict(explained=1.0)
    steps = [(seen.before, seen.action) for seen in data]
    predicted = runner.predict(program, steps)
    paid = runner.pay(program, [(s.before, s.action, s.after, s.mission) for s in data])
    if len(data) > 1 and runner.predict(program, steps[:_TWICE]) != predicted[:_TWICE]:
        return Verdict(
            explained=0.0, failing=tuple(range(len(data))), problem="equal questions, different answers"
        )
    failing, said = [], []
    for index, (seen, after, pay) in enumerate(zip(data, predicted, paid, strict=True)):
        good = (
            after == seen.after,
            not isinstance(pay, str) and abs(pay[0] - seen.reward) < _TOLERANCE,
            not isinstance(pay, str) and pay[1] == seen.done,
        )
        if not (all(good) if rewards else good[0]):
            failing.append(index)
            said.append(f"{_changed(seen.before, after)}; {_paid(pay)}")
    return Verdict(explained=1 - len(failing) / len(data), failing=tuple(failing), said=tuple(said))


def _changed(before: State, after: State | str) -> str:
    return f"`transition` fails: {after}" if isinstance(after, str) else in_words(before, after)


def _paid(pay: tuple[float, bool] | str) -> str:
    return f"`reward` fails: {pay}" if isinstance(pay, str) else f"reward {pay[0]:g}, ends: {pay[1]}"
