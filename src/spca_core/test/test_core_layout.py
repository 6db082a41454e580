"""Random tables: by seed, within bounds, with room between things, or refused."""

import itertools
import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca_core.errors import InputError
from spca_core.layout import Layout, cluttered_layout, random_layout, resting_contacts
from spca_core.world import load_world

WORLD = load_world()
SPACING = {random_layout: 0.027, cluttered_layout: 0.014 * 0.6}
"""The least distance (m) in each kind of table, where its area is too small for the one asked for."""
both = pytest.mark.parametrize("draw", SPACING)
Draw = Callable[..., Layout]


@both
@settings(max_examples=40)
@given(seed=st.integers(0, 2**40))
def test_things_keep_their_distance_stay_in_bounds_and_stand_on_something(draw: Draw, seed: int) -> None:
    layout = draw(WORLD, seed)
    assert layout.seed == seed and [*layout.poses] == [o.model for o in WORLD.objects]
    below = dict(resting_contacts(layout, WORLD))
    assert {*below} == {*layout.poses} and all(pose.matrix()[2, 2] > 0.999 for pose in layout.poses.values())
    on_table = [model for model, support in below.items() if support == WORLD.table.model]
    for a, b in itertools.combinations(on_table, 2):
        apart = math.dist(layout.poses[a].position[:2], layout.poses[b].position[:2])
        assert apart >= WORLD.object(a).radius + WORLD.object(b).radius + SPACING[draw] - 1e-12
    for model in on_table:
        at, r = layout.poses[model].position, WORLD.object(model).size[0] / 2
        for value, (low, high) in zip(at, (WORLD.work_area.x, WORLD.work_area.y), strict=False):
            assert low + r <= value <= high - r, "a whole plate is inside"
    taken = [support for support in below.values() if support != WORLD.table.model]
    assert len(taken) == len(set(taken)), "one cube a plate"
    assert taken == [] or draw is cluttered_layout
    assert sum(support.startswith("box") for support in taken) <= 1, "no towers"


def test_a_table_stays_the_same_from_version_to_version() -> None:
    """Recorded runs and measurements name tables by their seed."""
    x, y, z = random_layout(WORLD, 7).poses["box_red"].position
    assert (x, y, z) == pytest.approx((0.6145702079, -0.1814476154, 0.42), abs=1e-9)
    cornered = random_layout(WORLD, 13)
    assert cornered.poses == random_layout(WORLD, 13 + 1_000_003).poses, "begun anew, with another seed"


@both
@pytest.mark.parametrize(("asked", "said"), [((3, 1.0), "less spacing"), ((-1,), "seed -1 is negative")])
def test_a_table_that_cannot_be_is_said(draw: Draw, asked: tuple[float, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        draw(WORLD, *asked)
