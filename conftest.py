"""Settings of all tests."""

import pytest
from hypothesis import HealthCheck, settings

# No test depends on how quick or busy the machine is.
settings.register_profile("spca", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("spca")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group tests for `--dist loadgroup`: all that run nodes in one process, others by their file."""
    for item in items:
        nodes = item.get_closest_marker("ros") is not None
        item.add_marker(pytest.mark.xdist_group("ros" if nodes else str(item.path)))
