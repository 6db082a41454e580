"""`spca bench rl`: how many episodes reinforcement learning needs, next to the published figures.

The learner sees the agent's 7×7 view and the mission.
"""

from __future__ import annotations

import io
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
from matplotlib.figure import Figure
from pydantic import Field

from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import Page, PageTable, new_figure
from spca_benchmarks.campaigns.published import printed
from spca_benchmarks.campaigns.statistics import groups
from spca_benchmarks.minigrid.learning.ppo import Learner, Observed, Settings, require_torch
from spca_core.model import Record
from spca_minigrid.world import make_env

VALIDATED = 512
"""Episodes of a validation."""
FIRST = 500
MARKS = (0.7, 0.99)
_LATER = 1.3
"""Each validation is after so many times the episodes of the last one."""
_SIZES = (11, 6, 3)
"""Kinds, colours and states of a cell."""
_LONGEST = 24  # words of a mission


class RlTrial(Record):
    """One learner in one environment."""

    env: str
    seed: int

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.env}/{self.seed}"


class RlResult(Record):
    """Result of a learning trial."""

    episodes: int
    actions: int
    seconds: float
    curve: tuple[tuple[int, float], ...]
    """Share solved in a validation, after so many episodes."""
    to: dict[str, int | None]
    """By mark (`0.7`, `0.99`): after how many episodes a validation was as good, or None."""


Trials = Sequence[Done[RlTrial, RlResult]]


class RlBench(Bench[RlTrial, RlResult]):
    """Environments × seeds; learning ends at the last mark, or after so many episodes."""

    name = "rl"
    result_type: ClassVar[type[Record]] = RlResult

    environments: tuple[str, ...] = Field(min_length=1)
    """Ids registered with gymnasium, for example `BabyAI-GoToRedBallGrey-v0`."""
    episodes: int = Field(50_000, ge=1)
    seeds: int = Field(3, ge=1)
    settings: Settings = Settings()

    @property
    def title(self) -> str:
        """See `Bench`."""
        return f"Reinforcement learning: PPO, {', '.join(self.environments)}"

    def prepare(self, folder: Path) -> None:
        """See `Bench`: the environments must exist, and torch be installed."""
        for env in self.environments:
            make_env(env)
        require_torch()

    def trials(self) -> list[RlTrial]:
        """Environment by environment."""
        return [RlTrial(env=env, seed=seed) for env in self.environments for seed in range(self.seeds)]

    def run_trial(self, trial: RlTrial, folder: Path) -> RlResult:
        """Learn from nothing."""
        began, episodes, actions = time.monotonic(), 0, 0
        worlds, others = ([View(trial.env) for _ in range(self.settings.worlds)] for _ in range(2))
        learner = Learner(worlds, trial.seed, self.settings)
        curve: list[tuple[int, float]] = []
        while episodes < self.episodes and not (curve and curve[-1][1] >= MARKS[-1]):
            episodes += len(learner.learn())
            actions += self.settings.worlds * self.settings.steps
            if episodes >= (curve[-1][0] * _LATER if curve else FIRST):
                curve.append((episodes, learner.solved(others, VALIDATED)))
        return RlResult(
            episodes=episodes, actions=actions, seconds=round(time.monotonic() - began, 1),
            curve=tuple(curve),
            to={f"{mark:g}": next((n for n, share in curve if share >= mark), None) for mark in MARKS},
        )  # fmt: skip

    def remark(self, done: Done[RlTrial, RlResult]) -> str:
        """See `Bench`."""
        shares = [f"{100 * share:.0f} %" for _, share in done.result.curve[-1:]]
        return f"{', '.join(shares) or 'not validated'} after {done.result.episodes} episodes"

    def table(self, done: Trials) -> PageTable:
        """By environment: means over the seeds, least and most; `>` where a seed did not get there."""
        heads = (
            "environment", "seeds", f"% after {FIRST}",
            "thousand episodes to 70 %", "to 99 %", "actions", "s",
        )  # fmt: skip
        found = groups(done, lambda d: d.trial.env).items()
        return PageTable(heads, [(env, *_row([d.result for d in own])) for env, own in found])

    def report(self, done: Trials, page: Page) -> None:
        """See `Bench`."""
        page.text(
            f"Each share is of {VALIDATED} episodes that were not learned from, with actions drawn as in "
            f"learning: at the first update after {FIRST}, and after each {100 * (_LATER - 1):.0f} % more."
        )
        page.table(
            *printed("SPCA", "Table 5"),
            "Published: means of ten trials, each mark's least and most thousands of episodes.",
        )
        page.table(*printed("WorldCoder", "App. B.1"), "Published for MiniGrid, in actions.")
        for env, own in groups(done, lambda d: d.trial.env).items():
            page.heading(env)
            page.figure(_curves(own))


def _row(results: Sequence[RlResult]) -> tuple[object, ...]:
    first = [100 * r.curve[0][1] for r in results if r.curve]
    return (
        len(results), f"{np.mean(first):.1f}" if first else "", *(_span(results, f"{m:g}") for m in MARKS),
        int(np.mean([r.actions for r in results])), float(np.mean([r.seconds for r in results])),
    )  # fmt: skip


def _span(results: Sequence[RlResult], mark: str) -> str:
    """Thousands of episodes, least and most; `>` all of them where a seed did not get there."""
    found = sorted(((r.to[mark] or r.episodes) / 1000, r.to[mark] is None) for r in results)
    return "–".join(dict.fromkeys(f"{'> ' * missing}{count:.1f}" for count, missing in (found[0], found[-1])))


def _curves(done: Trials) -> Figure:
    """Every seed thin, their mean bold between one standard deviation, as far as all of them go."""
    figure, axis = new_figure()
    curves = [np.array(d.result.curve).T for d in done if d.result.curve]
    if curves:
        axis.plot(*(part for curve in curves for part in curve), color="C0", lw=0.6)
        places = np.geomspace(max(x[0] for x, _ in curves), max(x[-1] for x, _ in curves), 60)
        values = [np.interp(places, x, y) for x, y in curves]  # the last value goes on
        mean, sd = np.mean(values, axis=0), np.std(values, axis=0)
        axis.plot(places, mean, color="C0", lw=2)
        axis.fill_between(places, mean - sd, mean + sd, color="C0", alpha=0.2)
    for mark in MARKS:
        axis.axhline(mark, color="grey", lw=0.5, ls=":")
    axis.set(xlabel="episodes", ylabel="share solved in validation", xscale="log", ylim=(0, 1.02))
    return figure


class View:
    """A MiniGrid environment as `Learnable`: each cell's kind, colour and state as planes."""

    actions: Sequence[str] = ("left", "right", "forward", "pickup", "drop", "toggle", "done")

    def __init__(self, env: str) -> None:
        self._env = make_env(env)

    def begin(self, seed: int, /) -> Observed:
        """See `Learnable`."""
        with redirect_stdout(io.StringIO()):  # BabyAI prints each layout that it rejects
            return self._seen(self._env.reset(seed=seed)[0])

    def act(self, action: int, /) -> tuple[Observed, float, bool, bool]:
        """See `Learnable`."""
        observed, reward, terminated, truncated, _ = self._env.step(action)
        over = terminated or truncated
        return self._seen(observed), float(reward), over, over and reward > 0

    def _seen(self, observed: Mapping[str, Any]) -> Observed:
        parts = np.moveaxis(observed["image"], -1, 0)
        planes = [np.eye(n, dtype=np.uint8)[part] for n, part in zip(_SIZES, parts, strict=True)]
        words = [1 + crc32(word.encode()) % 255 for word in str(observed["mission"]).split()]
        padded = np.array((words + [0] * _LONGEST)[:_LONGEST], np.uint8)
        return Observed(np.moveaxis(np.concatenate(planes, axis=-1), -1, 0), padded)
