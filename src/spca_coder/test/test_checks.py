"""What code may look like, and whether it fits the actions."""

from pathlib import Path

import pytest
import yaml

from spca_coder import allowlist
from spca_coder.allowlist import undefined
from spca_coder.critic import criticised
from spca_coder.source import as_present, header, misfit_reason, missing, read, serves
from spca_core.plan import ActionSchema, Step
from spca_sandbox.surface import Surface
from spca_testing.coding import API, request

SURFACE = Surface(API)


@pytest.mark.parametrize(
    ("code", "line", "part"),
    [
        *yaml.safe_load(Path(__file__).with_name("not_allowed.yaml").read_text()),
        ("x = 1\n" * 20_001, None, "too long"),
        ("def f(ctx): return " + "+".join(["1"] * 400), 1, "nested too deeply"),
        ("def f(ctx): return " + "not " * 3000 + "1", None, "not Python"),
        ("x = 0x" + "f" * 5000, 1, "a number of 20000 bits"),
    ],
)
def test_not_allowed(code: str, line: int | None, part: str) -> None:
    problems = allowlist.check(code, surface=SURFACE)
    assert [p.line for p in problems if part in p.message] == [line], problems


@pytest.mark.parametrize(
    "code",
    [
        '"""Doc with __dunders__."""\nimport math\nA: float = 2 * math.pi\n\ndef f(ctx, a):\n'
        '    """Doc __x__ and {braces}."""\n'
        "    try:\n        ctx.nod(*[], *a)\n    except MotionError as e:\n"
        "        raise RuntimeError(f'{e.kind}')\n",
        "def f(ctx: Ctx) -> None:\n    reply = yield 1\n    return [ctx.nod(name=x) for x in 'a__b']\n",
    ],
)
def test_allowed(code: str) -> None:
    assert allowlist.check(code, surface=SURFACE) == []


def test_whatever_a_text_makes_a_critic_raise_is_a_rejection() -> None:
    def stumble() -> str:
        raise LookupError("nobody has thought of this")

    assert criticised(stumble, str).endswith("LookupError: nobody has thought of this")


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(ctx): return raised(ctx)", ["raised"]),
        ("def f(ctx): return [y for y in z]", ["z"]),
        ("A = 1\ndef f(ctx): return A + pose(1) + len('x')", []),
        ("def f(ctx: Ctx, a: 'Nothing') -> Done:\n    x: Place\n    y: Place = 1\n    return y", []),
        ("def f(ctx):\n    def g(): return ctx, f, h\n    return g", ["h"]),
        ("def f(ctx): open('x')", ["open"]),
    ],
)
def test_undefined_names(code: str, names: list[str]) -> None:
    problems = undefined(code, {"pose"})
    assert [p.message.split("'")[1] for p in problems] == names
    assert all(p.line for p in problems)


SCHEMA = ActionSchema(name="pick-up", parameters=(("?cube", "cube"), ("from", "place")), pddl="")


def test_a_rewrite_is_asked_for_by_the_names_of_the_present_version() -> None:
    schema = ActionSchema(name="lift", parameters=(("c", "cube"), ("from", "thing")), pddl="")
    asked = as_present(schema, "def lift(ctx, cube, support):\n    pass\n")
    assert header(asked) == "def lift(ctx, cube, support):"
    assert as_present(schema, "def lift(ctx, cube):\n    pass\n") == schema


@pytest.mark.parametrize(
    ("parameters", "fits", "good_enough"),
    [
        ("ctx, cube, from_", True, True),
        ("ctx, thing, place", False, True),
        ("ctx, from_, cube", False, False),
        ("ctx, *args", False, False),
        ("cube, from_, ctx", False, False),
    ],
)
def test_new_skills_must_fit_exactly_and_existing_ones_by_position(
    parameters: str, fits: bool, good_enough: bool
) -> None:
    function = read(f"def pick_up({parameters}): pass").functions["pick_up"]
    assert (misfit_reason(function, SCHEMA) == "") is fits
    assert serves(function, SCHEMA) is good_enough


def test_missing_are_the_used_actions_without_a_skill() -> None:
    plan = request("nod_at", "wave_at", "bow_to").plan
    only_used = plan.model_copy(update={"steps": tuple(s for s in plan.steps if s.action != "bow_to")})
    library = "def nod_at(ctx, thing): pass\ndef _wave_at(ctx, thing): pass\n"
    assert [s.name for s in missing(only_used, library)] == ["wave_at"]
    assert missing(only_used, library + "def wave_at(ctx, x): pass") == ()
    plan = request().plan.model_copy(update={"steps": (Step(action="go", args=("a", "b")),)})
    assert missing(plan, "def go(ctx, a, b): pass") == (), "without a schema, by its arguments"
    assert header(missing(plan, "def go(ctx, a): pass")[0]) == "def go(ctx, arg1, arg2):"
