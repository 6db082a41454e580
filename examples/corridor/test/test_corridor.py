"""The corridor keeps the contracts that every environment and every kit keeps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from corridor.environment import CorridorEnvironment
from corridor.kit import CorridorKit

import spca
from spca_testing.contracts.environment_contract import EnvironmentContract
from spca_testing.contracts.kit_contract import KitContract


class TestCorridor(EnvironmentContract):
    """See `EnvironmentContract`."""

    @contextmanager
    def fresh(self) -> Iterator[CorridorEnvironment]:
        """A corridor of nine cells."""
        with closing(CorridorEnvironment(9)) as environment:
            yield environment

    def progress(self, environment: CorridorEnvironment) -> None:
        """One step on."""
        environment.world.call("step", (f"c{environment.world.position + 1}",), {})


class TestCorridorKit(KitContract):
    """See `KitContract`."""

    kit = CorridorKit
    unknown = "corridor:1"


def test_a_level_is_solved(tmp_path) -> None:
    run = spca.run("corridor:5", out=tmp_path / "run")
    assert run.result.success, run.result.reason
    assert run.result.steps == 4
