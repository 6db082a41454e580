"""Records of the bench: trials and their results."""

from __future__ import annotations

from pathlib import Path

from spca_core.model import Record
from spca_programs.experience import Usage
from spca_worldcoder.agent.agent import EnvironmentResult
from spca_worldcoder.bench.baselines import Played


class WorldcoderTrial(Record):
    """One suite with one seed, and the model that writes its programs, if one does."""

    suite: str
    seed: int
    model: str = ""
    """Its configuration; empty for the built-in synthesizer."""

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return "/".join(filter(None, (self.suite, Path(self.model).stem, str(self.seed))))


class Spent(Record):
    """Usage of a model by the time that so many actions were taken, in all environments."""

    actions: int
    questions: int
    tokens: int
    usd: float
    explained: float = 0.0
    """Share of the data that the last draft explains."""


class Learned(Record):
    """One environment; `steps` is the median over its last ten episodes."""

    result: EnvironmentResult
    first_success: int
    """Actions up to the end of the first success; 0 without one."""
    successes: tuple[bool, ...] = ()
    """Whether each episode succeeded."""
    ends: tuple[int, ...] = ()
    """Actions by the end of each episode."""
    steps: float


class Solved(Record):
    """Unseen levels of one size, planned in a program and played in the world."""

    program: str
    """`learned`, or `true rules`: the most that learning can come to."""
    boxes: int
    size: int
    solved: int
    levels: int
    seconds: tuple[float, ...]


class Baselines(Record):
    """Success of the baselines in an environment."""

    environment: str
    chance: float
    react: Played | None = None
    ppo: Played | None = None
    """Of the last 20 episodes; Sokoban only."""


class WorldcoderRow(Record):
    """Result of a trial; `problem` where the data could not be explained."""

    environments: tuple[Learned, ...] = ()
    levels: tuple[Solved, ...] = ()
    on_levels: tuple[tuple[int, float], ...] = ()
    """Sokoban: actions by which the program changed, and the share of test levels solved with it then."""
    baselines: tuple[Baselines, ...] = ()
    problem: str = ""
    usage: Usage = Usage()
    """What writing the programs took."""
    spent: tuple[Spent, ...] = ()
    """The same draft by draft."""
