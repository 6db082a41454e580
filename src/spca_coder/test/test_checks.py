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
CASES = yaml.safe_load(Path(__file__).with_name("code.yaml").read_text())


@pytest.mark.parametrize(
    ("code", "line", "part"),
    [
        *CASES["not allowed"],
        ("x = 1\n" * 20_001, None, "too long"),
        ("def f(ctx): return " + "+".join(["1"] * 400), 1, "nested too deeply"),
        ("def f(ctx): return " + "not " * 3000 + "1", None, "not Python"),
        ("x = 0x" + "f" * 5000, 1, "a number of 20000 bits"),
    ],
)
def test_not_allowed(code: str, line: int | None, part: str) -> None:
    problems = allowlist.check(code, surface=SURFACE)
    assert [p.line for p in problems if part in p.message] == [line], problems


@pytest.mark.parametrize("code", CASES["allowed"])
def test_allowed(code: str) -> None:
    assert allowlist.check(code, surface=SURFACE) == []


def test_whatever_a_text_makes_a_critic_raise_is_a_rejection() -> None:
    def stumble() -> str:
        raise LookupError("nobody has thought of this")

    assert criticised(stumble, str).endswith("LookupError: nobody has thought of this")


@pytest.mark.parametrize(("code", "names"), CASES["undefined names"])
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


@pytest.mark.parametrize(("parameters", "fits", "good_enough"), CASES["parameters of pick_up"])
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
