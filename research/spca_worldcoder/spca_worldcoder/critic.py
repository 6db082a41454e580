"""The critics of world models: does a program explain what was seen, and can a reward be reached in it?"""

from __future__ import annotations

from collections.abc import Sequence

from spca_worldcoder.records import Program, Transition, Verdict
from spca_worldcoder.sandbox import ModelRunner
from spca_worldcoder.state import State, in_words

_TOLERANCE = 1e-6
_TWICE = 10
"""How many transitions are asked twice, if there are several: who answers differently explains nothing."""


def judge(runner: ModelRunner, program: Program, data: Sequence[Transition], rewards: bool = True) -> Verdict:
    """Ask a program about every transition; without `rewards`, only about its next state."""
    if problem := runner.load(program):
        return Verdict(explained=0.0, failing=tuple(range(len(data))), problem=problem)
    if not data:
        return Verdict(explained=1.0)
    steps = [(seen.before, seen.action) for seen in data]
    predicted = runner.predict(program, steps)
    paid = runner.pay(program, [(s.before, s.action, s.after, s.mission) for s in data])
    if len(data) > 1 and runner.predict(program, steps[:_TWICE]) != predicted[:_TWICE]:
        return Verdict(
            explained=0.0, failing=tuple(range(len(data))), problem="equal questions, different answers"
        )
    failing, said = [], []
    for index, (seen, after, pay) in enumerate(zip(data, predicted, paid, strict=True)):
        good = (
            after == seen.after,
            not isinstance(pay, str) and abs(pay[0] - seen.reward) < _TOLERANCE,
            not isinstance(pay, str) and pay[1] == seen.done,
        )
        if not (all(good) if rewards else good[0]):
            failing.append(index)
            said.append(f"{_changed(seen.before, after)}; {_paid(pay)}")
    return Verdict(explained=1 - len(failing) / len(data), failing=tuple(failing), said=tuple(said))


def _changed(before: State, after: State | str) -> str:
    return f"`transition` fails: {after}" if isinstance(after, str) else in_words(before, after)


def _paid(pay: tuple[float, bool] | str) -> str:
    return f"`reward` fails: {pay}" if isinstance(pay, str) else f"reward {pay[0]:g}, ends: {pay[1]}"
