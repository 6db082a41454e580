"""The agent: acts, keeps its world model consistent with everything seen, and plans in it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import numpy as np

from spca_core.errors import Cancelled
from spca_core.model import Record
from spca_core.ports.proposer import ModelError
from spca_worldcoder.agent.bandit import Arm, Bandit, search
from spca_worldcoder.agent.explorer import Explorer
from spca_worldcoder.agent.settings import Settings
from spca_worldcoder.critic import judge
from spca_worldcoder.planning.planner import ModelPlanner, Plan
from spca_worldcoder.records import EMPTY_PROGRAM, Draft, Experience, Program, Transition, Verdict
from spca_worldcoder.sandbox import ModelRunner
from spca_worldcoder.state import State, kinds_in
from spca_worldcoder.synthesizer import ModelSynthesizer
from spca_worldcoder.worlds.world import World

Purpose = Literal["goal", "hope", "explore", "chance"]
"""Why an action was taken: a plan, a plan in a bolder program, a trial, or no model yet."""


class EpisodeResult(Record):
    """One episode."""

    environment: str
    episode: int
    seed: int
    mission: str
    steps: int
    reward: float
    success: bool
    given_up: bool = False


class EnvironmentResult(Record):
    """What learning one environment took. `learned` says whether the last `streak` episodes succeeded."""

    environment: str
    learned: bool
    episodes: int
    actions: int
    actions_to_streak: int
    """Actions before the first of the episodes in a row that succeeded."""
    actions_to_model: int
    """Actions up to the last one that the model had wrong."""
    program_lines: int = 0
    synthesis_s: float = 0.0
    planning_s: float = 0.0
    seconds: float = 0.0


class Listener(Protocol):
    """Is told what happens, as it happens."""

    def step(
        self, environment: str, episode: int, step: int, seen: Transition, purpose: Purpose, right: bool
    ) -> None:
        """A step was taken; `right` is whether the model had it right."""
        ...

    def draft(self, draft: Draft, adopted: bool) -> None:
        """A program was written and judged."""
        ...

    def episode(self, result: EpisodeResult) -> None:
        """An episode ended."""
        ...


class Agent:
    """Learns one environment after the other; program and data go along."""

    def __init__(
        self,
        runner: ModelRunner,
        planner: ModelPlanner,
        synthesizer: ModelSynthesizer,
        settings: Settings,
        listener: Listener,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._runner, self._planner, self._synthesizer = runner, planner, synthesizer
        self.settings, self._listener, self._cancelled = settings, listener, cancelled
        self._rng = np.random.default_rng(settings.seed)
        self._explorer = Explorer(runner)
        self.experience = Experience()
        self.program = EMPTY_PROGRAM
        self.fits = True
        self.actions_taken = 0
        self._synthesis_s = 0.0
        self._queue: list[tuple[str, State | None]] = []
        self._purpose: Purpose = "chance"
        self._hopeless: set[tuple[str, str]] = set()
        # No plan from a state means none from what the model leads to from there.
        self._wrong_at = self._begun_at = 0
        self._given_up = 0
        self._lost_before = False

    @property
    def runner(self) -> ModelRunner:
        """The sandbox that holds its program."""
        return self._runner

    def restore(self, experience: Experience, program: Program, actions_taken: int) -> None:
        """Go on from what an earlier run knew."""
        self.experience, self.program, self.actions_taken = experience, program, actions_taken
        self.fits = self._judge(program).fits
        self._explorer.see(*experience.transitions)

    def forget(self) -> None:
        """Begin anew: nothing goes along."""
        self.experience, self.program, self.fits = Experience(), EMPTY_PROGRAM, True
        self._explorer = Explorer(self._runner)
        self._begun_at = self.actions_taken

    def learn(
        self, world: World, first_episode: int = 0, streak: int = 0, spent: int = 0
    ) -> EnvironmentResult:
        """Act in a world until `settings.streak` episodes in a row succeed, or the limits are reached.

        The last three arguments take up where an interrupted run was. Raises Contradiction, NotLearnable, and
        what the synthesizer raises.
        """
        settings = self.settings
        self.experience.actions = tuple(dict.fromkeys((*self.experience.actions, *world.actions)))
        began, before, planned = time.perf_counter(), self.actions_taken - spent, self._planner.seconds
        synthesized, since, episode = self._synthesis_s, spent, first_episode
        self._wrong_at = max(self._wrong_at, before)
        while (
            streak < settings.streak
            and episode < settings.episodes
            and self.actions_taken - before < settings.actions
        ):
            try:
                result = self._episode(world, episode)
            except Cancelled:
                break
            episode += 1
            streak = streak + 1 if result.success else 0
            if not result.success:
                since = self.actions_taken - before
        return EnvironmentResult(
            environment=world.name,
            learned=streak >= settings.streak,
            episodes=episode,
            actions=self.actions_taken - before,
            actions_to_streak=since,
            actions_to_model=self._wrong_at - before,
            program_lines=self.program.lines,
            synthesis_s=self._synthesis_s - synthesized,
            planning_s=self._planner.seconds - planned,
            seconds=time.perf_counter() - began,
        )

    def _episode(self, world: World, episode: int) -> EpisodeResult:
        seed = int(np.random.default_rng([self.settings.seed, episode]).integers(2**31))
        state, mission = world.reset(seed)
        self.experience.starts.append((state, mission))
        self._queue.clear()
        self._hopeless.clear()
        total, step, success, given_up = 0.0, 0, False, False
        if self.experience.transitions and self.fits:
            self._adopt_goal(state, mission)
        self._explorer.look_closer(self._given_up)
        while step < self.settings.steps:
            if self._cancelled():
                raise Cancelled("learning was cancelled")
            action, expected = self._next(world, state, mission)
            if action is None:
                given_up = True
                break
            state, reward, done = self._act(world, state, mission, action, expected, episode, step)
            total += reward
            step += 1
            if done:
                success = reward > 0
                break
        self._lost_before = given_up and self._lost(state, mission)
        self._given_up = self._given_up + 1 if given_up and not self._lost_before else 0
        result = EpisodeResult(
            environment=world.name,
            episode=episode,
            seed=seed,
            mission=mission,
            steps=step,
            reward=round(total, 6),
            success=success,
            given_up=given_up,
        )
        self._listener.episode(result)
        return result

    def _act(
        self,
        world: World,
        state: State,
        mission: str,
        action: str,
        expected: State | None,
        episode: int,
        step: int,
    ) -> tuple[State, float, bool]:
        """Carry out an action and compare what comes of it with what the model says."""
        after, reward, done = world.step(action)
        self.actions_taken += 1
        seen = Transition(state, action, after, reward, done, mission)
        fresh = self.experience.add(seen)
        right = self._judge(self.program, [seen]).fits if fresh else True
        if not right:
            self.fits = False
            self._wrong_at = self.actions_taken
        if not right or (expected is not None and expected != after):
            self._queue.clear()
        self._explorer.see(seen)
        self._listener.step(world.name, episode, step, seen, self._purpose, right)
        return after, reward, done

    @property
    def _known_steps(self) -> int:
        """Actions since the agent knew nothing."""
        return self.actions_taken - self._begun_at

    def _next(self, world: World, state: State, mission: str) -> tuple[str | None, State | None]:
        """The next action and the state it should lead to; no action when there is nothing left to try."""
        early = self._known_steps < self.settings.curiosity
        curious = early or self._rng.random() < self.settings.epsilon
        enough = self._known_steps >= self.settings.first_data
        if not self.fits and enough:
            self._improve(state, mission)
        if self._queue:
            return self._queue.pop(0)
        if self.fits and enough and not curious and self._follow_plan(world, state, mission):
            return self._queue.pop(0)
        if self._lost(state, mission):
            return None, None
        way, untried = self._explorer.way(self.program, state, mission, world.actions)
        if early and not untried and self._follow_plan(world, state, mission):
            return self._queue.pop(0)
        if not untried and self.fits and self._known_steps > self.settings.first_data:
            return None, None
        self._purpose = "explore"
        self._queue = [(action, None) for action in way]
        return self._queue.pop(0)

    def _lost(self, state: State, mission: str) -> bool:
        """Whether a class that the mission names was there when the episode began and is gone.

        A new episode has as much to show, and can be won. Not twice in a row: perhaps it has to be gone.
        """
        first, _ = self.experience.starts[-1]
        return not self._lost_before and bool(set(mission.split()) & (kinds_in(first) - kinds_in(state)))

    def _follow_plan(self, world: World, state: State, mission: str) -> bool:
        """Queue the steps of a plan; False where there is none."""
        plan, self._purpose = self._plan(world, state, mission)
        self._queue = list(zip(plan.actions, plan.states, strict=True)) if plan is not None else []
        return plan is not None

    def _plan(self, world: World, state: State, mission: str) -> tuple[Plan | None, Purpose]:
        """A plan in the model, or else in a bolder one that explains the data too."""
        plan = self._search(self.program, world, state, mission)
        if plan is not None or not self.settings.optimism:
            return plan, "goal"
        for attempt in itertools.count():

            def write(attempt: int = attempt) -> Program | None:
                return self._synthesizer.for_plan(self.program, self.experience, state, mission, attempt)

            bolder = self._timed(write)
            if bolder is None:
                break
            plan = self._search(bolder, world, state, mission, quick=True)
            if plan is not None:
                verdict = self._judge(bolder)
                self._report(bolder, verdict.model_copy(update={"optimistic": True}), "plan", False)
                if verdict.fits:
                    return plan, "hope"
        return None, "goal"

    def _search(
        self, program: Program, world: World, state: State, mission: str, quick: bool = False
    ) -> Plan | None:
        key = (program.id, mission)
        if key in self._hopeless:
            return None
        plan = self._planner.plan(program, state, mission, world.actions, quick)
        if plan is None:
            self._hopeless.add(key)
        return plan

    def _adopt_goal(self, state: State, mission: str) -> None:
        """See to a reward for the mission."""
        program = self._timed(
            lambda: self._synthesizer.for_goal(self.program, self.experience, state, mission)
        )
        if program.source != self.program.source:
            verdict = self._judge(program)
            self._report(program, verdict, "goal", verdict.fits)
            if verdict.fits:
                self.program = program

    def _improve(self, state: State, mission: str) -> None:
        """Find a program that explains all data: phase 1 of the search."""
        bandit = Bandit(self._rng, self.settings.bandit_constant, self.settings.strategy)
        if self.program is not EMPTY_PROGRAM:
            bandit.add(self.program, self._judge(self.program))

        def draft(arm: Arm) -> tuple[Program, Verdict] | None:
            try:
                made = self._timed(lambda: self._write(arm))
            except ModelError as error:
                self._report(EMPTY_PROGRAM, Verdict(explained=0.0, problem=str(error)), "refine", False)
                return None
            verdict = self._judge(made)
            self._report(made, verdict, "first" if arm.program is None else "refine", verdict.fits)
            return made, verdict

        found = search(bandit, draft, lambda _, verdict: verdict.fits, self.settings.refinements)
        if found is not None:
            self.program, self.fits = found[0], found[1].fits
            if self.fits:
                self._adopt_goal(state, mission)

    def _write(self, arm: Arm) -> Program:
        if arm.program is None:
            return self._synthesizer.first(self.experience)
        failing = arm.verdict.failing
        fitting = [i for i in range(len(self.experience.transitions)) if i not in set(failing)]
        return self._synthesizer.refine(arm.program, self.experience, failing, fitting)

    def _judge(self, program: Program, data: Sequence[Transition] | None = None) -> Verdict:
        """The critic's verdict, on all data unless some are given."""
        data = self.experience.transitions if data is None else data
        return judge(self._runner, program, data, self.settings.rewards == "learned")

    def _timed(self, work):  # type: ignore[no-untyped-def]
        began = time.perf_counter()
        try:
            return work()
        finally:
            self._synthesis_s += time.perf_counter() - began

    def _report(
        self,
        program: Program,
        verdict: Verdict,
        asked: Literal["first", "refine", "goal", "plan"],
        adopted: bool,
    ) -> None:
        draft = Draft(
            program=program, verdict=verdict, asked=asked, parent=self.program.id,
            actions=self.actions_taken, usage=self._synthesizer.usage,
        )  # fmt: skip
        self._listener.draft(draft, adopted)
