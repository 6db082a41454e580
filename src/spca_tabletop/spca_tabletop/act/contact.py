"""Permission to touch things, for as long as it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spca_core.ports.arm import Arm


@contextmanager
def touching(arm: Arm, *names: str) -> Iterator[None]:
    """While it lasts, the gripper and what it holds may touch the named objects."""
    arm.allow_contact(*names)
    try:
        yield
    finally:
        arm.allow_contact()
