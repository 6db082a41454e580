"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# No test depends on how quick or busy the machine is.
settings.register_profile("spca", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("spca")
