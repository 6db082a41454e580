"""The one mapping between models, symbols and words, and the Python names of PDDL's."""

import keyword

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spca_core.names import GROUND, GROUND_SYMBOL, symbol_of, words_of
from spca_core.skill import python_name


@pytest.mark.parametrize(
    ("model", "symbol", "words"),
    [
        ("box_dark_blue", "cube_dark_blue", "dark blue cube"),
        ("plate_red", "plate_red", "red plate"),
        (GROUND, GROUND_SYMBOL, "ground"),
        ("box_", "box_", "box"),
        ("boxer_red", "boxer_red", "red boxer"),
    ],
)
def test_models_symbols_and_words(model: str, symbol: str, words: str) -> None:
    assert symbol_of(model) == symbol
    assert words_of(symbol) == words


@given(st.from_regex(r"\A\??[a-zA-Z][a-zA-Z0-9_-]*\Z") | st.sampled_from([*keyword.kwlist, "ctx", "?ctx"]))
@example("CLASS")
def test_a_pddl_name_becomes_a_python_name(symbol: str) -> None:
    name = python_name(symbol)
    assert name.isidentifier() and not keyword.iskeyword(name)
    assert name != "ctx", "every skill's first argument"
    assert python_name(symbol.swapcase()) == name, "PDDL does not tell upper from lower case"
    assert python_name(name) == name
