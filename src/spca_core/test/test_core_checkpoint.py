"""Checkpoints hold data only, come back as they were, and nothing foreign is made from them."""

import base64
import io
import json
import pickle
import zlib
from dataclasses import dataclass

import numpy as np
import pytest

from spca_core.checkpoint import _MAGIC, pack, unpack
from spca_core.errors import InputError
from spca_core.result import Outcome
from spca_core.scene import Fact


@dataclass(frozen=True)
class Box:
    content: object
    array: np.ndarray


class Trap:
    made = False

    def __init__(self) -> None:
        Trap.made = True

    def __reduce__(self) -> tuple[object, ...]:
        return (Trap, ())


def test_what_is_packed_comes_back_as_it_was() -> None:
    fact = Fact(predicate="on", args=("a", "b"))
    content = {"ü": fact, "outcome": Outcome.FAIL, 3: (1, [2.5, None]), (True, "a"): frozenset({b"\0"})}
    again = unpack(pack(Box(content=content, array=np.arange(6.0).reshape(2, 3))), (Box, Fact, Outcome))
    assert again.content == content and type(again.content[3]) is tuple
    assert np.array_equal(again.array, np.arange(6.0).reshape(2, 3))
    for value in (len, object()):
        with pytest.raises(TypeError):
            pack(value)


def packed(value: object) -> bytes:
    return _MAGIC + zlib.compress(json.dumps(value).encode())


def test_nothing_foreign_is_made() -> None:
    with pytest.raises(InputError, match="not a checkpoint of this version"):
        unpack(pickle.dumps(Trap()))
    Trap.made = False
    for content, known in (
        (pack(Fact(predicate="on", args=())), Outcome),
        (packed(["object", "os:system", {}]), Fact),
        (packed(["enum", f"{Fact.__module__}:Fact", {}]), Fact),
    ):
        with pytest.raises(InputError, match="no object of"):
            unpack(content, (known,))
    unpack(packed(["object", f"{Trap.__module__}:Trap", {}]), (Trap,))
    assert not Trap.made, "no constructor runs"


HEADER = io.BytesIO()
np.lib.format.write_array_header_1_0(HEADER, {"descr": "<f8", "fortran_order": False, "shape": (2**40,)})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        pack([1])[:-3],
        packed(["nothing"]),
        packed(["array", base64.b64encode(HEADER.getvalue()).decode()]),
        _MAGIC + zlib.compress(b"[" * 100_000),
        _MAGIC + zlib.compress(b" " * (65 * 2**20)),
        packed(["object", f"{Fact.__module__}:Fact", {"_private": 1}]),
    ],
    ids=["empty", "cut off", "unknown", "terabytes", "nested", "bomb", "private"],
)
def test_what_is_damaged_is_one_clear_line(content: bytes) -> None:
    with pytest.raises(InputError) as error:
        unpack(content, (Fact,))
    assert "\n" not in str(error.value)
