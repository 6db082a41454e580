"""The corridor runs the same contract as every environment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from corridor.environment import CorridorEnvironment

from spca_testing.contracts.environment_contract import EnvironmentContract


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
