"""Settings of all tests."""

import gc
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from spca_planner.solver.engines import skip_slow_imports

skip_slow_imports()  # as the solver's process does: else every process of the tests loads most of scipy

# No test depends on how quick or busy the machine is.
settings.register_profile("spca", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("spca")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a test of readers try more than it does by default."""
    parser.addoption("--mutations", type=int, default=1000, help="damaged versions of a file for each reader")


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage: what is imported and collected stays to the end."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a slow test where `scripts/test` would not find it, which looks into files for these words."""
    for mark in ("slow", "ros"):
        for path in {item.path for item in items if {"slow", mark} <= {m.name for m in item.iter_markers()}}:
            if f"mark.{mark}" not in path.read_text():
                raise pytest.UsageError(f"{path} has slow tests, but not the words 'mark.{mark}'")
