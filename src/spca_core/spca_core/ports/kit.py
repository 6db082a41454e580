"""Port: a kit, which makes a world usable by spca: levels, environments, built-in proposer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from spca_core.errors import Unsupported
from spca_core.model import Record
from spca_core.options import RunOptions
from spca_core.run_folder import RunFolder

if TYPE_CHECKING:  # every command looks for kits
    import numpy as np
    from numpy.typing import NDArray

    from spca_core.plan import Draft, Plan
    from spca_core.ports.chat import VisionModel
    from spca_core.ports.environment import Environment
    from spca_core.ports.proposer import PlanProposer
    from spca_core.ports.stages import Twin
    from spca_core.ports.vocabulary import Vocabulary
    from spca_core.scene import Observation, SceneObject
    from spca_core.skill import CtxApi

DocumentMaker = Callable[[RunFolder, RunOptions], Path | None]
"""Function that makes one document (video, log) of a finished run: its path, or None if there is nothing."""


class LevelInfo(Record):
    """A level as a list of levels shows it."""

    name: str
    """Name of the level as `spca run` takes it."""
    group: str
    title: str = ""
    about: str
    """The task in a sentence or two."""
    time_limit_s: float | None = None
    """Time limit in simulated seconds; None where the world counts steps."""
    difficulty: str = ""


class LevelFindings(Record):
    """Faults of a level, one sentence per finding.

    Errors prevent the level from running; warnings are probable mistakes.
    """

    where: str
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    reading: str = ""
    """Goal that the built-in proposer reads in the task; empty where that is not known."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """All findings as sentences, each with its kind in front."""
        return (*(f"error: {e}" for e in self.errors), *(f"warning: {w}" for w in self.warnings))


class Kit(ABC):
    """One world, found through the entry-point group `spca.environments`; a class without arguments.

    Constructing it must be cheap: heavy modules are imported by its methods, or for its `late` parts.
    """

    name: str
    """The environment's name, which is also its entry point's, and the prefix of its levels: `name:level`."""
    about: str
    """Description of the world in one line, for lists."""
    time_unit: str = "s"
    """Unit of the world's time, for people: `s` for simulated seconds."""
    has_twin: bool = False
    """Plans can be rehearsed: `twin` makes a world of an observation."""
    takes_sentences: bool = False
    """The world can be given tasks in words: see `sentence_level`, `situation`, `Environment.take_up`."""

    @property
    def presets(self) -> Sequence[str]:
        """Names of the world's distributions of initial states, the default one first."""
        return ("nominal",)

    @property
    @abstractmethod
    def api(self) -> CtxApi:
        """API that a skill may call."""

    @property
    @abstractmethod
    def builtin_skills(self) -> Path:
        """Python file of the skills that come with the environment."""

    @abstractmethod
    def builtin(self) -> PlanProposer:
        """Return the proposer that needs no language model."""

    @abstractmethod
    def vocabulary(self) -> Vocabulary:
        """Return the mapping between the world's observations and PDDL."""

    @abstractmethod
    def levels(self) -> Sequence[LevelInfo]:
        """Return every level that comes with the world, in the order of the curriculum."""

    @abstractmethod
    def check(self, options: RunOptions) -> None:
        """Raise InputError unless a run with these options can start.

        This happens before anything is written or moved.
        """

    @abstractmethod
    def build(self, options: RunOptions, vision: VisionModel | None = None) -> Environment:
        """Build the environment in this process, in lockstep. InputError for an unknown level or preset."""

    @contextmanager
    def session(self, options: RunOptions, vision: VisionModel | None = None) -> Iterator[Environment]:
        """Open the environment of a run, with a live view on request, and close it at the end."""
        with closing(self.build(options, vision)) as environment:
            yield environment

    def documents(self, options: RunOptions) -> Iterator[Sequence[DocumentMaker]]:
        """Yield the makers of a finished run's documents in groups: after each the report is written anew."""
        yield ()

    def start_picture(self, level: str) -> NDArray[np.uint8] | None:
        """Return a level's camera picture (RGB) at its beginning; None where there is no picture."""
        return None

    def published(self) -> tuple[str, ...]:
        """Return the levels that stand for those for which a paper reports results, in the paper's order."""
        return ()

    def examine(self, level: str, world: str = "") -> LevelFindings:
        """Return all errors and warnings. Raises InputError only when there is no such level or world."""
        self.check(RunOptions(level=level, world=world))
        return LevelFindings(where=level)

    def domain(self) -> str:
        """Return the planning domain of the world's skills, as PDDL, where there is only one; else empty.

        A comment behind a predicate says when it holds.
        """
        return ""

    def sentence_level(self, sentence: str, world: str = "", conversation: Sequence[str] = ()) -> str:
        """Return the text of a level file with that task, judged by a look (see `spca_core.plan.Judge`)."""
        raise Unsupported(f"environment '{self.name}' takes no sentences")

    def room(self, options: RunOptions) -> str:
        """Where in a run's world things can be put, for a model; empty where nobody can say."""
        return ""

    def no_room(self, options: RunOptions, plan: Plan, seen: Observation) -> str:
        """Say for which place of a plan no room is seen, and why; empty where there is, or nobody can say."""
        return ""

    def situation(self, observation: Observation) -> Draft:
        """Return the planning domain of its own skills, and what is seen as a problem without a goal."""
        raise Unsupported(f"environment '{self.name}' takes no sentences")

    def answer(self, question: str, look: Callable[[], Observation]) -> str | None:
        """Return the answer to a question about what is seen; None, without a look, if it is no question."""
        return None

    def names_a_thing(self, words: str) -> bool:
        """Return whether words such as "the red cube" name a thing, and say nothing else."""
        return False

    def understands(self, sentence: str, seen: Observation) -> bool:
        """Return whether a task makes sense by itself where that is seen, be it possible or not."""
        return False

    def spot_in_words(self, thing: SceneObject) -> str:
        """Return words of a task that put something just where a thing was seen; empty if there are none."""
        return ""

    def twin(self, options: RunOptions) -> Twin:
        """Return the twin for a run with these options. Only the world's description is used of the level."""
        raise Unsupported("no rehearsal", hint=f"{self.name} has no twin to rehearse in")

    def ros(self) -> Any:
        """Return the world's ROS side (`spca_ros.stages.RosSide`); None where it runs in one process only."""
        return None


class _Late:
    def __init__(self, target: str) -> None:
        self._target = target

    def __get__(self, kit: Kit | None, kind: type[Kit]) -> Any:
        return self if kit is None else resolve_name(self._target)


def late(target: str) -> Any:
    """Return a part of a kit that is what `module:attribute` names, imported when it is first asked for."""
    return _Late(target)
