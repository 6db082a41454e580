"""Availability of a display on which a window can be opened."""

from __future__ import annotations

import os
import sys

from spca_core.errors import InputError


def require_display() -> None:
    """Raise InputError where no window can be opened."""
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        raise InputError(
            "there is no display to open a window on",
            where="--view",
            hint="leave --view out; every run leaves a video",
        )
