"""The kinds of things, and the shapes they are made of."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.kinds import KINDS, Primitive, deck, is_round, primitives, problem_with

LENGTHS = st.floats(0.03, 0.3)


def reach(part: Primitive) -> tuple[float, float, float]:
    """How far a part extends from the thing's centre along x, y and z."""
    a, b, c = part.size
    if part.shape != "box":
        return abs(part.at[0]) + a / 2, abs(part.at[1]) + a / 2, abs(part.at[2]) + c / 2
    turned = abs(math.cos(part.yaw)), abs(math.sin(part.yaw))
    x, y = turned[0] * a + turned[1] * b, turned[1] * a + turned[0] * b
    return abs(part.at[0]) + x / 2, abs(part.at[1]) + y / 2, abs(part.at[2]) + c / 2


@given(st.sampled_from(sorted(KINDS)), LENGTHS, LENGTHS, LENGTHS)
def test_a_thing_fills_its_size_and_no_more(kind: str, a: float, b: float, c: float) -> None:
    size = (a, a if is_round(kind) else b, a if kind == "ball" else c)
    parts = primitives(kind, size)
    assert sum(part.volume for part in parts) > 0
    slack = 1.03 if KINDS[kind].walled and is_round(kind) else 1.0  # sixteen corners stand out of the circle
    for axis in range(3):
        assert max(reach(part)[axis] for part in parts) <= slack * size[axis] / 2 + 1e-9
        assert max(reach(part)[axis] for part in parts) >= 0.9 * size[axis] / 2
    if KINDS[kind].walled:
        on_the_table = [part for part in parts if part.at[2] - part.size[2] / 2 < -size[2] / 2 + 1e-9]
        assert len(on_the_table) == 1, "only the floor stands on the table"
        assert deck(kind, size[2]) < size[2]


@pytest.mark.parametrize(
    ("kind", "size", "wrong"),
    [
        ("cube", (0.04, 0.04, 0.05), "different lengths"),
        ("ball", (0.04, 0.04, 0.05), "two diameters"),
        ("cylinder", (0.04, 0.05, 0.05), "two diameters"),
        ("bowl", (0.12, 0.12, 0.005), "without room"),
        ("cuboid", (0.04, 0.05, 0.06), ""),
    ],
)
def test_impossible_sizes_are_named(kind: str, size: tuple[float, float, float], wrong: str) -> None:
    found = problem_with(kind, size)
    assert (wrong in found) if wrong else found == ""
