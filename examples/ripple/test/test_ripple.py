"""The engine keeps the contract that every engine keeps, and plans for the robot."""

from __future__ import annotations

import pytest
from ripple import RippleEngine

import spca
from spca_testing.contracts.engine_contract import EngineContract


class TestRipple(EngineContract):
    """See `EngineContract`."""

    @pytest.fixture
    def engine(self) -> RippleEngine:
        """The engine under test."""
        return RippleEngine()


def test_a_level_is_solved(tmp_path) -> None:
    run = spca.run("touch_02", transport="inproc", engine="ripple", video=False, out=tmp_path / "run")
    assert run.result.success, run.result.reason
