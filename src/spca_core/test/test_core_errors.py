"""Errors: the exit status each one means, one line, and the way through a pickle (they cross processes)."""

import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spca_core.errors import BudgetExhausted, Cancelled, InputError, MotionError, harmless
from spca_core.ports.proposer import ModelError

# What `str.splitlines` takes for the end of a line, and so does many a terminal.
line_ends = st.sampled_from(["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
texts = st.lists(st.one_of(st.text(max_size=5), line_ends), max_size=6).map("".join)


def test_each_error_means_an_exit_status_and_one_of_input_says_what_is_wrong_and_where() -> None:
    errors = InputError("bad"), Cancelled("stopped"), MotionError("a", "b"), BudgetExhausted("y")
    assert [error.exit_status for error in errors] == [2, 130, 3, 3]
    assert str(InputError("no file", where="a.yaml")) == "no file (a.yaml)"
    assert str(InputError("no file", "a.yaml", "name one")) == "no file (a.yaml): name one"


@given(texts, texts, texts)
@example("\x1b]0;title\x07", "\x9b2J", "\u202e")
@example("unknown world 'a\nb'", "worlds/a\nb.yaml", "line 1\n\n  line 2\r\n")
@example(f"unknown cell '{'9' * 5000}'", "grids.jsonl:1", "cells are blank, E, O or A")
def test_an_input_error_is_one_line_whatever_it_quotes(what: str, where: str, hint: str) -> None:
    error = InputError(what, where, hint)
    assert len(str(error).splitlines()) <= 1 and len(str(error)) < 1500
    assert str(error) == harmless(str(error)) and "\x1b" not in str(error)


@pytest.mark.parametrize(
    "error",
    [InputError("no", where="levels/", hint="'stack_01'?"), MotionError("a", "b"), ModelError("x", kind="y")],
)
def test_errors_cross_process_borders(error: Exception) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)
