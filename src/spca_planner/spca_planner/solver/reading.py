"""Unified Planning's PDDL reader, and its complaints in one sentence."""

from __future__ import annotations

import contextlib
import re
import warnings
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import unified_planning.engines
import unified_planning.environment
from pyparsing import ParseException, ParseResults, Token
from unified_planning.engines import Factory
from unified_planning.environment import Environment
from unified_planning.io import PDDLReader, pddl_reader
from unified_planning.model import Problem

from spca_planner.pddl.lint import COST
from spca_planner.pddl.sexpr import PddlError

_RENEWED_EVERY = 200
"""Number of reads after which UP's environment is renewed: it keeps every expression it has seen."""

_reads = 0
_cached_reader: PDDLReader | None = None


class _Form(NamedTuple):
    """What UP's reader expects of a list or word: its parts, and where it begins and ends."""

    value: ParseResults | list[str]
    locn_start: int
    locn_end: int


_TOKEN = re.compile(r"[()]|;[^\n]*|[^() \n\t\r;][^() \n\t\r]*")


class _Nested(Token):
    """Grammar of a list of lists and words: UP's own is made of parts that take ten times as long."""

    def __init__(self) -> None:
        super().__init__()
        self.saveAsList = True

    def _generateDefaultName(self) -> str:
        return "(...)"

    def parseImpl(self, text: str, at: int, _: bool = True) -> tuple[int, ParseResults]:
        unfinished: list[tuple[int, list[_Form]]] = []
        for match in _TOKEN.finditer(text, at):
            token, start, end = match.group(), match.start(), match.end()
            if token == "(":
                unfinished.append((start, []))
            elif not unfinished:
                break
            elif token == ")":
                start, parts = unfinished.pop()
                form = _Form(ParseResults(parts), start, end)
                if not unfinished:
                    return end, ParseResults([form])
                unfinished[-1][1].append(form)
            elif token[0] != ";":
                unfinished[-1][1].append(_Form([token], start, end))
        raise ParseException(
            text, *((len(text), "Expected ')'") if unfinished else (at, "Expected '('")), self
        )


class _Environment(Environment):
    """UP's environment, whose factory is made when it is asked for, as it imports every engine."""

    factory = cached_property(Factory)


class _Task(Problem):
    """A problem whose kind is found out once; UP's validator asks for it three times."""

    kind = cached_property(Problem.kind.fget)


def read(domain: str, problem: str) -> Problem:
    """Return the problem in two PDDL texts, not to be changed once asked for its kind. Raises PddlError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            task = _reader().parse_problem_string(domain, problem)
    except Exception as error:
        raise PddlError(f"Unified Planning cannot read it: {summary(error)}") from error
    # Costs add up from nothing, as Fast Downward has it, unless the text says else.
    for fluent in task.fluents:
        if fluent.name == COST and not task.explicit_initial_values.keys() & {fluent()}:
            task.set_initial_value(fluent, 0)
    task.__class__ = _Task
    return task


def remember(domain: str) -> None:
    """Read a domain ahead of time, so that its first problem is read fast.

    A bad one is left for `read` to refuse.
    """
    with contextlib.suppress(Exception):
        _reader().parse_problem_string(domain)


def forget() -> None:
    """Read with a new reader from now on, because the old one may have been interrupted."""
    global _cached_reader  # noqa: PLW0603 - as in `_reader`
    _cached_reader = None


def _reader() -> PDDLReader:
    """Return the reader, which is kept: building its grammar takes about as long as a small parse.

    It has a memory for domains, whose grammar takes far longer than all the rest.

    UP's global environment is used, because its reader makes the variables of `forall` effects there whatever
    environment it is given. It is made silent, and tolerant of an object named like its type (`table -
    table`).
    """
    global _reads, _cached_reader  # noqa: PLW0603 - mirrors UP's own global
    if _cached_reader is None or _reads % _RENEWED_EVERY == 0:
        unified_planning.engines.Factory = lambda environment: None
        unified_planning.environment.GLOBAL_ENVIRONMENT = environment = _Environment()
        unified_planning.engines.Factory = Factory
        environment.credits_stream = None
        environment.error_used_name = False
        pddl_reader.nested_expr = _Nested
        _cached_reader = PDDLReader(environment)
        grammar: Any = _cached_reader._pp_domain
        _cached_reader._pp_domain = SimpleNamespace(parse_string=lru_cache(32)(grammar.parse_string))
    _reads += 1
    return _cached_reader


def summary(error: Exception) -> str:
    r"""Return the essence of a parser's message: its first sentence and the first place it names.

    >>> summary(SyntaxError("Undefined parameter's type: cup.\nError from line: 3, col: 20 to line: 3"))
    "undefined parameter's type: cup (line 3)"
    """
    text = " ".join(str(error).split()) or type(error).__name__
    place = re.search(r"line:? (\d+)", text)
    words = re.split(r"(?:\.\s|\bError (?:in expression )?from|\(at char|, found|from line)", text)[0]
    words = words.strip(" .,")[:200]
    sentence = words[:1].lower() + words[1:]
    found = re.search(r"found ('[^']*'|end of text)", text)
    sentence += f", found {found.group(1)}" if found else ""
    return sentence + (f" (line {place.group(1)})" if place else "")
