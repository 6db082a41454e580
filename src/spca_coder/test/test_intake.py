"""What a model writes goes into modules of its own, and nothing else of a library changes."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca_coder.critic import Clash, take_in
from spca_coder.source import LibraryReader, read, without
from spca_core.skill_package import joined, modules
from spca_sandbox.host import SkillHost

NEW = 'def {}(ctx, a):\n    """New."""\n    return a  # new\n'
TEXTS = st.sampled_from(
    ("", "A = 1", "A = 1\n", "\n\nA = 1\n\n\n", "# --- skill of a kind\n", "'''\r\n\n'''\n")
)


@settings(max_examples=100)
@given(TEXTS, st.dictionaries(st.sampled_from(("f", "g", "h")), TEXTS, max_size=3))
def test_a_library_falls_into_the_modules_that_it_was_made_of(first: str, others: dict[str, str]) -> None:
    texts: Mapping[str, str] = {"": first, **others}
    library = joined(texts)
    assert {module.skill: module.text for module in modules(library)} == texts
    for module in modules(library):
        assert library.split("\n")[module.before :][: module.text.count("\n")] == module.text.split("\n")[:-1]


def test_a_skill_becomes_a_module_and_no_byte_of_the_others_changes() -> None:
    library = "A=1;B=2\n\n\ndef f( ctx ):\n    return A\n"
    once = take_in(library, NEW.format("g"), {"g"})
    assert once.written == ("g",)
    assert once.library.startswith(library)
    draft = NEW.format("h") + "\n\n" + NEW.format("g").replace("return a", "return 2")
    twice = take_in(once.library, draft, {"g", "h"})
    assert set(twice.written) == {"g", "h"} and twice.library.startswith(library)
    assert {module.skill for module in modules(twice.library)} == {"", "g", "h"}
    assert "return 2" in read(twice.library).module("g")


def test_only_what_was_asked_for_is_taken_with_what_it_needs() -> None:
    draft = "import math\nNEAR = 1\nFAR = 2 * NEAR\nNEVER = 3\n\n\ndef g(ctx, a):\n    return _up(a) + FAR\n"
    draft += "\n\ndef _up(x):\n    return x\n\n\ndef _unused(x):\n    return math.pi\n\n\n"
    draft += "def more(ctx):\n    return 1\n"
    module = read(take_in("", draft, {"g"}).library).modules["g"]
    assert (set(module.functions), set(module.constants)) == ({"g", "_up"}, {"FAR", "NEAR"})
    assert module.imports == ()


def test_what_a_draft_mentions_is_copied_from_the_library_and_imports_are_added() -> None:
    library = "ABOVE = 0.1\n\n\ndef f(ctx):\n    return _up(1)\n\n\ndef _up(x):\n    return x + ABOVE\n"
    taken = take_in(library, "def g(ctx, a):\n    return _up(math.pi) + f(ctx)\n", {"g"})
    module = read(taken.library).modules["g"]
    assert (set(module.functions), set(module.constants)) == ({"g", "_up"}, {"ABOVE"})
    assert module.imports == ("import math",)
    repaired = take_in(taken.library, "def g(ctx, a):\n    return -_up(a)\n", {"g"})
    assert set(read(repaired.library).modules["g"].functions) == {"g", "_up"}


def test_a_draft_s_own_helpers_and_constants_are_its_own() -> None:
    """A draft cannot know every name of the library: none is refused for one, and nothing else changes."""
    library = "ABOVE = 0.1\n\n\ndef f(a):\n    return _up(a) + ABOVE\n\n\ndef _up(x):\n    return x\n"
    draft = "ABOVE = 0.5\n\n\ndef g(ctx, a):\n    return _up(a) + ABOVE\n\n\ndef _up(x):\n    return -x\n"
    taken = take_in(library, draft.replace("ctx, ", ""), {"g"})
    with SkillHost() as host:
        assert isinstance(host.load(taken.library), dict)
        assert [host.call(name, [1]).value for name in ("f", "g")] == [1.1, -0.5]


def test_a_helper_of_the_library_does_not_get_a_draft_s_helper_under_its_feet() -> None:
    library = "ABOVE = 0.1\n\n\ndef _up(x):\n    return _low(x)\n\n\ndef _low(x):\n    return x + ABOVE\n"
    draft = "def g(ctx, a):\n    return _up(a) + _low(a)\n\n\ndef _low(x):\n    return -x\n"
    with pytest.raises(Clash, match="'_up' needs another '_low' than yours"):
        take_in(library, draft, {"g"})
    with pytest.raises(Clash, match="'_up' needs another value of 'ABOVE'"):
        take_in(library, "ABOVE = 2\n\n\ndef g(ctx, a):\n    return _up(a) + ABOVE\n", {"g"})


def test_modules_see_each_other_s_skills_and_nothing_else() -> None:
    texts = {
        "": "def f(ctx):\n    return 'first'\n\n\ndef _h(ctx):\n    return f(ctx)\n",
        "g": "HERE = 2\n\n\ndef g(ctx):\n    return [f(ctx), HERE]\n\n\ndef _own(ctx):\n    return 1\n",
        "f": "def f(ctx):\n    return 'own'\n",
        "lost": "def lost(ctx):\n    return _own(ctx)\n",
    }
    with SkillHost() as host:
        loaded = host.load(library := joined(texts))
        assert isinstance(loaded, dict) and set(loaded) == {"f", "_h", "g", "lost"}
        assert host.call("g", [0]).value == ["own", 2]
        assert host.call("_h", [0]).value == "first", "a skill never changes another"
        failure = host.call("lost", [0]).failure
    line = library.split("\n").index("    return _own(ctx)") + 1
    assert failure and (failure.message, failure.line) == ("NameError: name '_own' is not defined", line)


def test_a_skill_goes_with_those_that_call_it() -> None:
    first = "def f(ctx):\n    return 1\n\n\ndef k(ctx):\n    return A\n\n\nA = 1\n"
    calling = {"g": "def g(ctx):\n    return f(ctx)\n", "h": "def h(ctx):\n    return g(ctx)\n"}
    library = joined({"": first, **calling})
    assert read(without(library, {"f"})).skills.keys() == {"k"}
    assert read(without(library, {"g"})).skills.keys() == {"f", "k"}
    assert without(library, set()) == library
    assert without(library, {"f"}).startswith("A = 1")


def test_skills_go_back_to_what_was_proven() -> None:
    reader = LibraryReader()
    first = "def f(ctx):\n    return 1\n"
    proven = joined({"": first, "g": "def g(ctx):\n    return 1\n"})
    library = joined({"": first, "g": "def g(ctx):\n    return 2\n", "f": "def f(ctx):\n    return 2\n",
                      "h": "def h(ctx):\n    return 2\n"})  # fmt: skip
    assert reader.restored(library, proven, ["f", "g", "h"]) == proven
    assert read(reader.restored(library, proven, ["h"])).modules.keys() == {"", "g", "f"}
    assert reader.meaning(library, ["g"]) != reader.meaning(proven, ["g"])
    assert reader.meaning(library.replace("2\n", " 2  # \n"), ["g"]) == reader.meaning(library, ["g"])
