"""Checkpoints as bytes that hold data only: reading one runs no code, wherever it comes from.

The format is JSON. A value without a JSON equivalent is written as a list of a tag and its parts, an object
as its class and attributes. Only classes named by the reader are restored. Their attributes are set directly,
so that no constructor or hook of a class runs.
"""

from __future__ import annotations

import base64
import dataclasses
import io
import json
import math
import zlib
from collections.abc import Collection, Mapping
from enum import Enum
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from pydantic import BaseModel

from spca_core.errors import InputError
from spca_core.validation import expecting, plain

_LARGEST_ARRAY = 2**30
"""Maximum size in bytes of a file's arrays when they are unpacked; a larger file is refused."""


def read_arrays(path: Path, what: str) -> dict[str, np.ndarray]:
    """Return the arrays of an `.npz` file by name. Raises InputError unless it can be read as `what`."""
    with expecting(what, path), ZipFile(plain(path)) as file:
        if sum(entry.file_size for entry in file.infolist()) > _LARGEST_ARRAY:
            raise ValueError(f"it has more than {_LARGEST_ARRAY >> 20} MB")
        return {entry.filename.removesuffix(".npy"): array(file.read(entry)) for entry in file.infolist()}


def array(content: bytes) -> np.ndarray:
    """Return the array that `numpy.save` has written as these bytes.

    Its size must be that of the bytes: headers may declare terabytes. Raises nearly anything for other bytes.
    """
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array of an unknown format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("an array of another size than it declares")
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


_MAGIC = b"spca-checkpoint-6\n"
_PLAIN = (str, bool, int, float, type(None))
_SEQUENCES: dict[str, type] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
_LARGEST = 64 * 2**20
"""Maximum size in bytes of a checkpoint when it is unpacked; a larger one is refused."""


def pack(state: Any) -> bytes:
    """Serialise a state.

    Raises TypeError for anything that is not data, such as a function or an open file.
    """
    return _MAGIC + zlib.compress(json.dumps(_encoded(state), separators=(",", ":")).encode(), 1)


def unpack(content: bytes, kinds: Collection[type] = ()) -> Any:
    """Return the state in the bytes that `pack` made; its objects may be of these `kinds` only.

    Raises InputError for bytes that are something else, are damaged or too large, or hold other objects.
    Which parts of a state fit together is not examined: `RunFolder.read_sealed` knows who has written them.
    """
    hint = "start a new run"
    if not content.startswith(_MAGIC):
        raise InputError("not a checkpoint of this version", hint=hint)
    try:
        expander = zlib.decompressobj()
        text = expander.decompress(content[len(_MAGIC) :], _LARGEST)
        if expander.unconsumed_tail or not expander.eof:
            raise ValueError("it is cut off, or too large")
        return _decoded(json.loads(text), {_name(kind): kind for kind in kinds})
    except Exception as error:  # nearly anything: of zlib, JSON, numpy, and of parts in wrong places
        raise InputError("a damaged checkpoint", where=str(error)[:200], hint=hint) from error


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _encoded(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind.__name__ in _SEQUENCES and kind is _SEQUENCES[kind.__name__]:
        return [kind.__name__, *map(_encoded, value)]
    if kind is dict:
        return ["dict", *([_encoded(k), _encoded(v)] for k, v in value.items())]
    if kind is bytes:
        return ["bytes", base64.b64encode(value).decode()]
    if isinstance(value, (np.ndarray, np.generic)):
        buffer = io.BytesIO()
        np.save(buffer, np.asarray(value), allow_pickle=False)
        what = "array" if isinstance(value, np.ndarray) else "number"
        return [what, base64.b64encode(buffer.getvalue()).decode()]
    if isinstance(value, Enum):
        return ["enum", _name(kind), value.value]
    if isinstance(value, BaseModel) or dataclasses.is_dataclass(value) or hasattr(value, "__dict__"):
        if callable(value):
            raise TypeError(f"a checkpoint cannot hold {kind.__name__}")
        return ["object", _name(kind), {n: _encoded(v) for n, v in vars(value).items()}]
    raise TypeError(f"a checkpoint cannot hold {kind.__name__}")


def _decoded(value: Any, kinds: Mapping[str, type]) -> Any:
    if isinstance(value, dict):
        raise ValueError("a bare mapping")
    if not isinstance(value, list):
        return value
    tag, *parts = value
    if tag in _SEQUENCES:
        return _SEQUENCES[tag](_decoded(part, kinds) for part in parts)
    if tag == "dict":
        return {_decoded(k, kinds): _decoded(v, kinds) for k, v in parts}
    if tag == "bytes":
        return base64.b64decode(parts[0], validate=True)
    if tag in ("array", "number"):
        found = array(base64.b64decode(parts[0], validate=True))
        return found if tag == "array" else found[()]
    if tag not in ("enum", "object"):
        raise ValueError(f"unknown part '{str(tag)[:40]}'")
    name, content = parts[:2]
    kind = kinds.get(name)
    if kind is None or issubclass(kind, Enum) != (tag == "enum"):
        raise ValueError(f"no object of '{str(name)[:80]}' belongs here")
    if issubclass(kind, Enum):
        return kind(content)
    fields = {n: _decoded(v, kinds) for n, v in content.items()}
    if issubclass(kind, BaseModel):
        if unknown := set(fields) - set(kind.model_fields):
            raise ValueError(f"{kind.__name__} has no '{unknown.pop()}'")
        return kind.model_construct(**fields)
    made = object.__new__(kind)
    vars(made).update(fields)
    return made
