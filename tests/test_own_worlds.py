"""Tables as users lay them, done from a sentence, and judged by a look and by ground truth."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from spca_core.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
from own_worlds import outcome


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("under_a_bar", id="what was only uncovered is not done yet"),
        pytest.param("thick_plate", id="room is left on a plate where it was lacking"),
    ],
)
def test_a_table_is_solved_and_truly(name: str, tmp_path: Path) -> None:
    assert outcome(name, tmp_path)[0] == "solved"
