"""A referee's judgement, the ways in which a run can end, and its result: verdict, times, counts, signals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Literal, TypeVar

from spca_core.errors import EXIT_INTERRUPTED, EXIT_NOT_SOLVED, EXIT_SUCCESS
from spca_core.model import Record
from spca_core.plan import CodeRecord, DraftRecord, Rehearsed
from spca_core.ports.proposer import Answered


class Outcome(str, Enum):
    """State of a level."""

    RUNNING = "running"
    SUCCESS = "success"
    FAIL = "fail"
    TIMEOUT = "timeout"


NOT_IN_PLACE, NOT_AT_ONCE = WAITING = ("not yet in place", "not all conditions hold at once")
"""Reasons of conditions that are judged only once the others hold."""


class Condition(Record):
    """One condition of a level: its words, whether it holds now, and why not."""

    text: str
    holds: bool
    reason: str = ""


class Verdict(Record):
    """The referee's judgement at `stamp` (simulated s since the level began).

    `score` is the share of conditions met, 0-1.
    """

    outcome: Outcome
    score: float
    stamp: float
    reason: str
    conditions: tuple[Condition, ...] = ()

    @property
    def final(self) -> bool:
        """Nothing can change the verdict any more."""
        return self.outcome is not Outcome.RUNNING


class Ending(str, Enum):
    """The referee's final verdicts, and the ways in which a run ends without one."""

    SUCCESS = "success"
    FAIL = "fail"
    TIMEOUT = "timeout"
    GAVE_UP = "gave_up"
    """The budget is spent, or a skill is missing and there is no coder.

    The budget limits rounds, drafts, tokens, money and time.
    """
    NOT_UNDERSTOOD = "not_understood"
    """The proposer cannot make sense of the task's text."""
    IMPOSSIBLE = "impossible"
    """The proposer understands the task and cannot do it in the observed scene."""
    CANCELLED = "cancelled"
    LOST = "lost"
    """The simulator, the arm's driver or another process that the run needs has gone."""

    @property
    def words(self) -> str:
        """The ending in words, for people: `not understood`."""
        return self.value.replace("_", " ")

    @property
    def judged(self) -> bool:
        """The ending is a referee's verdict."""
        return self in (Ending.SUCCESS, Ending.FAIL, Ending.TIMEOUT)


UNFINISHED = (Ending.CANCELLED, Ending.LOST)
"""Endings before the level's own: the run can go on where its table is there still."""


_C = TypeVar("_C", bound="Counts")


class Counts(Record):
    """Numbers that add up."""

    def plus(self: _C, **more: float) -> _C:
        """Return these numbers with more of some of them."""
        return self.model_copy(update={name: getattr(self, name) + number for name, number in more.items()})

    def __add__(self: _C, other: _C) -> _C:
        return self.plus(**dict(other))


class PlannerCounts(Counts):
    """Planner drafts by mode; `syntax` are those that repaired a rejected draft."""

    fresh: int = 0
    reuse: int = 0
    replan: int = 0
    syntax: int = 0

    def counting(self, drafts: Iterable[DraftRecord]) -> PlannerCounts:
        """Return these counts with those drafts counted."""
        return self.plus(**Counter("syntax" if d.mode == "repair" else d.mode for d in drafts))


class CoderCounts(Counts):
    """Code drafts: of new skills, repairs after an act failure, repairs of rejected code."""

    first: int = 0
    semantic: int = 0
    syntax: int = 0

    def counting(self, drafts: Iterable[CodeRecord]) -> CoderCounts:
        """Return these counts with those drafts counted."""
        return self.plus(**Counter[str](draft.kind for draft in drafts))


class Usage(Counts):
    """Tokens and cost of a model role, wall seconds that it was waited for, requests that have `failed`.

    `priced` are the answers whose price is known: one of a server on this machine costs nothing.
    """

    calls: int = 0
    priced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    failed: int = 0

    @property
    def cost(self) -> str:
        """The cost in words."""
        return cost if (cost := dollars([self])) == _NO_PRICE else f"{cost} US dollars"


_NO_PRICE = "no price"


def dollars(used: Sequence[Usage], trials: int = 1) -> str:
    """Return what calls cost per trial in US dollars, or that they have no price."""
    usd = sum(one.usd for one in used)
    known = usd or any(one.priced for one in used) or not any(one.calls for one in used)
    return f"{usd / trials:.4f}" if known else _NO_PRICE


class Promotion(Record):
    """Changes by a success: skills now trusted in their new form, and skills refused with the reason."""

    promoted: tuple[str, ...] = ()
    refused: dict[str, str] = {}


class SkillCounts(Promotion):
    """Skills of a run by name: `reused` of those that its last plan used, `written` by the coder."""

    reused: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


class RehearsalCounts(Counts):
    """Plans rehearsed, tries made, plans rejected, and rejected plans that were carried out all the same.

    `seconds` of wall time, `cpu` of processor time, `simulated` on the twin's clock.
    """

    plans: int = 0
    tries: int = 0
    rejected: int = 0
    overruled: int = 0
    chosen: int = 0
    """Number of plans in whose place a better one was put."""
    seconds: float = 0.0
    cpu: float = 0.0
    simulated: float = 0.0

    def counting(self, rehearsed: Rehearsed) -> RehearsalCounts:
        """Return these counts with that rehearsal counted."""
        return self.plus(
            plans=1,
            tries=len(rehearsed.tries) + len(rehearsed.others),
            rejected=rehearsed.status == "rejected",
            overruled=rehearsed.overruled,
            chosen=rehearsed.instead is not None,
            seconds=rehearsed.seconds,
            cpu=rehearsed.cpu,
            simulated=rehearsed.simulated,
        )


class RunResult(Record):
    """The result of one level. `wall` and `sim` are seconds from the first look to the verdict."""

    level: str
    outcome: Ending
    verdict: Verdict
    reason: str
    rounds: int
    """Number of times that the world was looked at and planned for."""
    attempts: int = 0
    """Number of plans carried out, repaired skills included: what the published method counts as rounds."""
    steps: int
    planner: PlannerCounts
    coder: CoderCounts
    wall: float
    sim: float
    stage_wall: dict[str, float]
    usage: dict[str, Usage] = {}
    skills: SkillCounts = SkillCounts()
    rehearsal: RehearsalCounts = RehearsalCounts()

    @property
    def success(self) -> bool:
        """The referee's verdict is success."""
        return self.outcome is Ending.SUCCESS

    @property
    def refused(self) -> bool:
        """Nothing was done because of what the task says."""
        return self.outcome in (Ending.NOT_UNDERSTOOD, Ending.IMPOSSIBLE) and not self.attempts

    @property
    def answer(self) -> str:
        """The answer to a question that was asked as a task; empty where it was none."""
        asked = self.outcome is Ending.NOT_UNDERSTOOD and self.reason.endswith(Answered.NOTE)
        return self.reason.removesuffix(Answered.NOTE) if asked else ""

    @property
    def words(self) -> str:
        """The ending in words; a success that the look afterwards could not show is `carried out`."""
        asks = self.reason.endswith("?") and not self.reason.startswith("I do not ")  # understand a word
        if self.outcome is Ending.NOT_UNDERSTOOD and (self.answer or asks):
            return "answered" if self.answer else "question"
        return "carried out" if self.success and self.verdict.score < 1 else self.outcome.words

    @property
    def exit_status(self) -> int:
        """Exit status of `spca run`."""
        if self.success:
            return EXIT_SUCCESS
        return EXIT_INTERRUPTED if self.outcome is Ending.CANCELLED else EXIT_NOT_SOLVED


SIGNALS = "signals.json"
"""Name of the signals' file in a run's folder, where the environment has any signals."""


class Plot(Record):
    """One plot: its lines by name, each with a value for every stamp, in `unit`."""

    title: str
    unit: str
    lines: dict[str, tuple[float, ...]]


class DrawnShape(Record):
    """A part of a body: its half sizes along x, y, z (m), RGB (0 to 255), and its pose in the body's frame.

    Cylinders stand along z.
    """

    body: int
    kind: Literal["box", "cylinder", "sphere"]
    size: tuple[float, float, float]
    colour: tuple[int, int, int]
    position: tuple[float, float, float]
    wxyz: tuple[float, float, float, float]


class MovingScene(Record):
    """Robot and things over time, to be drawn.

    For each stamp, `poses` has the position (0.1 mm) and the orientation (w, x, y, z in 1/1000) of one body
    after the other in the frame `world`.
    """

    stamps: tuple[float, ...]
    shapes: tuple[DrawnShape, ...]
    poses: tuple[tuple[int, ...], ...]


class Signals(Record):
    """Plots over one time axis: `stamps` of the run's clock, in the order they were lived through."""

    stamps: tuple[float, ...]
    plots: tuple[Plot, ...]
    scene: MovingScene | None = None
