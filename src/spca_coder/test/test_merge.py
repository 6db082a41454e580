"""Merging leaves every byte alone that it was not asked to change."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_coder.merge import MergeConflict, merge
from spca_coder.source import read
from spca_core.errors import InputError

NEW = 'def {}(ctx, a):\n    """New."""\n    return a  # new\n'

# Pieces of a library in all sorts of formatting.
BODIES = (
    "    return 1\n",
    '    """Doc."""\n\n    x = [1,2 ,\n      3]   # odd spacing\n    return  x\n',
    "  # indented by two\n  if a :\n\n    pass\n  # last words\n",
    "\treturn {'a':1,\n 'b':  2}\n",
    "    return '''a\n  b'''\n",
    "    def inner(): return a\n    return inner;\n",
    "    for i in range( 3 ) : pass ; a\n",
)
BETWEEN = (
    "\n\n",
    "\n\n# about the next one\n",
    "\n",
    "\n\n\n\n# far\n\n# near\n",
    "\n# ---- part ----\n\n",
    "X_{n} = ( 1 , )\n\n",
)
HEADS = (
    "",
    '"""Skills."""\n\n',
    "# coding by hand\nimport   math\n\n",
    "#!/usr/bin/env python\n\n\nA=1;B=2\n",
)
TAILS = ("", "\n", "\n\n# the end\n", "\n# no newline at the end")


@st.composite
def libraries(draw: st.DrawFn) -> tuple[str, list[str], list[str]]:
    """A library's text, its functions' names, and the exact text of each function."""
    count = draw(st.integers(1, 5))
    text, names, functions = draw(st.sampled_from(HEADS)), [], []
    for n in range(count):
        function = (
            f"def f_{n}(ctx, a{draw(st.sampled_from(['', ' = 1', ' ,b=2']))}):\n"
            f"{draw(st.sampled_from(BODIES))}"
        )
        text += draw(st.sampled_from(BETWEEN)).format(n=n) + function
        names.append(f"f_{n}")
        functions.append(function)
    return text + draw(st.sampled_from(TAILS)), names, functions


@given(libraries(), st.data())
def test_replacing_one_function_changes_nothing_else(
    library: tuple[str, list[str], list[str]], data: st.DataObject
) -> None:
    text, names, functions = library
    n = data.draw(st.integers(0, len(names) - 1))
    merged = merge(text, NEW.format(names[n]), {names[n]})
    assert merged.written == (names[n],)
    at = text.index(f"def {names[n]}(")
    before, after = text[:at], text[at + len(functions[n]) :]
    assert merged.library.startswith(before)
    assert merged.library.endswith(after)
    middle = merged.library[len(before) : len(merged.library) - len(after)]
    assert ast.dump(ast.parse(middle)) == ast.dump(ast.parse(NEW.format(names[n])))
    assert "# new" in middle


@given(libraries())
def test_adding_functions_changes_nothing_else(library: tuple[str, list[str], list[str]]) -> None:
    text, names, functions = library
    merged = merge(text, NEW.format("g") + "\n\n" + NEW.format("_h"), {"g"})
    assert merged.written == ("g", "_h")
    for function in functions:
        assert function in merged.library
    for line in text.splitlines():
        assert line in merged.library.splitlines()
    assert list(read(merged.library).functions) == [*names, "g", "_h"]


@given(libraries(), st.booleans())
def test_what_is_there_already_changes_nothing(
    library: tuple[str, list[str], list[str]], reformatted: bool
) -> None:
    text, names, _ = library
    draft = ast.unparse(ast.parse(text)) if reformatted else text
    merged = merge(text, draft, set(names))
    assert (merged.library, merged.written) == (text, ())


def test_a_function_that_was_not_asked_for_is_a_conflict() -> None:
    library = NEW.format("f")
    with pytest.raises(MergeConflict, match="'f' exists already and was not asked for"):
        merge(library, library.replace("return a", "return 2"), {"g"})


def test_constants_and_imports_are_added_once_and_never_changed() -> None:
    library = '"""Skills."""\n\nimport math\n\nABOVE = 0.1\n\n\n' + NEW.format("f")
    draft = (
        "from __future__ import annotations\nimport math\nfrom math import pi\n# how far\nBESIDE = 0.2\n"
        "ABOVE = 0.1\n" + NEW.format("g")
    )
    merged = merge(library, draft, {"g"}).library
    assert merged.startswith(
        '"""Skills."""\n\nimport math\n\nABOVE = 0.1\nfrom math import pi\n# how far\nBESIDE = 0.2\n\n\n'
        "def f("
    )


def test_a_drafts_own_helpers_and_constants_get_names_of_their_own() -> None:
    """A draft cannot know every helper of the library: none is refused for a name, and none is changed."""
    library = "ABOVE = 0.1\n\n\ndef f(ctx):\n    return _up(_low(1))\n\n\n" + (
        "def _up(x):\n    return _low(x) + ABOVE\n\n\ndef _low(x):\n    return x\n"
    )
    draft = "ABOVE = 0.2\n\n\ndef g(ctx, a):\n    return _up(a.ABOVE)\n\n\n" + (
        "def _up(x):\n    return _low(x) + ABOVE\n\n\ndef _low(x):\n    return -x\n"
    )
    merged = merge(library, draft, {"g"})
    assert merged.written == ("g", "_up_2", "_low_2")
    found = read(merged.library)
    assert {n: f.text for n, f in found.functions.items()}.items() >= {
        n: f.text for n, f in read(library).functions.items()
    }.items()
    space: dict[str, object] = {}
    exec(merged.library, space)
    assert space["_up_2"](1) == -1 + 0.2 and space["f"](None) == 1.1  # type: ignore[operator]
    assert "_up_2(a.ABOVE)" in found.functions["g"].text
    assert merge(merged.library, draft.replace("-x", "x").replace("0.2", "0.1"), {"g"}).written == ("g",)


def test_a_constant_does_not_come_between_a_function_and_its_comment() -> None:
    library = "# about f\n" + NEW.format("f")
    merged = merge(library, "A = 1\n" + NEW.format("g"), {"g"}).library
    assert merged == library + "\n\nA = 1\n\n\n" + NEW.format("g")


def test_into_an_empty_library() -> None:
    assert merge("", NEW.format("f"), {"f"}).library == NEW.format("f")
    assert merge("", "# hello\n" + NEW.format("f"), {"f"}).library == "# hello\n" + NEW.format("f")


def test_comments_above_a_draft_come_along_or_replace_the_old() -> None:
    library = "A = 1\n\n# old words\n" + NEW.format("f")
    better = NEW.format("f").replace("return a", "return 2")
    assert "# old words\ndef f" in merge(library, better, {"f"}).library
    assert "A = 1\n\n# new words\ndef f" in merge(library, "# new words\n" + better, {"f"}).library


@pytest.mark.parametrize(
    ("library", "draft", "what"), [("def f(", "", "the skill library"), ("", "def f(", "the draft")]
)
def test_what_is_not_python(library: str, draft: str, what: str) -> None:
    with pytest.raises(InputError, match=f"{what} is not Python"):
        merge(library, draft, set())
