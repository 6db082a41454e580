"""Writing files such that a full disk is detected and reported."""

from __future__ import annotations

import errno
from collections.abc import Sequence
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
