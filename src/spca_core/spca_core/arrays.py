"""Arrays in files, read so that a file runs no code and takes no more memory than it says and may."""

from __future__ import annotations

import io
import math
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from spca_core.validation import expecting

_LARGEST = 2**30
"""Bytes of a file's arrays when they are unpacked; more is refused."""


def read_arrays(path: Path, what: str) -> dict[str, np.ndarray]:
    """The arrays of an `.npz` file by their names. Raises InputError unless it can be read as `what`."""
    with expecting(what, path), ZipFile(path) as file:
        if sum(entry.file_size for entry in file.infolist()) > _LARGEST:
            raise ValueError(f"it has more than {_LARGEST >> 20} MB")
        return {entry.filename.removesuffix(".npy"): array(file.read(entry)) for entry in file.infolist()}


def array(content: bytes) -> np.ndarray:
    """An array, as `numpy.save` writes it, of the size that its bytes have: a header may declare terabytes.

    Raises nearly anything for other bytes.
    """
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError("an array of an unknown format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("an array of another size than it declares")
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)
