"""What the code critic knows of the values that a skill gets, and of what it may not take for granted."""

from __future__ import annotations

import pytest

from spca_coder import allowlist
from spca_sandbox.surface import Surface
from spca_tabletop.act.ctx import TABLETOP_API


def problems(code: str) -> list[str]:
    return [problem.message for problem in allowlist.check(code, surface=Surface(TABLETOP_API))]


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("ctx.locate(a).position", "nothing here has an attribute 'position'"),
        ("g = next((c for c in ctx.grasps(a)), None)\n    g.poze", "did you mean 'pose'?"),
        ("math.hypott(1, 2)", "math has no 'hypott'"),
    ],
)
def test_a_name_that_no_value_has_is_found(body: str, part: str) -> None:
    (problem,) = problems(f"def f(ctx, a):\n    {body}\n")
    assert part in problem


@pytest.mark.parametrize(
    "body",
    [
        "best = sorted(ctx.spots_on(a), key=lambda p: p.x)\n    return best[0].yaw, best[1:][0].z",
        "d = {}\n    d.update(b=1)\n    return d.items(), math.pi",
    ],
)
def test_what_may_be_right_is_let_through(body: str) -> None:
    assert problems(f"def f(ctx, a):\n    {body}\n") == []


@pytest.mark.parametrize("literal", ["'cube_red'", "f'no {a} on cube_red'", "['table', 'cube_red']"])
def test_an_object_s_name_may_not_be_written_into_a_skill(literal: str) -> None:
    code = f"def f(ctx, a):\n    return {literal}\n"
    (problem,) = allowlist.check(code, objects=("cube_red",))
    assert "the object 'cube_red' is named here" in problem.message
    assert allowlist.check(code, objects=("cube", "cube_r")) == []
