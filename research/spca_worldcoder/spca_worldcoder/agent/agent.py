"""The agent: acts, keeps its world model consistent with everything seen, and plans in it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np

from spca_core.errors import Cancelled
from spca_core.model import Record
from spca_programs.experience import (
    EMPTY_PROGRAM,
    Draft,
    Experience,
    NotLearnable,
    Program,
    Transition,
    TransitionLine,
)
from spca_programs.factories import stand_in
from spca_programs.state import State, kinds_in
from spca_worldcoder.agent.modelling import Modelling
from spca_worldcoder.agent.planner import ModelPlanner
from spca_worldcoder.options import Settings
from spca_worldcoder.sandbox import ModelRunner
from spca_worldcoder.synthesizer import ModelSynthesizer
from spca_worldcoder.worlds.world import World

Purpose = Literal["goal", "optimistic", "explore", "chance"]
"""Why an action was taken: a plan, a plan in a bolder program, a trial, or at random."""


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
    """Effort of learning one environment. `learned` says whether the last `streak` episodes succeeded."""

    environment: str
    learned: bool
    episodes: int
    actions: int
    actions_to_model: int
    """Actions up to the last one that the model had wrong."""
    program_lines: int = 0
    synthesis_s: float = 0.0
    planning_s: float = 0.0
    seconds: float = 0.0


class Listener(Protocol):
    """Is told what happens, as it happens."""

    def step(self, line: TransitionLine) -> None:
        """A step was taken."""

    def draft(self, draft: Draft, adopted: bool) -> None:
        """A program was written and judged."""

    def episode(self, result: EpisodeResult) -> None:
        """An episode ended."""


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
        self._planner = planner
        self._settings, self._listener, self._cancelled = settings, listener, cancelled
        self._rng = np.random.default_rng(settings.seed)
        self.model = Modelling(runner, planner, synthesizer, settings, self._rng, listener.draft)
        self._explorer = stand_in("inductive").explorer(runner)
        self._queue: list[tuple[str, State | None]] = []
        self._purpose: Purpose = "chance"
        self._wrong_at = self._begun_at = 0
        self._given_up = 0
        self._lost_before = False

    def restore(self, experience: Experience, program: Program, actions_taken: int) -> None:
        """Go on from what an earlier run knew."""
        self.model.take(experience, program)
        self.model.actions_taken = actions_taken
        self._explorer.see(*experience.transitions)

    def forget(self) -> None:
        """Begin anew: nothing goes along."""
        self.model.take(Experience(), EMPTY_PROGRAM)
        self._explorer = stand_in("inductive").explorer(self.model.runner)
        self._begun_at = self.model.actions_taken

    def learn(
        self, world: World, first_episode: int = 0, streak: int = 0, spent: int = 0
    ) -> EnvironmentResult:
        """Act in a world until `settings.streak` episodes in a row succeed, or the limits are reached.

        The last three arguments take up where an interrupted run was. Raises Contradiction, NotLearnable, and
        what the synthesizer raises.
        """
        settings, model = self._settings, self.model
        model.experience.actions = tuple(dict.fromkeys((*model.experience.actions, *world.actions)))
        began, before, planned = time.perf_counter(), model.actions_taken - spent, self._planner.seconds
        synthesized, episode, idle = model.seconds, first_episode, 0
        self._wrong_at = max(self._wrong_at, before)
        while (
            streak < settings.streak
            and episode < settings.episodes
            and model.actions_taken - before < settings.actions
        ):
            try:
                result = self._episode(world, episode)
            except Cancelled:
                break
            episode += 1
            streak = streak + 1 if result.success else 0
            idle = 0 if result.steps else idle + 1
            if idle == settings.streak:
                raise NotLearnable(
                    f"the rules explain all {len(model.experience.transitions)} transitions, in which "
                    f"'{result.mission}' has no plan, and leave nothing to try in {idle} episodes"
                )
        return EnvironmentResult(
            environment=world.name,
            learned=streak >= settings.streak,
            episodes=episode,
            actions=model.actions_taken - before,
            actions_to_model=self._wrong_at - before,
            program_lines=model.program.lines,
            synthesis_s=model.seconds - synthesized,
            planning_s=self._planner.seconds - planned,
            seconds=time.perf_counter() - began,
        )

    def _episode(self, world: World, episode: int) -> EpisodeResult:
        seed = int(np.random.default_rng([self._settings.seed, episode]).integers(2**31))
        state, mission = world.reset(seed)
        self._queue.clear()
        total, step, success, given_up = 0.0, 0, False, False
        self.model.begin(state, mission)
        self._explorer.look_closer(self._given_up)
        while step < self._settings.steps:
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
        model = self.model
        model.actions_taken += 1
        seen = Transition(state, action, after, reward, done, mission)
        right = model.judge(model.program, [seen]).fits if model.experience.add(seen) else True
        if not right:
            model.fits = False
            self._wrong_at = model.actions_taken
        if not right or (expected is not None and expected != after):
            self._queue.clear()
        self._explorer.see(seen)
        more = {"environment": world.name, "episode": episode, "step": step}
        self._listener.step(TransitionLine.of(seen, **more, purpose=self._purpose, right=right))
        return after, reward, done

    @property
    def _known_steps(self) -> int:
        """Actions since the agent knew nothing."""
        return self.model.actions_taken - self._begun_at

    def _next(self, world: World, state: State, mission: str) -> tuple[str | None, State | None]:
        """The next action and the state it should lead to; no action when there is nothing left to try."""
        early = self._known_steps < self._settings.curiosity
        enough = self._known_steps >= self._settings.first_data
        if self._rng.random() < self._settings.epsilon:
            self._purpose = "chance"
            self._queue.clear()
            return str(self._rng.choice(world.actions)), None
        if enough:
            self.model.improve(state)
        if self._queue:
            return self._queue.pop(0)
        if self.model.fits and enough and not early and self._follow_plan(world, state, mission):
            return self._queue.pop(0)
        if self._lost(state, mission):
            return None, None
        way, untried = self._explorer.way(self.model.program, state, mission, world.actions)
        if early and not untried and self._follow_plan(world, state, mission):
            return self._queue.pop(0)
        if not untried and self.model.fits and self._known_steps > self._settings.first_data:
            return None, None
        self._purpose = "explore"
        self._queue = [(action, None) for action in way]
        return self._queue.pop(0)

    def _lost(self, state: State, mission: str) -> bool:
        """Return whether a class that the mission names was there when the episode began and is gone.

        A new episode has as much to show, and can be won. Not twice in a row: perhaps it has to be gone.
        """
        first, _ = self.model.experience.starts[-1]
        return not self._lost_before and bool(set(mission.split()) & (kinds_in(first) - kinds_in(state)))

    def _follow_plan(self, world: World, state: State, mission: str) -> bool:
        """Queue the steps of a plan; False where there is none."""
        plan, optimistic = self.model.plan(state, mission, world.actions)
        self._purpose = "optimistic" if optimistic else "goal"
        self._queue = list(zip(plan.actions, plan.states, strict=True)) if plan is not None else []
        return plan is not None
