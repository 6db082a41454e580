"""What set-up has done already: each step leaves the digest of what it depends on."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

from environment import RUNTIME_LOCK
from places import Places


def digest(files: Iterable[Path], *more: str) -> str:
    """A digest of files, with their names, and of texts."""
    found = hashlib.sha256("\0".join(more).encode())
    for file in files:
        found.update(str(file.name).encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


def packages() -> str:
    """What the installed packages depend on: the lock file and this Python."""
    return digest([RUNTIME_LOCK], sys.version)


def valid(places: Places, step: str, wanted: str) -> bool:
    """Whether a step was done with what `wanted` is the digest of."""
    stamp = places.stamps / step
    return stamp.is_file() and stamp.read_text() == wanted
