"""Marks that only this checkout can make, by a secret of its own."""

from __future__ import annotations

import hmac
import os
from functools import cache

from spca_core.paths import state_folder

_KEY_FILE = state_folder() / ".checkpoint-key"


@cache
def _key() -> bytes:
    """A secret of this checkout; made on first use, readable by its user only."""
    _KEY_FILE.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(_KEY_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _KEY_FILE.read_bytes()
    with os.fdopen(handle, "wb") as file:
        key = os.urandom(32)
        file.write(key)
    return key


def fingerprint(text: str) -> str:
    """A mark by which equal texts are recognised in this checkout, and from which nothing can be learned."""
    return hmac.digest(_key(), text.encode(), "sha256").hex()
