"""Random tables: by seed, within bounds, with room between things, or refused."""

import itertools
import math
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca_core.errors import InputError
from spca_core.layout import Layout, cluttered_layout, random_layout
from spca_core.world import Interval, World, load_world

WORLD = load_world()
seeds = st.integers(0, 2**40)
Draw = Callable[..., Layout]
some_tables = settings(max_examples=50)


def bottom(layout: Layout, model: str) -> float:
    return layout.poses[model].position[2] - WORLD.object(model).size[2] / 2


def free_distance(layout: Layout, a: str, b: str) -> float:
    """Between the circles around two things, seen from above."""
    pa, pb = layout.poses[a].position, layout.poses[b].position
    return math.dist(pa[:2], pb[:2]) - WORLD.object(a).radius - WORLD.object(b).radius


def with_area(x: Interval, y: Interval) -> World:
    return WORLD.model_copy(update={"work_area": WORLD.work_area.model_copy(update={"x": x, "y": y})})


@some_tables
@given(seeds, st.floats(0, 0.06))
def test_things_keep_their_distance_and_stay_in_bounds(seed: int, spacing: float) -> None:
    layout = random_layout(WORLD, seed, spacing)
    assert list(layout.poses) == [o.model for o in WORLD.objects]
    for a, b in itertools.combinations(layout.poses, 2):
        assert free_distance(layout, a, b) >= spacing - 1e-12
    for item in WORLD.objects:
        pose, r = layout.poses[item.model], item.size[0] / 2
        for value, (low, high) in zip(pose.position, (WORLD.work_area.x, WORLD.work_area.y), strict=False):
            assert low + r <= value <= high - r, "a whole plate is inside"
        assert bottom(layout, item.model) == pytest.approx(WORLD.table.top)
        assert pose.matrix()[2, 2] == pytest.approx(1.0), "upright"


@pytest.mark.parametrize("draw", [random_layout, cluttered_layout])
@some_tables
@given(seed=seeds)
def test_a_seed_is_a_table(draw: Draw, seed: int) -> None:
    layout = draw(WORLD, seed)
    assert layout == draw(WORLD, seed)
    assert layout.seed == seed
    assert layout.poses != draw(WORLD, seed + 1).poses


def test_a_table_stays_the_same_from_version_to_version() -> None:
    """Recorded runs and measurements name tables by their seed."""
    x, y, z = random_layout(WORLD, 7).poses["box_red"].position
    assert (x, y, z) == pytest.approx((0.6145702079, -0.1814476154, 0.42), abs=1e-9)
    cornered = random_layout(WORLD, 13)
    assert cornered.seed == 13
    assert cornered.poses == random_layout(WORLD, 13 + 1_000_003).poses, "begun anew, with another seed"


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((0.40, 0.50), (-0.1, 0.1)),  # narrower than a plate
        ((0.30, 0.60), (0.0, 0.05)),
        ((0.40, 0.52), (-0.06, 0.06)),  # room for one thing only
        ((0.40, 0.65), (-0.1, 0.1)),  # room for some of them
    ],
)
def test_too_small_an_area_is_said(x: Interval, y: Interval) -> None:
    with pytest.raises(InputError, match=r"too small for a random table.*less spacing"):
        random_layout(with_area(x, y), 0)


@pytest.mark.parametrize("draw", [random_layout, cluttered_layout])
@pytest.mark.parametrize(("asked", "said"), [((3, 1.0), "less spacing"), ((-1,), "seed -1 is negative")])
def test_a_table_that_cannot_be_is_said(draw: Draw, asked: tuple[float, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        draw(WORLD, *asked)


def support(layout: Layout, model: str) -> str | None:
    """What a thing stands on: the one whose top is at its bottom and whose circle is under its centre."""
    if bottom(layout, model) == pytest.approx(WORLD.table.top):
        return WORLD.table.model
    for other in layout.poses:
        top = bottom(layout, other) + WORLD.object(other).size[2]
        apart = math.dist(layout.poses[other].position[:2], layout.poses[model].position[:2])
        if other != model and top == pytest.approx(bottom(layout, model)) and apart < 0.03:
            return other
    return None


@some_tables
@given(seeds)
def test_in_clutter_everything_stands_on_something(seed: int) -> None:
    layout = cluttered_layout(WORLD, seed)
    below = {model: support(layout, model) for model in layout.poses}
    assert None not in below.values()
    plates = [o for o in below.values() if o is not None and o.startswith("plate")]
    assert len(plates) == len(set(plates)), "one cube a plate"
    assert sum(o is not None and o.startswith("box") for o in below.values()) <= 1, "no towers"
    assert all(below[o.model] == WORLD.table.model for o in WORLD.objects if o.kind == "plate")
    on_table = [model for model, support_ in below.items() if support_ == WORLD.table.model]
    for a, b in itertools.combinations(on_table, 2):
        assert free_distance(layout, a, b) >= 0.014 - 1e-12


def test_clutter_has_cubes_on_plates_and_now_and_then_on_a_cube() -> None:
    tables = [cluttered_layout(WORLD, seed) for seed in range(40)]
    below = Counter(str(support(t, f"box_{c}"))[:3] for t in tables for c in ("red", "green", "blue"))
    assert below["tab"] > below["pla"] > below["box"] > 0
