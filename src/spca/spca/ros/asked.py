"""Orders of a session to a run on a graph, by files in that run's folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from spca.order import Order, newest_plan
from spca.stages import Approve, Stages
from spca_core.model import Record
from spca_core.run_folder import RunFolder

ASKED = "asked.json"
"""In the folder of a session's run: a record of `GraphOrder`."""
_ANSWER = "answer.json"
_ANSWER_S = 0.05  # wall seconds between two looks for it


class GraphOrder(Order):
    """Order of a session to a run on a graph."""

    after: str = ""
    """The folder of the run on whose table this one goes on; empty: the table is laid first."""
    asks: bool = False
    """Whoever asked for the run is asked before each plan is carried out: see `give_answer`."""


class PlanAnswer(Record):
    """Answer whether the plan that the event `question` is about may be carried out."""

    yes: bool


def asked_of(folder: RunFolder) -> GraphOrder:
    """Read the order of a session to the run of a folder; without a session, an empty one."""
    return folder.read(ASKED, GraphOrder) if (folder.path / ASKED).is_file() else GraphOrder()


def give_answer(folder: RunFolder, approve: Approve, goal: str) -> None:
    """Have the newest plan of a run elsewhere approved or not, and the answer put into its folder."""
    plan = newest_plan(folder.path)
    folder.write(_ANSWER, PlanAnswer(yes=plan is not None and approve(plan, goal)))


def as_asked(folder: RunFolder, stages: Stages, cancelled: Callable[[], bool]) -> Stages:
    """The stages for what is asked of the run of a folder; an answer is awaited until it is cancelled."""
    asked = asked_of(folder)

    def answered(*_: object) -> bool:
        while not (folder.path / _ANSWER).is_file():
            if cancelled():
                return False
            time.sleep(_ANSWER_S)
        answer = folder.read(_ANSWER, PlanAnswer)
        (folder.path / _ANSWER).unlink()
        return answer.yes

    return asked.applied(replace(stages, approve=answered) if asked.asks else stages)
