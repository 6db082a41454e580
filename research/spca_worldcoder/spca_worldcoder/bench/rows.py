"""What the bench records: trials, and what came of them."""

from __future__ import annotations

from spca_core.model import Record
from spca_worldcoder.agent.agent import EnvironmentResult
from spca_worldcoder.bench.baselines import Played
from spca_worldcoder.records import Usage


class WorldcoderTrial(Record):
    """One suite with one seed."""

    suite: str
    seed: int

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.suite}/{self.seed}"


class Learned(Record):
    """One environment; `steps` and `shortest` are medians over its last ten episodes."""

    result: EnvironmentResult
    first_success: int
    """Actions up to the end of the first success; 0 without one."""
    wrong: tuple[int, ...] = ()
    """The actions, counted from 1, that the program predicted wrong."""
    successes: tuple[bool, ...] = ()
    """Whether each episode succeeded."""
    steps: float
    shortest: float | None = None
    """What someone with full knowledge of the rules would take, in known MiniGrid environments."""


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
    """How much others succeed in an environment."""

    environment: str
    chance: float
    q_table: float
    """After `Q_ACTIONS` actions, in the last 20 episodes."""
    react: Played | None = None


class WorldcoderRow(Record):
    """What a trial came to; `problem` where the data could not be explained."""

    environments: tuple[Learned, ...] = ()
    levels: tuple[Solved, ...] = ()
    baselines: tuple[Baselines, ...] = ()
    explained: tuple[float, ...] = ()
    """The best share explained after each draft, of a refining trial."""
    problem: str = ""
    usage: Usage = Usage()
    """What writing the programs took."""
