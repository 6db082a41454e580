"""The critics of world models: does a program explain what was seen, and can a reward be reached in it?"""

from __future__ import annotations

from collections.abc import Sequence

from spca_worldcoder.records import Program, Transition, Verdict
from spca_worldcoder.sandbox import ModelRunner

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
    failing, right = [], [0, 0, 0]
    for index, (seen, after, pay) in enumerate(zip(data, predicted, paid, strict=True)):
        good = (
            after == seen.after,
            not isinstance(pay, str) and abs(pay[0] - seen.reward) < _TOLERANCE,
            not isinstance(pay, str) and pay[1] == seen.done,
        )
        right = [count + ok for count, ok in zip(right, good, strict=True)]
        if not (all(good) if rewards else good[0]):
            failing.append(index)
    return Verdict(explained=sum(right) / (3 * len(data)), failing=tuple(failing))
