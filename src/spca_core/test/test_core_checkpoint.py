"""Checkpoints hold data only, come back as they were, and nothing foreign is made from them."""

import base64
import io
import json
import pickle
import zlib
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.checkpoint import _MAGIC, pack, unpack
from spca_core.errors import InputError
from spca_core.result import Outcome
from spca_core.scene import Fact


@dataclass(frozen=True)
class Box:
    content: object
    array: np.ndarray


class Plain:
    def __init__(self) -> None:
        self.told: dict[tuple[bool, ...], float] = {(True, False): 1.5}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.frozensets(st.integers())
    ),
    max_leaves=20,
)


@given(_VALUES)
def test_plain_values_come_back_as_they_were(value: object) -> None:
    again = unpack(pack(value))
    assert again == value
    assert type(again) is type(value)


def test_objects_come_back_as_they_were() -> None:
    fact = Fact(predicate="on", args=("a", "b"))
    box = Box(
        content={"fact": fact, "outcome": Outcome.FAIL, 3: (1, [2.5])}, array=np.arange(6.0).reshape(2, 3)
    )
    again = unpack(pack((box, Plain())), (Box, Plain, Fact, Outcome))
    assert again[0].content == box.content
    assert np.array_equal(again[0].array, box.array)
    assert again[1].told == Plain().told
    assert unpack(pack(np.float64(0.25))) == 0.25


class Trap:
    made = False

    def __init__(self) -> None:
        Trap.made = True

    def __reduce__(self) -> tuple[object, ...]:
        return (Trap, ())


def test_nothing_foreign_is_made() -> None:
    with pytest.raises(InputError, match="not a checkpoint of this version"):
        unpack(pickle.dumps(Trap()))
    Trap.made = False
    with pytest.raises(InputError, match="no object of"):
        unpack(pack(Fact(predicate="on", args=())), (Outcome,))
    with pytest.raises(InputError, match="no object of"):
        unpack(_packed(["object", "os:system", {}]), (Fact,))
    with pytest.raises(InputError, match="no object of"):
        unpack(_packed(["enum", f"{Fact.__module__}:Fact", {}]), (Fact,))
    assert not Trap.made
    unpack(_packed(["object", f"{Trap.__module__}:Trap", {}]), (Trap,))
    assert not Trap.made, "no constructor runs"


def _packed(value: object) -> bytes:
    return _MAGIC + zlib.compress(json.dumps(value).encode())


_BYTES = io.BytesIO()
np.lib.format.write_array_header_1_0(_BYTES, {"descr": "<f8", "fortran_order": False, "shape": (2**40,)})
TERABYTES = _packed(["array", base64.b64encode(_BYTES.getvalue()).decode()])


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{}", _MAGIC, _MAGIC + b"x", pack([1])[:-3], _packed(["nothing"]), _packed({"a": 1}),
        _packed([]),
        _packed(["dict", [1]]), _packed(["bytes", "?"]), _packed(["array", "AAAA"]), TERABYTES,
        _packed(["object"]),
        _MAGIC + zlib.compress(b"[" * 100_000), _MAGIC + zlib.compress(b" " * (65 * 2**20)),
        _packed(["object", f"{Fact.__module__}:Fact", {"_private": 1}]),
    ],
)  # fmt: skip
def test_what_is_damaged_is_one_clear_line(content: bytes) -> None:
    with pytest.raises(InputError) as error:
        unpack(content, (Fact,))
    assert "\n" not in str(error.value)


def test_functions_and_files_are_no_data() -> None:
    for value in (len, lambda: None, object()):
        with pytest.raises(TypeError):
            pack(value)
