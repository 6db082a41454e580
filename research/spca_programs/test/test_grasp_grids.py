"""Generated grids follow the benchmark's distributions; released grids are read as they are.

The released files are not part of the project: the generator is held against figures taken from them.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from spca_core.errors import InputError
from spca_programs.grasp.dataset import FAMILIES, generated, released
from spca_programs.grasp.generate import generate
from spca_programs.grasp.grid import Grid

# Of the 100 released grids of some families with an inner start: mean and sd of the energy, of the pairs of
# neighbouring energies, and of the difference in energy between rows 0-5 and 6-10, and between columns 0-5
# and 6-10.
RELEASED = {
    "inner-cluster-block": ((27.45, 5.74), (34.86, 8.82), (3.27, 11.12), (1.49, 10.22)),
    "inner-vertical-free": ((59.30, 5.01), (57.02, 10.93), (5.02, 18.41), (5.38, 5.65)),
    "inner-random-free": ((59.52, 13.33), (55.57, 23.76), (6.06, 5.56), (5.50, 5.60)),
    "inner-spiral-block": ((36.47, 2.75), (28.61, 4.48), (10.77, 2.42), (10.95, 2.81)),
    "inner-horizontal-block": ((54.36, 5.29), (48.10, 9.32), (4.56, 4.63), (4.32, 17.33)),
}


def features(grids: list[Grid]) -> np.ndarray:
    """Statistics of grids, shape (4, N).

    Energy, neighbouring pairs of energies, and the differences between upper and lower rows and left and
    right columns.
    """
    energy = np.array([g.energy for g in grids]).astype(int)
    pairs = (energy[:, 1:] * energy[:, :-1]).sum((1, 2)) + (energy[:, :, 1:] * energy[:, :, :-1]).sum((1, 2))
    rows = energy[:, :6].sum((1, 2)) - energy[:, 6:].sum((1, 2))
    columns = energy[:, :, :6].sum((1, 2)) - energy[:, :, 6:].sum((1, 2))
    return np.array([energy.sum((1, 2)), pairs, rows, columns])


@pytest.fixture(scope="module")
def grids() -> dict[str, list[Grid]]:
    """300 generated grids of each family."""
    found: dict[str, list[Grid]] = {}
    for family, _, grid in generated(seed=11, count=300):
        found.setdefault(family.name, []).append(grid)
    return found


@pytest.mark.parametrize("family", RELEASED)
def test_generated_grids_have_the_statistics_of_the_released(
    family: str, grids: dict[str, list[Grid]]
) -> None:
    for ours, (mean, sd) in zip(features(grids[family]), RELEASED[family], strict=True):
        error = 4 * (sd**2 / 100 + ours.var() / len(ours)) ** 0.5  # of the difference of two means
        assert abs(ours.mean() - mean) < error
        assert 0.7 < ours.std() / sd < 1.4


def test_starts_and_obstacles(grids: dict[str, list[Grid]]) -> None:
    for name, drawn in grids.items():
        inner = [g.start[0] in range(3, 8) and g.start[1] in range(3, 8) for g in drawn]
        assert all(inner) if name.startswith("inner") else not any(inner)
        share = np.mean([g.obstacle for g in drawn])
        assert share == 0 if name.endswith("free") else abs(share - 0.1) < 0.01
        assert not any(
            g.obstacle[g.start] or g.energy[g.start] or (g.obstacle & g.energy).any() for g in drawn
        )


def test_equal_seeds_give_equal_grids_whatever_the_count() -> None:
    few = {(f.name, i): g for f, i, g in generated(seed=2, count=2)}
    more = {(f.name, i): g for f, i, g in generated(seed=2, count=3)}
    other = {(f.name, i): g for f, i, g in generated(seed=3, count=2)}
    assert all(more[key] == grid for key, grid in few.items())
    assert few != other
    assert len(few) == 2 * len(FAMILIES) == 40


def test_released_files_are_read_and_bad_ones_told(tmp_path: Path) -> None:
    grid = generate("spiral", False, "inner", np.random.default_rng(0))
    record = {"index": 4, "grid": grid.to_text(), "start": list(grid.start)}
    file = tmp_path / "inner_upDown_free.jsonl"
    file.write_text(json.dumps(record) + "\n")
    [(family, index, read)] = released(tmp_path)
    assert (family.name, index, read) == ("inner-horizontal-free", 4, grid)
    file.write_text(json.dumps({**record, "start": [0, 0]}) + "\n")
    with pytest.raises(InputError, match=r"start \(0, 0\) disagrees"):
        list(released(tmp_path))
