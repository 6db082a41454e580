"""Checkpoints that travel as bytes: pickles are only opened if this checkout's own nodes have made them."""

from __future__ import annotations

import hmac
import os
import pickle
from functools import cache
from hashlib import sha256
from typing import Any

from spca_core.errors import InputError
from spca_core.paths import state_folder

_KEY_FILE = state_folder() / ".checkpoint-key"
_DIGEST = sha256().digest_size


def seal(state: Any) -> bytes:
    """A state as bytes that `unseal` takes."""
    content = pickle.dumps(state)
    return hmac.digest(_key(), content, "sha256") + content


def unseal(sealed: bytes) -> Any:
    """The state in the bytes of `seal`. InputError when they come from elsewhere or are damaged."""
    content = sealed[_DIGEST:]
    if not hmac.compare_digest(sealed[:_DIGEST], hmac.digest(_key(), content, "sha256")):
        raise InputError("not a checkpoint made in this checkout", hint="start a new run")
    return pickle.loads(content)


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
