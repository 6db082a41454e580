"""Marks that only this checkout can make, by a secret of its own."""

from __future__ import annotations

import hmac
import os
import tempfile
from contextlib import suppress
from functools import cache

from spca_core.paths import state_folder

_KEY_FILE = state_folder() / ".checkpoint-key"


@cache
def _key() -> bytes:
    """Return a secret of this checkout; it is made on first use, and readable by its user only."""
    _KEY_FILE.parent.mkdir(parents=True, exist_ok=True)
    if not _KEY_FILE.exists():
        handle, temporary = tempfile.mkstemp(dir=_KEY_FILE.parent, prefix=f"{_KEY_FILE.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(os.urandom(32))
            with suppress(FileExistsError):  # another process has just made one
                os.link(temporary, _KEY_FILE)
        finally:
            os.unlink(temporary)
    return _KEY_FILE.read_bytes()


def fingerprint(text: str | bytes) -> str:
    """Return a mark by which this checkout recognises equal texts, and from which nothing can be learned."""
    return hmac.digest(_key(), text if isinstance(text, bytes) else text.encode(), "sha256").hex()


def same(a: str, b: str) -> bool:
    """Return whether two marks are the same, in a time that does not tell how alike they are."""
    return hmac.compare_digest(a.encode(), b.encode())
