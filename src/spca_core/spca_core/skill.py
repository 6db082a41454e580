"""Skills: their signatures, the calls available to them, and their results."""

from __future__ import annotations

import keyword
from enum import Enum
from typing import Literal

from spca_core.model import Record
from spca_core.scene import Observation


def python_name(symbol: str) -> str:
    """Return the Python identifier for a PDDL name: the skill of an action, the argument of a parameter.

    >>> python_name("Pick-Up"), python_name("from")
    ('pick_up', 'from_')
    """
    name = symbol.lstrip("?").replace("-", "_").lower()
    return f"{name}_" if keyword.iskeyword(name) or name == "ctx" else name


class SkillSignature(Record):
    """A skill as a planner sees it: `parameters` without `ctx`; every argument is a string."""

    name: str
    parameters: tuple[str, ...]
    doc: str = ""


class CtxMethod(Record):
    """One call a skill may make through its `ctx`: Python signature and a line of documentation."""

    name: str
    signature: str
    doc: str


class CtxType(Record):
    """A kind of value that calls return: its fields by name, each with the name of its type."""

    name: str
    doc: str
    fields: dict[str, str]


class CtxApi(Record):
    """Everything that a skill of one environment may use.

    These are calls, the types of their values, helper functions and constants.
    """

    environment: str
    methods: tuple[CtxMethod, ...]
    types: tuple[CtxType, ...] = ()
    helpers: tuple[str, ...] = ()


class FailureKind(str, Enum):
    """Reason why a step failed, as one word; most are the kinds of `MotionError`."""

    UNREACHABLE = "unreachable"
    """The arm has no configuration or no path for it."""
    COLLISION = "collision"
    """The path would hit something; refused before the arm moves."""
    LIMIT = "limit"
    """A joint limit or the tool's workspace would be left; refused before the arm moves."""
    DEVIATION = "deviation"
    """The arm left its trajectory: something may be in the way."""
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    STALE = "stale"
    """Joint states or pictures are too old."""
    GRIPPER = "gripper"
    """The fingers did not do what they were told to."""
    LOST = "lost"
    """The held object left the fingers on the way, whether it slipped or was pulled out."""
    EMPTY_HAND = "empty_hand"
    """There is nothing in the gripper that could be put down."""
    NO_PLACE = "no_place"
    """What the step puts down fits nowhere there."""
    STUCK = "stuck"
    """Nothing came of a primitive (grid worlds)."""
    ERROR = "error"
    """The skill raised an exception, or named a kind that is not listed here."""
    RESULT = "result"
    """The skill's own result says that it failed."""
    KILLED = "killed"
    """The process of the skill ended."""
    REFUSED = "refused"
    """A call on `ctx` was not allowed, or its arguments made no sense."""

    def __str__(self) -> str:
        return self.value

    @classmethod
    def _missing_(cls, value: object) -> FailureKind:
        return cls.ERROR


def fault_of_plan(step: StepReport, held: bool) -> str:
    """Say why a failed step's skill cannot help it, whether or not anything was ever held; "" if it may."""
    kind = step.failure and step.failure.kind
    if kind is FailureKind.NO_PLACE:
        return "the plan must choose another place, or make room before"
    lacking = kind is FailureKind.EMPTY_HAND and not held
    return "no step before it was to pick anything up: the plan lacks one" if lacking else ""


class SkillFailure(Record):
    """Reason why a step failed."""

    kind: FailureKind
    message: str
    line: int | None = None


class StepReport(Record):
    """One executed step of a plan; times are simulated seconds since the level began."""

    index: int
    action: str
    args: tuple[str, ...]
    status: Literal["done", "failed", "cancelled"]
    started: float
    ended: float
    wall_seconds: float
    message: str = ""
    failure: SkillFailure | None = None
    log: tuple[str, ...] = ()
    seen: Observation | None = None
    """Observation of what was certain when the step ended well; None where nothing was."""

    def __str__(self) -> str:
        return f"{self.action}({', '.join(self.args)})"
