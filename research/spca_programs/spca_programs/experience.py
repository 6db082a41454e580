"""Experience and beliefs of an agent: transitions, missions and programs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field

from spca_core import result
from spca_core.model import Record
from spca_programs.ipp.dialogue import Dialogue
from spca_programs.state import State, from_json, to_json


@dataclass(frozen=True)
class Transition:
    """One step. `mission` is the text that the episode was given."""

    before: State
    action: str
    after: State
    reward: float
    done: bool
    mission: str


class TransitionLine(Record):
    """A step as one line of `transitions.jsonl`; `after` is empty where nothing changed."""

    environment: str
    episode: int
    step: int
    before: list[Any]
    action: str
    after: list[Any] | None
    reward: float
    done: bool
    mission: str
    purpose: str = ""
    """Why the action was taken."""
    right: bool = True
    """Whether the model had predicted it."""

    @classmethod
    def of(cls, seen: Transition, **more: Any) -> TransitionLine:
        """The line of a transition; `more` is what the transition itself does not say."""
        after = None if seen.after == seen.before else to_json(seen.after)
        return cls(**{**vars(seen), "before": to_json(seen.before), "after": after, **more})

    def transition(self) -> Transition:
        """The transition of the line. InputError when its states are damaged."""
        before = from_json(self.before)
        after = before if self.after is None else from_json(self.after)
        return Transition(before, self.action, after, self.reward, self.done, self.mission)


def words_apart(one: str, other: str) -> int:
    """Count the words to be put in, left out or replaced between two missions (Levenshtein)."""
    ours, theirs = one.split(), other.split()
    row = list(range(len(theirs) + 1))
    for i, word in enumerate(ours, 1):
        previous, row[0] = row[0], i
        for j, its in enumerate(theirs, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (word != its))
    return row[-1]


class Program(Record):
    """A world model: source of `transition(state, action)` and `reward(before, action, after, mission)`.

    `rules` is the same in the form of rules (JSON of `induction.rulebook.Rulebook`) where the writer knows
    it; planners may use it to find plans, which count only when the source agrees with every step.
    """

    source: str
    rules: str = ""
    origin: str = ""
    """Who wrote it, and why."""

    @property
    def id(self) -> str:
        """Equal for equal source."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:12]

    @property
    def lines(self) -> int:
        """Length of the source, in lines that are not empty."""
        return sum(bool(line.strip()) for line in self.source.splitlines())


EMPTY_PROGRAM = Program(
    source="def transition(state, action):\n    return state\n\n\n"
    "def reward(before, action, after, mission):\n    return 0.0, False\n",
    origin="nothing known yet",
)


@dataclass
class Experience:
    """All that was seen so far, in every environment: transitions in order, missions, and the actions.

    Equal transitions are kept once; two that differ only in what came of them are a contradiction, which is
    for the reader of the data to name.
    """

    actions: tuple[str, ...] = ()
    transitions: list[Transition] = field(default_factory=list)
    starts: list[tuple[State, str]] = field(default_factory=list)
    """(first state, mission) of every episode."""
    _known: set[Transition] = field(default_factory=set, repr=False)

    def add(self, seen: Transition) -> bool:
        """Keep a transition; False when an equal one is known."""
        if seen in self._known:
            return False
        self._known.add(seen)
        self.transitions.append(seen)
        return True


class Usage(result.Usage):
    """Cost of writing programs: questions to a model, each of some calls, tokens, money."""

    questions: int = 0

    def and_of(self, asked: Dialogue) -> Usage:
        """This and a question more."""
        return self.plus(questions=1, **dict(asked.usage))

    @property
    def tokens(self) -> int:
        """Of questions and answers."""
        return self.input_tokens + self.output_tokens


class Verdict(Record):
    """A critic's verdict on a program: which share of the data it explains, whether it can reach a reward."""

    explained: float = Field(ge=0, le=1)
    """Share of the transitions that it predicts right: next state, reward and end."""
    failing: tuple[int, ...] = ()
    """Indices of the transitions that it predicts wrong."""
    said: tuple[str, ...] = Field((), exclude=True, repr=False)
    """What it predicts there instead, or its exception, in words; in the order of `failing`."""
    problem: str = ""
    """Why it cannot be used at all (it does not load, say)."""
    optimistic: bool | None = None
    """Whether a plan to a reward exists in it; None where that was not asked."""

    @property
    def fits(self) -> bool:
        """True if every transition is explained."""
        return not self.failing and not self.problem


Asked = Literal["first", "refine", "goal", "plan"]
"""What a draft was asked for."""


class Draft(Record):
    """A program that somebody wrote, and what the critics said."""

    program: Program
    verdict: Verdict
    asked: Asked
    parent: str = ""
    actions: int = 0
    """How many actions the agent had taken by then."""
    usage: Usage = Usage()
    """What its writer had taken by then, for all its programs."""


class Contradiction(Exception):
    """Transitions that no deterministic, fully observed world can show together.

    `indices` are theirs in the data.
    """

    def __init__(self, message: str, indices: tuple[int, ...]) -> None:
        self.indices = indices
        super().__init__(message)


class NotLearnable(Exception):
    """Failure of the built-in synthesizer's rules to express what was seen, no fault of the world.

    A language model may write it.
    """

    def __init__(self, why: str) -> None:
        super().__init__(
            f"{why}; the built-in synthesizer knows no rules for this, a language model may write some: "
            "--synthesizer language"
        )
