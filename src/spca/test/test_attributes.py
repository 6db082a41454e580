"""What the code critic knows of the values that a skill gets, and of what it may not take for granted."""

from __future__ import annotations

import pytest

from spca_coder import allowlist
from spca_coder.attributes import unknown_attributes
from spca_minigrid import ctx as grid
from spca_minigrid.environment import SKILLS
from spca_tabletop import act
from spca_tabletop.act.ctx import TABLETOP_API
from spca_tabletop.kit import TabletopKit

BUILTIN = TabletopKit.builtin_skills.read_text()


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("ctx.locate(a).position", "a Thing has no 'position'; it has name, kind"),
        ("t = ctx.locate(a)\n    t.pose", "a Thing has no 'pose'"),
        ("ctx.locate(a).size.x", "a list has no 'x'"),
        ("ctx.grasps(a).pose", "a list has no 'pose'; take one of its elements"),
        ("ctx.grasps(a)[0].width", "a Grasp has no 'width'; it has pose, gap"),
        ("for g in ctx.grasps(a):\n        g.pose.roll", "a Pose has no 'roll'"),
        ("[s.place for s in ctx.spots_next_to(a)]", "a Spot has no 'place'"),
        ("p = min(ctx.spots_on(a), key=lambda q: q.x)\n    p.height", "a Pose has no 'height'"),
        ("pose(1, 2, 3).pitch", "a Pose has no 'pitch'"),
        ("g = next((c for c in ctx.grasps(a)), None)\n    g.poze", "a Grasp has no 'poze'"),
        ("def f(v): return v.orientation", "nothing here has an attribute 'orientation'"),
        ("math.hypott(1, 2)", "math has no 'hypott'"),
    ],
)
def test_a_name_that_no_value_has_is_found(body: str, part: str) -> None:
    (problem,) = unknown_attributes(f"def f(ctx, a):\n    {body}\n", TABLETOP_API)
    assert part in problem.message


@pytest.mark.parametrize(
    "body",
    [
        "x = ctx.locate(a)\n    x = ctx.grasps(a)[0]\n    return x.gap",  # either is possible: not judged
        "return [t.name.upper() for t in ctx.scene() if t.kind == a]",
        "try:\n        ctx.open()\n    except MotionError as e:\n        return e.kind, str(e).split()",
        "best = sorted(ctx.spots_on(a), key=lambda p: p.x)\n    return best[0].yaw, best[1:][0].z",
        "d = {}\n    d.update(b=1)\n    return d.items(), math.pi",
    ],
)
def test_what_may_be_right_is_let_through(body: str) -> None:
    assert unknown_attributes(f"def f(ctx, a):\n    {body}\n", TABLETOP_API) == []


def test_the_reviewed_skills_pass() -> None:
    assert act
    assert unknown_attributes(BUILTIN, TABLETOP_API) == []
    assert unknown_attributes(SKILLS.read_text(), grid.API) == []


@pytest.mark.parametrize("literal", ["'cube_red'", "f'no {a} on cube_red'", "['table', 'cube_red']"])
def test_an_object_s_name_may_not_be_written_into_a_skill(literal: str) -> None:
    code = f"def f(ctx, a):\n    return {literal}\n"
    (problem,) = allowlist.check(code, objects=("cube_red",))
    assert "the object 'cube_red' is named here" in problem.message
    assert allowlist.check(code, objects=("cube", "cube_r")) == []


@pytest.mark.parametrize("caught", ["", " Exception", " (ValueError, Exception)", " BaseException as e"])
def test_nobody_catches_everything(caught: str) -> None:
    code = f"def f(ctx, a):\n    try:\n        ctx.open()\n    except{caught}:\n        pass\n"
    (problem,) = allowlist.check(code)
    assert "this catches everything" in problem.message
