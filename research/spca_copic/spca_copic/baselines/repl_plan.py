"""REPL-Plan (Liu et al. 2024): the model works in Python sessions that act, ask and open further sessions."""

from __future__ import annotations

import ast
import builtins
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any

from spca_copic.baselines.base import ModelPlans, NoPlan, trouble
from spca_core.errors import InputError
from spca_programs.ipp.program import code_in
from spca_programs.plan_world import ActionSequence, PlanningProgram, Situation

_MOST = 20
"""Cells, questions and sessions between two actions."""
_DEEP = 4
"""Sessions that may be open, one inside the other."""
_GIVEN = {*dir(builtins), "act", "ask", "answer", "show", "_Pause"}
"""What a cell may call without defining it."""
_SESSION = '''\
class _Pause(BaseException):
    """The session needs something from outside."""

def plan(observation, actions, task):
    _replies, _printed = list(observation["replies"]), []
    def _call(*what):
        if not _replies:
            raise _Pause(*what)
        return _replies.pop(0)
    def print(*values):
        _printed.append(" ".join(map(str, values)))
    def show(value):
        None if value is None else print(value)
    def act(action):
        return _call("act", str(action))
    def ask(question):
        return _call("ask", str(question))
    def answer(value=None):
        return _call("answer", repr(value))
'''
_CELL = """\
try:
{code}
except Exception as error:
    print(type(error).__name__ + ": " + str(error))
"""


@dataclass
class Session:
    """One session: what it is for, its cells with what they printed, and what came from outside."""

    task: str
    cells: list[tuple[str, str]] = field(default_factory=list)
    replies: list[Any] = field(default_factory=list)

    @property
    def source(self) -> str:
        """A program that goes through all cells again, with the replies that there are."""
        code = "\n".join(_CELL.format(code=indent(cell, "    ")) for cell, _ in self.cells)
        nodes = list(ast.walk(ast.parse(code)))
        known = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        known |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        known |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        known |= {(n.asname or n.name).partition(".")[0] for n in nodes if isinstance(n, ast.alias)}
        called = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        further = "".join(
            f"    def {name}(*values):\n        return _call('open', '{name}' + repr(values))\n"
            for name in sorted(called - known - _GIVEN)
        )
        body = indent(
            f"try:\n{indent(code, '    ')}\nexcept _Pause as _pause:\n    return [*_pause.args]", "    "
        )
        return f"{_SESSION}{further}{body}\n    return ['', *_printed]\n"


class ReplPlan(ModelPlans):
    """The sandbox keeps nothing between two calls, so that a session is gone through again from its start.

    Undefined functions open a session of their own, whose cells are shown when they are called again.
    """

    name = "REPL-Plan"

    def begin(self) -> None:
        """See `ModelPlans.begin`."""
        self._open: list[Session] = []
        self._earlier: dict[str, Session] = {}

    def plan(self, situation: Situation, memory: Sequence[Mapping[str, Any]]) -> ActionSequence:
        """See `ModelPlans.plan`: one action."""
        if memory:
            self._open[-1].replies.append(" ".join(filter(None, (trouble(memory), situation.text))))
        else:
            self._open = [Session(situation.instruction)]
        for _ in range(_MOST):
            session = self._open[-1]
            kind, told = self._run(session)
            if kind == "act":
                return (" ".join(told.split()) or "nothing",)
            if kind == "ask":
                session.replies.append(self._ask("fact", situation=situation, question=told))
            elif kind == "open":
                if len(self._open) == _DEEP:
                    session.replies.append(None)
                else:
                    self._open.append(Session(told))
            elif kind == "answer":
                self._open.pop()
                if not self._open:
                    raise NoPlan(f"it has ended with {told}")
                self._earlier[session.task.partition("(")[0]] = session
                self._open[-1].replies.append(_value(told))
            else:
                self._write(session, situation, told)
        raise NoPlan(f"no action within {_MOST} cells and questions")

    def _run(self, session: Session) -> tuple[str, str]:
        """Run the session; return its next request (`act`, `ask`, `open`, `answer`) or "", and its output."""
        if not session.cells:
            return "", ""
        program = PlanningProgram(source=session.source, proposer="model")
        self.use([program])
        answer = self._workers[program.id].ask([{"replies": session.replies}, [], session.task])
        if answer.problem:
            session.cells.pop()
            return "", answer.problem
        return answer.plan[0] if answer.plan else "", "\n".join(answer.plan[1:])

    def _write(self, session: Session, situation: Situation, printed: str) -> None:
        """Note what the last cell printed, and have the next one written."""
        before = sum(len(output.splitlines()) for _, output in session.cells)
        if session.cells:
            session.cells[-1] = (session.cells[-1][0], "\n".join(printed.splitlines()[before:]))
        answer = self._ask(
            "repl", situation=situation, observation=json.dumps(situation.observation), session=session,
            outer=[one.task for one in self._open[:-1]], printed=printed,
            earlier=self._earlier.get(session.task.partition("(")[0]),
        )  # fmt: skip
        try:
            tree = ast.parse(code_in(answer, ""))
            compile(tree, "cell", "exec")  # not run: says what is no Python outside of a function, too
        except (InputError, SyntaxError, ValueError, RecursionError) as error:
            session.cells.append(("pass", f"{type(error).__name__}: {error}"))
            return
        if tree.body and isinstance(last := tree.body[-1], ast.Expr):
            tree.body[-1] = ast.Expr(ast.Call(ast.Name("show"), [last.value], []))
        session.cells.append((ast.unparse(ast.fix_missing_locations(tree)) or "pass", ""))


def _value(text: str) -> Any:
    """Parse what `repr` wrote, where that is plain data; else return the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
