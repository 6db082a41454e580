"""World models are untrusted programs: here they are loaded, asked, and searched, in the sandbox only."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal

from spca_core.errors import Cancelled, InputError
from spca_core.skill import SkillFailure
from spca_core.stopping import Closing
from spca_programs.experience import Program
from spca_programs.factories import stand_in
from spca_programs.ipp.program import in_words
from spca_programs.state import State, from_json, to_json
from spca_sandbox.host import SkillHost
from spca_sandbox.limits import PROGRAM_MODULES, Limits
from spca_sandbox.process import RunOutcome

SIGNATURES = {"transition": 2, "reward": 4}
"""The functions of a program and how many arguments they take."""

_PATIENCE = 2
_STEP_S, _SEARCH_S = 2.0, 30.0
"""Deadlines of one call of the program, and of a search in it."""
_LARGER = 8  # times the size in JSON, and as many kB, that a state may have after a step: they are kept
_FARTHEST = 10_000  # actions of a plan
_FUTURE = re.compile(r"^from __future__ import .*$", re.MULTILINE)


Method = Literal["novelty", "value"]
"""Iterated width 1 (fast, often enough), or value iteration."""


class ModelRunner(Closing):
    """Holds one loaded program at a time. Not for two threads. Use as a context manager, or `close` it.

    Every question raises Cancelled once `cancelled` says so.
    """

    def __init__(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        limits = Limits(modules=PROGRAM_MODULES, memory_mb=1024, message_bytes=1 << 23, cpu_s=7200)
        self._host = SkillHost(limits=limits)
        self._cancelled = cancelled
        self._loaded: tuple[str, str] | None = None

    def close(self) -> None:
        """End the sandbox."""
        self._host.close()

    def load(self, program: Program) -> str:
        """Load a program unless it is loaded already; returns what is wrong with it, empty if nothing is."""
        if self._loaded is not None and self._loaded[0] == program.source:
            return self._loaded[1]
        problem = self._problem(program.source)
        self._loaded = (program.source, problem)
        return problem

    def _problem(self, source: str) -> str:
        loaded = self._host.load(prelude() + _FUTURE.sub("", source))
        if isinstance(loaded, SkillFailure):
            return in_words(loaded, prelude().count("\n"))
        for name, count in SIGNATURES.items():
            parameters = loaded.get(name)
            if parameters is None:
                return f"there is no top-level function `{name}`"
            if len(parameters) != count:
                return f"`{name}` takes {len(parameters)} arguments, it must be {count}"
        return ""

    def predict(self, program: Program, steps: Sequence[tuple[State, str]]) -> list[State | str]:
        """The next state of each (state, action), or in words why there is none."""
        if problem := self.load(program):
            return [problem] * len(steps)
        batch = [[to_json(state), action] for state, action in steps]
        longest = _LARGER * (1024 + max((len(json.dumps(each)) for each, _ in batch), default=0))
        return [_state(o, longest) for o in self._ask("wc_step", batch)]

    def pay(
        self, program: Program, steps: Sequence[tuple[State, str, State, str]]
    ) -> list[tuple[float, bool] | str]:
        """Reward and end of each (before, action, after, mission), or in words why there is none."""
        if problem := self.load(program):
            return [problem] * len(steps)
        batch = [
            [to_json(before), action, to_json(after), mission] for before, action, after, mission in steps
        ]
        return [_payment(o) for o in self._ask("wc_pay", batch)]

    def _ask(self, function: str, batch: Sequence[Sequence[Any]]) -> Iterator[RunOutcome]:
        """The outcomes, in turn; a program that hangs on the first few is not waited for on the rest."""
        first = list(self._call(function, batch[:_PATIENCE], _STEP_S))
        yield from first
        if all(o.failure is not None and o.failure.kind == "timeout" for o in first):
            yield from first[-1:] * (len(batch) - _PATIENCE)
        else:
            yield from self._call(function, batch[_PATIENCE:], _STEP_S)

    def _call(self, function: str, batch: Sequence[Sequence[Any]], seconds: float) -> Iterator[RunOutcome]:
        for outcome in self._host.call_many(function, batch, seconds, self._cancelled):
            if outcome.status == "cancelled":
                raise Cancelled("a search was cancelled")
            yield outcome

    def plan(
        self,
        program: Program,
        state: State,
        mission: str,
        actions: Sequence[str],
        budget: int = 40_000,
        method: Method = "value",
    ) -> list[str] | None:
        """A plan to an end that pays, by search in the program; None where none was found.

        `budget` counts calls of the program. The plan is yet to be replayed.
        """
        return plan_in(
            self.search(f"wc_plan_{method}", program, [to_json(state), mission, list(actions), budget])
        )

    def search(self, function: str, program: Program, arguments: list[Any]) -> Any:
        """What a function of the trusted source finds in a program; None where one of them fails."""
        if self.load(program):
            return None
        (outcome,) = self._call(function, [arguments], _SEARCH_S)
        return outcome.value if outcome.failure is None else None

    def follow(self, program: Program, state: State, plan: Sequence[str]) -> list[State] | None:
        """The states that actions lead to, one after the other; None where the program fails.

        The program runs through the plan at a stretch and is then asked about every step by itself.
        """
        found = self.search("wc_follow", program, [to_json(state), list(plan)])
        if not isinstance(found, list) or len(found) != len(plan):
            return None
        try:
            states = [from_json(one) for one in found]
        except InputError:
            return None
        steps = list(zip([state, *states[:-1]], plan, strict=True))
        return states if self.predict(program, steps) == states else None

    def replay(self, program: Program, state: State, mission: str, plan: Sequence[str]) -> list[State] | None:
        """The states of a plan; None unless its last step, and no other, ends the episode, with a reward."""
        states = self.follow(program, state, plan)
        if not states:
            return None
        steps = zip([state, *states[:-1]], plan, states, strict=True)
        paid = self.pay(program, [(before, action, after, mission) for before, action, after in steps])
        ends, last = [not isinstance(one, str) and one[1] for one in paid], paid[-1]
        good = not any(isinstance(one, str) for one in paid) and ends == [False] * (len(plan) - 1) + [True]
        return states if good and not isinstance(last, str) and last[0] > 0 else None


@cache
def prelude() -> str:
    """The trusted source in front of every program: this package's, and the helpers of what stands in."""
    folder = Path(__file__).parent
    paths = (folder / "prelude.py", folder / "search.py", Path(stand_in("inductive").helpers))
    return "from __future__ import annotations\n" + "\n".join(map(_standing_alone, paths)) + "\n\n"


def _standing_alone(path: Path) -> str:
    """The source of a module without its imports of this project: the other ones stand in front of it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.ImportFrom) and re.match("spca_|__future__", node.module or ""))
    ]
    return ast.unparse(tree)


def _state(outcome: RunOutcome, longest: int) -> State | str:
    if outcome.failure is not None:
        return in_words(outcome.failure, prelude().count("\n"))
    if len(json.dumps(outcome.value)) > longest:
        return f"result: a state of more than {longest} characters"
    try:
        return from_json(outcome.value)
    except InputError as error:
        return f"result: {error}"


def _payment(outcome: RunOutcome) -> tuple[float, bool] | str:
    if outcome.failure is not None:
        return in_words(outcome.failure, prelude().count("\n"))
    match outcome.value:
        case [int() | float() as paid, bool() as done]:
            with suppress(OverflowError):
                return float(paid), done
    return "result: not a reward and whether the episode ends"


def plan_in(value: Any) -> list[str] | None:
    """The actions that a search has found; None for anything else."""
    some = isinstance(value, list) and 0 < len(value) <= _FARTHEST
    return value if some and all(isinstance(action, str) for action in value) else None
