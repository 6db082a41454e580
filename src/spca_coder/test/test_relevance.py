"""Which skills are shown: the ones alike, within the budget, however large the library."""

from hypothesis import given, settings
from hypothesis import strategies as st

from spca_coder.drafting import relevant, tokens_of
from spca_coder.source import read
from spca_core.plan import ActionSchema

SKILL = 'def {name}(ctx, a, b):\n    """{doc}"""\n    return _helper(ctx.look(a), b)\n'
HELPER = "def _helper(a, b=1):\n    return (a, b, ABOVE)\n"
DEEDS = ("push", "pull", "stack", "pour", "wipe", "press", "turn", "open", "shake", "sort")
THINGS = ("cube", "plate", "drawer", "cup", "door", "lamp", "sponge", "bottle", "lid", "tray")


def library(count: int) -> str:
    """A library of `count` skills, named `push_cube_0` and so on."""
    names = [(DEEDS[i % 10], THINGS[i // 10 % 10], i) for i in range(count)]
    skills = [SKILL.format(name=f"{d}_{t}_{i}", doc=f"{d.title()} the {t}.") for d, t, i in names]
    return "\n\n".join(["ABOVE = 0.1\nUNUSED = 2\n", *skills, HELPER])


def wish(name: str, words: str = "") -> tuple[ActionSchema, ...]:
    return (
        ActionSchema(name=name, parameters=(("a", "thing"),), pddl=f"(:action {name} :effect ({words} ?a))"),
    )


def test_the_most_alike_come_with_the_first_lines_of_what_they_call() -> None:
    """What a helper does inside takes room, and is no pattern for a skill."""
    shown = read(text := relevant(library(100), wish("pour-bottle"), 150))
    assert "pour_bottle_73" in shown.functions
    assert text.startswith("def _helper(a, b=1): ...\n") and "ABOVE" not in text
    assert all("pour" in f or "bottle" in f for f in shown.functions if f != "_helper")


@settings(max_examples=25)
@given(st.sampled_from([0, 1, 10, 100]), st.integers(0, 3000), st.sampled_from(DEEDS))
def test_never_longer_than_the_budget(count: int, budget: int, deed: str) -> None:
    shown = relevant(library(count), wish(f"{deed}-cube"), budget)
    assert tokens_of(shown) <= budget
    read(shown)


def test_what_is_not_alike_or_shown_elsewhere_is_left_out() -> None:
    assert relevant(library(100), wish("somersault"), 1000) == ""
    assert "push_cube_0(" not in relevant(library(100), wish("push-cube-0"), 1000, without={"push_cube_0"})
