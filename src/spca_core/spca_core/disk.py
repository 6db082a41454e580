"""Files: a full disk is detected and reported, and what is temporary is not left behind for ever."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_full(error: BaseException) -> bool:
    """Return whether an error means that no space is left.

    The limit may be the disk's, the quota's or the process's.
    """
    return isinstance(error, OSError) and error.errno in _FULL


def write_picture(path: Path, picture: Any, parameters: Sequence[int] = ()) -> None:
    """Write a picture, (h, w), (h, w, 3) in BGR or 16 bits a pixel, in the format of its suffix.

    Raises OSError where it cannot be written, unlike OpenCV's own `imwrite`, which fails silently.
    """
    import cv2

    encoded = cv2.imencode(path.suffix, picture, list(parameters))[1]
    path.write_bytes(encoded.tobytes())


_NEW_S = 60.0  # seconds within which a folder's maker may not have locked it yet


def scratch(kind: str) -> tempfile.TemporaryDirectory[str]:
    """Make a folder `spca-KIND-…` that goes with its maker, and remove those that killed makers have left.

    Older revisions named theirs with underscores and did not lock them: those are left alone.
    """
    prefix = f"spca-{kind}-"
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            found = folder.lstat()
            if found.st_uid == os.getuid() and time.time() - found.st_mtime > _NEW_S:
                held = locked(folder)
                shutil.rmtree(folder, ignore_errors=True)
                os.close(held)
    made = tempfile.TemporaryDirectory(prefix=prefix)
    weakref.finalize(made, os.close, locked(Path(made.name)))
    return made


def locked(folder: Path) -> int:
    """Return a descriptor that locks a folder until its process ends. OSError where another one locks it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
