"""The kind of this package is seen, named, grasped, put down and judged, as spca's own are."""

from __future__ import annotations

from pathlib import Path

import spca
from spca_testing.contracts.kind_contract import KindContract

LEVEL = Path(__file__).parents[1] / "levels" / "mug_01.yaml"


class TestMug(KindContract):
    kind = "mug"


def test_the_level_is_solved(tmp_path) -> None:
    run = spca.run(str(LEVEL), transport="inproc", video=False, report=False, out=tmp_path / "run")
    assert run.result.success, run.result.reason
