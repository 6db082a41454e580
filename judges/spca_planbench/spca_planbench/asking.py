"""Common base of both benches: a chat model is asked, its answer judged, and asked again after a no."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import Field

from spca_benchmarks.campaigns.bench import Bench, Done, TrialT
from spca_benchmarks.campaigns.campaign import recorded
from spca_benchmarks.campaigns.page import PageTable
from spca_benchmarks.campaigns.statistics import Rate, groups
from spca_core.model import Record
from spca_core.options import REPLAY
from spca_core.ports.proposer import ModelError
from spca_core.result import Usage
from spca_llm.chat import open_chat
from spca_llm.config import load_config
from spca_llm.exchange import server_fault, set_aside
from spca_programs.ipp.dialogue import Dialogue

T = TypeVar("T")
LEVELS = ("parseable", "solvable", "correct")
"""Each implies the one before. For a plan, solvable means that every step can be done."""
_SYSTEM = "You write plans and planning problems. Answer with nothing but what is asked for."


@dataclass(frozen=True)
class Verdict:
    """Of one answer: how far it came (see `LEVELS`, 0 for not even parseable), and the critics' refusal.

    The critics do not know what would be correct.
    """

    level: int
    refusal: str = ""

    @property
    def reached(self) -> tuple[int, ...]:
        """1 for each level that was reached, to be added up."""
        return tuple(int(self.level > k) for k in range(len(LEVELS)))


class Written(Record):
    """Counts of `answers` answers that reached each level, the first ones and those after repair.

    `published` is how many of them others found correct, `differ` names those with another verdict here.
    `reread` is how many are correct by the plan that they mark as such, where they do.
    """

    answers: int = 1
    first: tuple[int, ...]
    last: tuple[int, ...]
    published: int | None = None
    reread: int | None = None
    differ: tuple[str, ...] = ()
    questions: int = 0
    usage: Usage = Usage()
    refusals: tuple[str, ...] = ()


class WrittenBench(Bench[TrialT, Written], Generic[TrialT]):
    """Questions to the model of `llm`, each with up to `rounds` further ones after a refusal."""

    result_type: ClassVar[type[Record]] = Written
    grouped: ClassVar[tuple[str, ...]]
    """What the rows of the table are: names of `group`."""

    llm: str = ""
    count: int = Field(15, ge=1)
    """Of each kind of question or answer, evenly spread."""
    rounds: int = Field(3, ge=0)

    @abstractmethod
    def group(self, trial: TrialT) -> tuple[str, ...]:
        """The row that a trial belongs to; see `grouped`."""

    def some(self, questions: Sequence[T]) -> list[T]:
        """As many of them as are asked."""
        step = max(1.0, len(questions) / self.count)
        return [questions[int(k * step)] for k in range(min(self.count, len(questions)))]

    def identity(self) -> Mapping[str, Any]:
        """See `Bench`; the same wherever the data lie, and for a replay of the model that was asked."""
        places = {name: value.name for name, value in self if isinstance(value, Path)}
        roles: Any = None
        if self.llm.startswith(REPLAY):
            roles = recorded(Path(self.llm.removeprefix(REPLAY)), "roles")
        elif self.llm:
            roles = load_config(Path(self.llm)).model_dump(mode="json")["roles"]
        return {**super().identity(), **places, "llm": bool(self.llm), "roles": roles}

    def ask(self, trial: TrialT, folder: Path, question: str, judge: Callable[[str], Verdict]) -> Written:
        """Ask, judge, and ask again with the refusal. The exchanges are kept in the campaign's folder."""
        place = _record(trial.key, folder)
        llm = self.llm
        if llm.startswith(REPLAY):
            llm = f"{REPLAY}{_record(trial.key, Path(llm.removeprefix(REPLAY)))}"
        dialogue = Dialogue(open_chat(llm, place), _SYSTEM)
        verdicts = [judge(dialogue.ask(question))]
        while verdicts[-1].refusal and len(verdicts) <= self.rounds:
            again = f"This was refused: {verdicts[-1].refusal}\nWrite all of it again, in the same form."
            verdicts.append(judge(dialogue.ask(again)))
        if fault := server_fault(place):
            raise ModelError(fault, "unreachable")
        return Written(
            first=verdicts[0].reached, last=verdicts[-1].reached, questions=dialogue.questions,
            usage=dialogue.usage, refusals=tuple(v.refusal for v in verdicts if v.refusal),
        )  # fmt: skip

    def cost(self, result: Written) -> float:
        """See `Bench`."""
        return result.usage.usd

    def cost_of_broken(self, trial: TrialT, folder: Path) -> float:
        """See `Bench`."""
        return set_aside(_record(trial.key, folder), folder / "broken" / trial.key)

    def success(self, result: Written) -> bool | None:
        """See `Bench`."""
        return result.last[-1] == result.answers

    def remark(self, done: Done[TrialT, Written]) -> str:
        """See `Bench`."""
        return "; ".join((*done.result.refusals, *done.result.differ))[:200]

    def table(self, done: Sequence[Done[TrialT, Written]]) -> PageTable:
        """By `grouped`: how many answers are parseable, solvable and correct, first and after repair."""
        return self.table_by(done, self.grouped, self.group)

    def table_by(
        self,
        done: Sequence[Done[TrialT, Written]],
        names: tuple[str, ...],
        group: Callable[[TrialT], tuple[str, ...]],
    ) -> PageTable:
        """The same by another grouping."""
        by_row = groups(done, lambda d: group(d.trial))
        if asked := [d for d in done if d.result.questions]:
            by_row[("all asked",) + ("",) * (len(names) - 1)] = asked
        heads = (*names, "answers", *LEVELS, "95 % interval", "after repair", "questions",
                 "published as correct", "other verdicts", "correct as marked")  # fmt: skip
        rows = [(*row, *_figures([d.result for d in own])) for row, own in by_row.items()]
        return PageTable(heads, rows).filled()


def _figures(results: Sequence[Written]) -> tuple[object, ...]:
    answers, asked = sum(r.answers for r in results), sum(r.questions for r in results)
    first, last = (
        list(map(sum, zip(*(getattr(r, which) for r in results), strict=True))) for which in ("first", "last")
    )
    published, reread = (
        [n for r in results if (n := getattr(r, name)) is not None] for name in ("published", "reread")
    )
    return (
        answers, *first, Rate(good=first[-1], total=answers).percent_interval,
        " / ".join(map(str, last)) if asked else None, asked or None,
        *((sum(published), sum(len(r.differ) for r in results)) if published else (None, None)),
        sum(reread) if reread else None,
    )  # fmt: skip


def _record(key: str, folder: Path) -> Path:
    return folder / "llm" / key
