"""Settings of all tests."""

import pytest
from hypothesis import HealthCheck, settings

# No test depends on how quick or busy the machine is.
settings.register_profile("spca", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("spca")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a test of readers try more than it does by default."""
    parser.addoption("--mutations", type=int, default=1000, help="damaged versions of a file for each reader")
