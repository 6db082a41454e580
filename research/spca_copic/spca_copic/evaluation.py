"""Frozen programs and selector on cases never trained on, beside other ways to choose."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial

import numpy as np

from spca_copic.baselines.adaplanner import AdaPlanner
from spca_copic.baselines.base import (
    ChainOfThought,
    FewShots,
    ModelPlans,
    Prospector,
    React,
    Reflexion,
    Vanilla,
)
from spca_copic.baselines.judge import ModelJudge
from spca_copic.baselines.llm_dp import LlmDp
from spca_copic.baselines.repl_plan import ReplPlan
from spca_copic.episode import Choice, Moment, ProgramChoice, RandomChoice, SelectorChoice, run_episode
from spca_copic.pool import ProgramPool
from spca_copic.ports import Selector
from spca_copic.recipe import BUILTIN, WITH_MODEL, Recipe, TaskState, cases_to_test
from spca_copic.rollouts import Rollouts
from spca_core.errors import InputError, one_of
from spca_core.model import Record
from spca_core.ports.chat import ChatModel
from spca_core.result import Usage
from spca_programs.plan_world import Case, Episode
from spca_programs.ports.plan_world import PlanWorld

_PLANS: tuple[type[ModelPlans], ...] = (
    Vanilla, React, ChainOfThought, FewShots, Reflexion, Prospector, AdaPlanner, ReplPlan, LlmDp
)  # fmt: skip
ASKED = dict(zip(WITH_MODEL[1:], _PLANS, strict=True))
POLICIES = (*BUILTIN, *WITH_MODEL)


class Score(Record):
    """One way to choose over the test cases of a task type."""

    policy: str
    task: str
    episodes: int
    success: float
    """Share, 0-1."""
    score: float
    """Mean sum of rewards."""
    decisions: float
    """Mean of an episode."""
    actions: float
    """Mean of an episode."""
    selector_seconds: float
    """Mean wall time of a choice."""
    seconds: float
    """Mean wall time of an episode."""
    switch_interval: float
    """Mean number of decisions in a row in which one program is followed."""
    tokens: float = 0.0
    """Mean of an episode, asked and answered."""
    calls: float = 0.0
    best_single: bool = False
    """Whether it is the program that did best alone in training."""
    by_try: tuple[float, ...] = ()
    """Share solved by each try of a policy that has several, as Fig. 3 of the paper has it."""


def evaluate(
    world: PlanWorld,
    state: TaskState,
    selector: Selector,
    recipe: Recipe,
    cases: Sequence[Case],
    policies: Sequence[str] = ("selector",),
    model: ChatModel | None = None,
    on_episode: Callable[[str, Episode], None] = lambda policy, episode: None,
) -> list[Score]:
    """Run every policy on every case.

    Raises InputError for an unknown policy, or one that needs a model there is none of.
    """
    for policy in policies:
        if policy not in POLICIES:
            raise InputError(f"unknown policy '{policy}'", hint=one_of(policy, POLICIES))
        if asks_model([policy], recipe) and model is None:
            raise InputError(f"'{policy}' asks a language model", hint="configure one (see docs/models.md)")
    if isinstance(selector, ModelJudge):
        selector.model, selector.briefing = model, world.briefing(state.task)
    scores: list[Score] = []
    score = partial(_score, world, state, cases, on_episode)
    trusted = recipe.trusted(world.briefing(state.task))
    with ProgramPool(state.programs, recipe.deadline_s, trusted) as programs:
        programs.use(state.programs, state.worth)
        programs.check()
        for policy in dict.fromkeys(policies):  # one that is named twice runs once
            if policy == "programs":
                each = [ProgramChoice(program.id) for program in programs.programs]
                scores += [score(choice.name, choice, programs) for choice in each]
            elif policy in ASKED and model is not None:
                plans = ASKED[policy](model, world.briefing(state.task), state.recent, recipe.deadline_s)
                with closing(plans):
                    found = score(plans.name, ProgramChoice("model"), plans, plans.usage)
                    scores.append(found.model_copy(update={"by_try": plans.by_try}))
            elif policy == "judge" and model is not None:
                judge = ModelJudge(model, world.briefing(state.task))
                choice = SelectorChoice(judge, plain=True)
                scores.append(score(judge.name, choice, programs, judge.usage))
            elif policy == "selector":
                asked = selector.usage if isinstance(selector, ModelJudge) else ()
                scores.append(score(*_frozen(state, selector, recipe), programs, asked))
            else:
                other = RandomChoice(recipe.seed) if policy == "random" else OracleChoice()
                scores.append(score(other.name, other, programs))
    return scores


def asks_model(policies: Sequence[str], recipe: Recipe) -> bool:
    """Return whether one of the policies asks a model, with what was trained by this recipe."""
    return any(p in WITH_MODEL or (p == "selector" and recipe.selector == "judge") for p in policies)


def _frozen(state: TaskState, selector: Selector, recipe: Recipe) -> tuple[str, Choice]:
    """Return the choice that a training ended with: the selector, or one program where that was no worse."""
    choice = SelectorChoice(selector, plain=recipe.published)
    if state.follow:
        return f"{choice.name}, following {state.follow}", ProgramChoice(state.follow)
    return choice.name, choice


def _score(
    world: PlanWorld,
    state: TaskState,
    cases: Sequence[Case],
    on_episode: Callable[[str, Episode], None],
    name: str,
    choice: Choice,
    pool: ProgramPool,
    asked: Sequence[Usage] = (),
) -> Score:
    episodes = []
    began = time.monotonic()
    for case in cases:
        play = pool.play if isinstance(pool, ModelPlans) else partial(run_episode, pool=pool)
        episodes.append(play(world, case, choice=choice))
        on_episode(name, episodes[-1])
    seconds = time.monotonic() - began
    decisions = [d for e in episodes for d in e.decisions]
    return Score(
        policy=name,
        task=state.task,
        episodes=len(episodes),
        success=float(np.mean([e.success for e in episodes])),
        score=float(np.mean([e.score for e in episodes])),
        decisions=float(np.mean([len(e.decisions) for e in episodes])),
        actions=float(np.mean([e.actions for e in episodes])),
        selector_seconds=float(np.mean([d.seconds for d in decisions])) if decisions else 0.0,
        seconds=seconds / len(episodes),
        switch_interval=switch_interval(episodes),
        tokens=sum(u.input_tokens + u.output_tokens for u in asked) / len(episodes),
        calls=len(asked) / len(episodes),
        best_single=name == f"program {state.best_single}",
    )


def switch_interval(episodes: Sequence[Episode]) -> float:
    """Decisions per stretch in which one program is followed (any of those that proposed the plan)."""
    decisions = stretches = 0
    for episode in episodes:
        followed: set[str] = set()
        for decision in episode.decisions:
            by = set(decision.candidates[decision.chosen].programs)
            decisions += 1
            if followed & by:
                followed &= by
            else:
                stretches += 1
                followed = by
    return decisions / stretches if stretches else 0.0


def unseen_cases(world: PlanWorld, task: str, recipe: Recipe, count: int) -> tuple[Case, ...]:
    """Cases that the training with this recipe has not seen, unless it was to learn on them."""
    return cases_to_test(world, task, recipe.fitted(world.briefing(task)), count)


class OracleChoice:
    """Rolls out every program alone to the end from the present state, and takes the first step of the best.

    Policy improvement by rollouts (D. Bertsekas): never worse than the best single program, and better where
    programs are good at different stages.
    """

    name = "oracle"

    def __init__(self) -> None:
        self._rollouts = Rollouts()
        self._following, self._sure = "", False

    def choose(self, moment: Moment) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`."""
        if not moment.decisions:
            self._rollouts, self._following, self._sure = Rollouts(), "", False
        value = 0.0
        if not self._sure or not any(self._following in c.programs for c in moment.candidates):
            outcomes = {p.id: self._rollouts.outcome(moment, p.id) for p in moment.pool.programs}
            # The first program of those that do best: stable, so that the oracle does not waver between
            # equals.
            best = max(outcomes, key=lambda id_: outcomes[id_])
            success, value = outcomes[best]
            self._following, self._sure = best, success
        return *moment.of(self._following), value
