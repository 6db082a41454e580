"""The Python names of PDDL's."""

import keyword

from hypothesis import example, given
from hypothesis import strategies as st

from spca_core.skill import python_name


@given(st.from_regex(r"\A\??[a-zA-Z][a-zA-Z0-9_-]*\Z") | st.sampled_from([*keyword.kwlist, "ctx", "?ctx"]))
@example("CLASS")
def test_a_pddl_name_becomes_a_python_name(symbol: str) -> None:
    name = python_name(symbol)
    assert name.isidentifier() and not keyword.iskeyword(name)
    assert name != "ctx", "every skill's first argument"
    assert python_name(symbol.swapcase()) == name, "PDDL does not tell upper from lower case"
    assert python_name(name) == name
