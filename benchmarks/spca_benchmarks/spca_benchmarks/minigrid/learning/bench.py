"""`spca bench rl`: how many episodes reinforcement learning needs, next to the published figures.

The learners see the agent's 7×7 view and the mission.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import gymnasium
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pydantic import Field

from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import Page, PageTable, new_figure
from spca_benchmarks.campaigns.plots import legend_beside
from spca_benchmarks.campaigns.published import printed
from spca_benchmarks.campaigns.statistics import groups, median_of
from spca_benchmarks.minigrid.learning.ppo import ppo
from spca_benchmarks.minigrid.learning.q_learning import q_learning
from spca_core.model import Record
from spca_minigrid.world import make_env

Algorithm = Literal["tabular", "ppo"]
WINDOW = 100
"""Episodes over which success is averaged."""
MARKS = (0.7, 0.99)
_ACTIONS = 10**12


OnEpisode = Callable[[bool, int], bool]
"""Called after each episode with whether it ended with a reward, and its number of actions; True ends all."""


_KINDS, _COLOURS, _STATES, _DIRECTIONS = 11, 6, 3, 4
_WORDS = 64


class RlTrial(Record):
    """One learner in one environment."""

    env: str
    algorithm: Algorithm
    seed: int

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.env}/{self.algorithm}/{self.seed}"


class RlResult(Record):
    """Result of a learning trial."""

    episodes: int
    actions: int
    seconds: float
    curve: tuple[float, ...]
    """Share of solved episodes in each hundred, the last one perhaps of fewer."""
    to: dict[str, int | None]
    """By mark (`0.7`, `0.99`): after which episode the share over the last hundred was as high, or None."""
    after_500: float | None
    """Share over the hundred episodes before the 500th."""


Trials = Sequence[Done[RlTrial, RlResult]]


class RlBench(Bench[RlTrial, RlResult]):
    """Environments × algorithms × seeds; learning ends at the last mark, or after so many episodes."""

    name = "rl"
    result_type: ClassVar[type[Record]] = RlResult

    environments: tuple[str, ...] = Field(min_length=1)
    """Ids registered with gymnasium, for example `BabyAI-GoToRedBallGrey-v0`."""
    algorithms: tuple[Algorithm, ...] = ("tabular",)
    episodes: int = Field(5000, ge=WINDOW)
    seeds: int = Field(3, ge=1)
    mazes: int = Field(0, ge=0)
    """Different mazes; 0 is a new one in every episode."""

    @property
    def title(self) -> str:
        """See `Bench`."""
        mazes = f"{self.mazes} mazes in turn" if self.mazes else "a new maze in every episode"
        return f"Reinforcement learning: {', '.join(self.algorithms)}, {mazes}"

    def prepare(self, folder: Path) -> None:
        """See `Bench`: the environments must exist, and PPO be installed if it is wanted."""
        for env in self.environments:
            make_env(env)
        if "ppo" in self.algorithms:
            ppo(FlatView(make_env(self.environments[0])), 0, lambda solved, actions: True)

    def trials(self) -> list[RlTrial]:
        """Environment by environment."""
        return [
            RlTrial(env=env, algorithm=algorithm, seed=seed)
            for env in self.environments
            for algorithm in self.algorithms
            for seed in range(self.seeds)
        ]

    def run_trial(self, trial: RlTrial, folder: Path) -> RlResult:
        """Learn from nothing."""
        outcomes: list[bool] = []
        actions = 0
        began = time.monotonic()

        def on_episode(solved: bool, length: int) -> bool:
            nonlocal actions
            outcomes.append(solved)
            actions += length
            return len(outcomes) >= self.episodes or reached(outcomes, MARKS[-1]) is not None

        if trial.algorithm == "ppo":
            ppo(FlatView(make_env(trial.env), self.mazes), trial.seed, on_episode)
        else:
            world = ViewEpisodes(trial.env, self.mazes)
            q_learning(world, trial.seed, _ACTIONS, world.max_steps, on_episode=on_episode)
        hundreds = [outcomes[i : i + WINDOW] for i in range(0, len(outcomes), WINDOW)]
        after = outcomes[400:500]
        return RlResult(
            episodes=len(outcomes), actions=actions, seconds=round(time.monotonic() - began, 1),
            curve=tuple(sum(h) / len(h) for h in hundreds),
            to={f"{mark:g}": first_reached(outcomes, mark) for mark in MARKS},
            after_500=sum(after) / WINDOW if len(after) == WINDOW else None,
        )  # fmt: skip

    def remark(self, done: Done[RlTrial, RlResult]) -> str:
        """See `Bench`."""
        return f"{100 * done.result.curve[-1]:.0f} % after {done.result.episodes} episodes"

    def table(self, done: Trials) -> PageTable:
        """By environment and algorithm: medians over the seeds; `>` where a seed did not get there."""
        heads = (
            "environment", "algorithm", "seeds", "episodes to 70 %", "to 99 %", "% after 500", "actions", "s",
        )  # fmt: skip
        rows = []
        for name, own in groups(done, lambda d: f"{d.trial.env}/{d.trial.algorithm}").items():
            results = [d.result for d in own]
            after = [r.after_500 for r in results if r.after_500 is not None]
            rows.append(
                (*name.rsplit("/", 1), len(own), *(_median(results, mark) for mark in MARKS),
                 f"{100 * median_of(after):.0f}" if after else "", int(median_of(r.actions for r in results)),
                 median_of(r.seconds for r in results))
            )  # fmt: skip
        return PageTable(heads, rows)

    def report(self, done: Trials, page: Page) -> None:
        """See `Bench`."""
        page.text(
            f"An episode is solved when it ends with a reward; shares are over the last {WINDOW} episodes. "
            "Both learners see the agent's 7×7 view; the tabular one (Q-learning) has a row for each view, "
            "and generalises to no other."
        )
        page.table(
            *printed("SPCA", "Table 5"),
            "Published: means of ten trials with convolutions and recurrent layers, each mark's least and "
            "most thousands of episodes; success is over 512 episodes of validation.",
        )
        for env, own in groups(done, lambda d: d.trial.env).items():
            page.heading(env)
            page.figure(_curves(own))

    def rows(self, done: Done[RlTrial, RlResult]) -> list[Mapping[str, Any]]:
        """One row a learner, without its curve."""
        values = done.result.model_dump(exclude={"curve"})
        return [{"trial": done.trial.key, **done.trial.model_dump(), **values}]


def reached(outcomes: Sequence[bool], mark: float) -> int | None:
    """The number of episodes, if the share over the last hundred of them is at least `mark`."""
    enough = len(outcomes) >= WINDOW and sum(outcomes[-WINDOW:]) >= mark * WINDOW
    return len(outcomes) if enough else None


def first_reached(outcomes: Sequence[bool], mark: float) -> int | None:
    """After how many episodes the share over the last hundred was at least `mark` for the first time.

    >>> first_reached([False] * 50 + [True] * 90, 0.7)
    120
    """
    ends = range(WINDOW, len(outcomes) + 1)
    return next((n for n in ends if reached(outcomes[:n], mark) is not None), None)


def _median(results: Sequence[RlResult], mark: float) -> str:
    """The median over the seeds, those that did not get there counted with all their episodes."""
    found = [r.to[f"{mark:g}"] for r in results]
    value = median_of(n if n is not None else r.episodes for n, r in zip(found, results, strict=True))
    missing = sum(n is None for n in found)
    return f"{'> ' if missing > len(found) / 2 else ''}{value:.0f}"


def _curves(done: Trials) -> Figure:
    figure, axis = new_figure()
    colours: dict[str, str] = {}
    for d in done:
        new = d.trial.algorithm not in colours
        colour = colours.setdefault(d.trial.algorithm, f"C{len(colours)}")
        places = [WINDOW * (i + 1) for i in range(len(d.result.curve))]
        axis.plot(places, d.result.curve, color=colour, lw=1, label=d.trial.algorithm if new else None)
    for mark in MARKS:
        axis.axhline(mark, color="grey", lw=0.5, ls=":")
    axis.set_xlabel("episodes")
    axis.set_ylabel("share solved, by hundreds")
    legend_beside(axis)
    return figure


class ViewEpisodes:
    """See `spca_benchmarks.minigrid.learning.q_learning.Episodic`.

    A state is the view, the direction and the mission; `mazes` seeds are used in turn, 0 for a new maze in
    each episode.
    """

    actions: tuple[str, ...] = ("left", "right", "forward", "pickup", "drop", "toggle", "done")

    def __init__(self, env: str, mazes: int = 0) -> None:
        self._env, self._mazes, self._begun = make_env(env), mazes, 0

    @property
    def max_steps(self) -> int:
        """Actions after which an episode ends."""
        return int(self._env.max_steps)

    def reset(self, seed: int, /) -> tuple[bytes, str]:
        """A new episode: its first state and its mission."""
        self._begun += 1
        observed, _ = self._env.reset(seed=self._begun % self._mazes if self._mazes else seed)
        return _state(observed), str(observed["mission"])

    def step(self, action: str, /) -> tuple[bytes, float, bool]:
        """State, reward, and whether the episode has ended."""
        observed, reward, terminated, truncated, _ = self._env.step(self.actions.index(action))
        return _state(observed), float(reward), terminated or truncated


def _state(observed: dict[str, Any]) -> bytes:
    return bytes(observed["image"].tobytes()) + bytes([int(observed["direction"])])


class FlatView(gymnasium.ObservationWrapper[Any, Any, Any]):
    """The view as one-hot features, with the direction and the mission's words (hashed to 64 places).

    `mazes` seeds are used in turn, 0 for a new maze in each episode.
    """

    def __init__(self, env: Any, mazes: int = 0) -> None:
        super().__init__(env)
        self._mazes, self._begun = mazes, 0
        cells = int(np.prod(env.observation_space["image"].shape[:2]))
        size = cells * (_KINDS + _COLOURS + _STATES) + _DIRECTIONS + _WORDS
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """A new episode."""
        self._begun += 1
        return super().reset(seed=self._begun % self._mazes if self._mazes else seed, options=options)

    def observation(self, observation: Any) -> NDArray[np.float32]:
        """The features of an observation."""
        kinds, colours, states = np.moveaxis(observation["image"], -1, 0).reshape(3, -1)
        words = np.zeros(_WORDS, np.float32)
        words[[sum(word.encode()) % _WORDS for word in str(observation["mission"]).split()]] = 1
        parts = (np.eye(_KINDS)[kinds], np.eye(_COLOURS)[colours], np.eye(_STATES)[states])
        direction = np.eye(_DIRECTIONS)[int(observation["direction"])]
        return np.concatenate([*(p.ravel() for p in parts), direction, words]).astype(np.float32)
