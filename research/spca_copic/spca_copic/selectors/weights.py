"""Arrays of numbers in one file to share: a line of JSON as the header, then plain 32-bit floats.

Reading it runs nothing and allocates no more than its header's shapes, which the reader has to expect.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.run_folder import write_atomically
from spca_core.validation import expecting, plain

_LONGEST_HEADER = 1 << 20


class Learnt(Record):
    """Progress of a selector's learning: its steps, and the state of its random numbers (PCG64)."""

    steps: int = Field(ge=0, lt=2**53)
    random: dict[Literal["state", "inc"], Annotated[int, Field(ge=0, lt=2**128)]] = Field(min_length=2)

    @classmethod
    def of(cls, steps: int, rng: np.random.Generator) -> Learnt:
        """The state to save."""
        return cls(steps=steps, random=rng.bit_generator.state["state"])

    def restore(self, rng: np.random.Generator) -> None:
        """Let the random numbers go on where they were."""
        rng.bit_generator.state = {**rng.bit_generator.state, "state": self.random}


class Header(Record):
    """The first line: what kind of selector, its state, and each array's shape, in order."""

    kind: str
    version: int
    options: dict[str, Any] = {}
    """Of an older file; its arrays' shapes say the same."""
    state: Learnt
    arrays: dict[str, tuple[int, ...]]
    sha256: str


def write_weights(path: Path, kind: str, state: Learnt, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a selector's file, whole or not at all."""
    content = b"".join(np.ascontiguousarray(a, dtype="<f4").tobytes() for a in arrays.values())
    header = Header(
        kind=kind,
        version=1,
        state=state,
        arrays={name: a.shape for name, a in arrays.items()},
        sha256=hashlib.sha256(content).hexdigest(),
    )
    write_atomically(path, header.model_dump_json().encode() + b"\n" + content)


def read_weights(
    path: Path, kind: str, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[Header, dict[str, np.ndarray]]:
    """The content of a selector's file.

    Raises InputError unless it is whole, of that kind, and has those arrays.
    """
    with expecting("a selector", path), plain(path).open("rb") as stream:
        header = Header.model_validate_json(stream.readline(_LONGEST_HEADER))
        size = 4 * sum(int(np.prod(shape)) for shape in shapes.values())
        content = stream.read(size + 1)
    if (header.kind, header.version) != (kind, 1):
        raise InputError(
            f"a selector of kind '{header.kind[:40]}', version {header.version}",
            str(path),
            f"'{kind}', version 1 is needed",
        )
    if header.arrays != dict(shapes):
        raise InputError("not a selector of this size", str(path), f"its arrays must be {_shown(shapes)}")
    if len(content) != size or hashlib.sha256(content).hexdigest() != header.sha256:
        raise InputError("a damaged selector", str(path), "its numbers are not those that were saved")
    arrays: dict[str, np.ndarray] = {}
    at = 0
    for name, shape in shapes.items():
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(content, "<f4", count, at).astype(np.float32).reshape(shape)
        at += 4 * count
        if not np.isfinite(arrays[name]).all():
            raise InputError("a damaged selector", str(path), f"'{name}' holds numbers that are not finite")
    return header, arrays


def _shown(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {'×'.join(map(str, shape))}" for name, shape in list(shapes.items())[:4])
