"""Records of a world in which short plans are proposed, chosen and executed until a task is done."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from spca_core.errors import InputError, one_of
from spca_core.model import Record

FailureKind = Literal["precondition", "no_effect", "not_found", "violation", "step_limit"]
"""Why an action failed.

precondition: a precondition did not hold; no_effect: it ran and changed nothing; not_found: an object it
names was not where it was expected; violation: it broke a rule of the task; step_limit: the step limit was
reached.
"""

ActionSequence = tuple[str, ...]
"""Ground actions: an action's name and arguments, separated by spaces (`pick_up cube_red table`)."""


class Case(Record):
    """One instance of a task type; the same case always has the same initial state."""

    task: str
    name: str
    seed: int = 0
    detail: dict[str, Any] = {}
    """Plain JSON that the world needs to set it up."""


class Split(Record):
    """Training cases, similar cases, and held-out test cases; the three sets are disjoint."""

    train: tuple[Case, ...]
    seen: tuple[Case, ...] = ()
    unseen: tuple[Case, ...] = ()

    @classmethod
    def of(cls, cases: Sequence[Case], train: int, seen: int) -> Split:
        """The first `train` cases for training, the next `seen`, and the rest for tests."""
        found = tuple(cases)
        return cls(train=found[:train], seen=found[train : train + seen], unseen=found[train + seen :])


def require_task(task: str, tasks: Iterable[str], world: str) -> None:
    """Raises InputError for a task type that a world does not have."""
    if task not in (known := list(tasks)):
        raise InputError(f"unknown task type '{task}'", world, one_of(task, known))


class ActionKind(Record):
    """An action that a plan may use: its name, the names of its parameters, and plain JSON about it."""

    name: str
    parameters: tuple[str, ...] = ()
    about: str = ""
    detail: dict[str, Any] = {}

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The action as programs see it; worlds hand out the same ones repeatedly."""
        return self.model_dump(mode="json")


class Situation(Record):
    """A planner's current knowledge. `observation` is plain JSON; `text` describes it in words."""

    instruction: str
    observation: dict[str, Any]
    actions: tuple[ActionKind, ...]
    text: str


class Remark(Record):
    """One thing that did not go as planned."""

    kind: FailureKind
    text: str


class Transition(Record):
    """The result of a plan. `done`: the episode is over, with or without `success`."""

    situation: Situation
    reward: float
    success: bool
    done: bool
    remarks: tuple[Remark, ...] = ()


class Briefing(Record):
    """Briefing for the author of a program.

    That is the world as a Python API, and a program for *another* task type as an example.
    """

    task: str
    goal: str
    """What is asked for in this task type, in words, with an example."""
    api: str
    example_task: str = ""
    example: str = ""
    world: str = ""
    """The name of the world."""
    grammar: Record | None = None
    """From what a stand-in for a model puts programs together, where the world itself brings it."""
    programs: int = 3
    """How many programs to keep side by side: three, as published, or more for a task with many ways."""
    episodes: int = 20
    """Episodes of a trial: 20, as published, or more for a task with much to learn."""
    held_out: int = 20
    """Training cases by which programs are chosen; more where cases differ much and episodes are quick."""

    @classmethod
    def read(cls, folder: Path, **told: Any) -> Briefing:
        """Read `api.md` and `example.py` of a world's folder; `told` is the rest."""
        api, example = ((folder / name).read_text(encoding="utf-8") for name in ("api.md", "example.py"))
        return cls(api=api, example=example, **told)


@lru_cache(maxsize=1024)
def _digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:10]


class PlanningProgram(Record):
    """Source text with a function `plan(observation, actions, task)`, and where it comes from."""

    source: str
    proposer: str = "hand-written"
    parents: tuple[str, ...] = ()
    trial: int = 0
    """The trial that it was written for; 0 is the first."""
    fragments: dict[str, str] = {}
    """Slot → fragment, for a program put together from a grammar."""
    remark: str = ""

    @property
    def id(self) -> str:
        """Equal for equal source."""
        return _digest(self.source)


class Candidate(Record):
    """A plan that may be chosen, and the programs (ids) that propose it."""

    plan: ActionSequence
    programs: tuple[str, ...] = ()
    worth: float = 0.0
    """What the best of these programs is worth alone on held-out training cases; 0: unknown."""


class ChoiceContext(Record):
    """Knowledge of a selector when it chooses: words for the situation, and what was done so far."""

    instruction: str
    facts: tuple[str, ...]
    text: str
    decision: int = 0
    """How many plans have been carried out in this episode."""
    last_plan: ActionSequence = ()
    last_failure: str = ""
    """Kind of the last plan's first failure; empty if there was none."""
    tried: tuple[str, ...] = ()
    """Actions carried out so far, the latest last."""


class Decision(Record):
    """One choice and its result. `problems` are programs (ids) without a plan, and why."""

    context: ChoiceContext
    candidates: tuple[Candidate, ...]
    chosen: int
    probabilities: tuple[float, ...]
    value: float
    reward: float
    remarks: tuple[Remark, ...] = ()
    problems: dict[str, str] = {}
    seconds: float = 0.0
    """Wall time of the choice itself."""


class Experience(Record):
    """One choice to learn from; `last` ends an episode.

    Experiences are in the order in which they were made.
    """

    context: ChoiceContext
    candidates: tuple[Candidate, ...]
    chosen: int
    probability: float
    """Probability of the choice at the time it was made."""
    value: float
    """The critic's value estimate at that time."""
    reward: float
    last: bool
    outcomes: tuple[float, ...] = ()
    """The rewards to come that trying each candidate out told; empty where it was not done."""


class Episode(Record):
    """One case from beginning to end."""

    case: Case
    decisions: tuple[Decision, ...]
    success: bool
    ended: str = ""
    """Why it ended without success, in words."""

    @property
    def score(self) -> float:
        """The sum of rewards."""
        return sum(decision.reward for decision in self.decisions)

    @property
    def actions(self) -> int:
        """Number of actions that were carried out or tried."""
        return sum(len(d.candidates[d.chosen].plan) for d in self.decisions)
