"""Settings of all tests."""

import gc
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from spca_planner.solver.engines import skip_slow_imports
from spca_ros.domain import own_domain

skip_slow_imports()  # as the solver's process does: else every process of the tests loads most of scipy

# No test depends on how quick or busy the machine is.
settings.register_profile("spca", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("spca")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a test of readers try more than it does by default."""
    parser.addoption("--mutations", type=int, default=1000, help="damaged versions of a file for each reader")


@pytest.fixture(scope="module", autouse=True)
def ros_domain() -> Iterator[int]:
    """A ROS domain of this file of tests: a run takes the robot that it finds in its domain."""
    with own_domain() as domain:
        yield domain


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage: what is imported and collected stays to the end."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first, so that no worker begins one when the others are about to end."""
    slow, ros = ({item.path for item in items if item.get_closest_marker(mark)} for mark in ("slow", "ros"))
    items.sort(key=lambda item: (item.path not in slow, item.path not in ros))
