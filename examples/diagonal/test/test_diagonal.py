"""The relation of this package is said, planned, placed and told, as spca's own are."""

from __future__ import annotations

from pathlib import Path

import diagonal

import spca
from spca_testing.contracts.relation_contract import RelationContract

LEVEL = Path(__file__).parents[1] / "levels" / "diagonal_01.yaml"


class TestDiagonal(RelationContract):
    text = f"Put the red cube {diagonal.NAME.replace('_', ' ')} to the green cube."
    place = f"{diagonal.NAME}__cube_green"


def test_the_level_is_solved(tmp_path) -> None:
    run = spca.run(str(LEVEL), transport="inproc", video=False, report=False, out=tmp_path / "run")
    assert run.result.success, run.result.reason
