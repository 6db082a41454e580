"""The kinds of things, and the shapes they are made of."""

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.errors import InputError
from spca_core.geometry import Vec3
from spca_core.kinds import KINDS, MESHES, Primitive, deck, holds, is_round, packed, primitives, read_kind

LENGTHS = st.floats(0.03, 0.3)


def reach(part: Primitive) -> tuple[float, float, float]:
    """How far a part extends from the thing's centre along x, y and z."""
    a, b, c = part.size
    if part.shape != "box":
        return abs(part.at[0]) + a / 2, abs(part.at[1]) + a / 2, abs(part.at[2]) + c / 2
    turned = abs(math.cos(part.yaw)), abs(math.sin(part.yaw))
    x, y = turned[0] * a + turned[1] * b, turned[1] * a + turned[0] * b
    return abs(part.at[0]) + x / 2, abs(part.at[1]) + y / 2, abs(part.at[2]) + c / 2


@given(st.sampled_from(sorted({*KINDS} - {*MESHES})), LENGTHS, LENGTHS, LENGTHS)
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


CORNERS = [[x, y, z] for x in (-0.03, 0.03) for y in (-0.02, 0.02) for z in (-0.01, 0.01)]
SHAPE = {"size": [0.06, 0.04, 0.02], "parts": [CORNERS]}
ROW = {"nouns": ["domino"], "mesh": "domino.json"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "cube"}, "'cube' is no name"),
        ({"row": {**ROW, "nouns": ["box"]}}, "a cube is called 'box'"),
        ({"shape": {**SHAPE, "size": [0.06, 0.04, 0.03]}}, "do not lie around the middle"),
        ({"shape": {**SHAPE, "size": [6, 4, 2]}}, "a thing on a table measures"),
        ({"shape": {**SHAPE, "parts": [CORNERS, CORNERS[:3]]}}, "not the shape of a kind"),
    ],
)
def test_what_is_wrong_with_a_kind_is_said_in_one_line(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    parts = {"name": "domino", "row": ROW, "shape": SHAPE, **change}
    (tmp_path / "domino.json").write_text(json.dumps(parts["shape"]))
    (path := tmp_path / f"{parts['name']}.yaml").write_text(json.dumps(parts["row"]))
    with pytest.raises(InputError) as refused:
        read_kind(path)
    assert said in str(refused.value) and "\n" not in str(refused.value)


CUBE, BAR = (0.04,) * 3, (0.08, 0.04, 0.03)


@pytest.mark.parametrize(
    ("kind", "size", "things", "count"),
    [
        ("bowl", (0.13, 0.13, 0.022), [CUBE] * 4, 2),
        ("tray", (0.2, 0.14, 0.018), [BAR, *[CUBE] * 3, (0.04, 0.04, 0.05)], 5),
    ],
)
def test_a_container_holds_what_fits_side_by_side(
    kind: str, size: Vec3, things: list[Vec3], count: int
) -> None:
    assert holds(kind, size, things) == count == holds(kind, size, things[::-1])


@pytest.mark.parametrize("seed", range(12))
def test_what_was_cut_out_of_a_rectangle_is_packed_into_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pieces = [(0.3, float(rng.uniform(0.06, 0.3)))]
    room = pieces[0]
    for _ in range(int(rng.integers(0, 8))):
        a, b = pieces.pop(0)
        cut = float(rng.uniform(0.05, max(a - 0.05, 0.05)))
        pieces += [(a, b)] if a < 0.1 else [(b, cut), (b, a - cut)]
    smaller = [(a - 0.012, b - 0.012) for a, b in pieces]
    places = packed(room, smaller)
    boxes = [
        (x - w / 2, y - d / 2, x + w / 2, y + d / 2)
        for (x, y, turned), (a, b) in zip(places, smaller, strict=True)
        for w, d in [(b, a) if turned else (a, b)]
    ]
    assert all(min(box[:2]) > -1e-6 and box[2] < room[0] + 1e-6 and box[3] < room[1] + 1e-6 for box in boxes)
    for p, q in combinations(boxes, 2):
        assert min(p[2] - q[0], q[2] - p[0]) < 1e-6 or min(p[3] - q[1], q[3] - p[1]) < 1e-6
