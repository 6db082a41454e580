"""Every record rejects unknown fields, is immutable, and survives a round trip through disk."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
import pytest
from annotated_types import Ge, Gt, Le
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic.fields import FieldInfo

import spca_core
from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.contacts import ContactSample
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.model import Record
from spca_core.observation import Observation
from spca_core.plan import PlanResult, Rejection, Step
from spca_core.skill_package import SkillPhrase
from spca_core.trajectory import JointState, JointTrajectory
from spca_core.world import Part, load_world

MODULES = [
    m.name for m in pkgutil.walk_packages(spca_core.__path__, "spca_core.") if ".contracts" not in m.name
]
for _name in MODULES:
    importlib.import_module(_name)


def subclasses(kind: type[Record]) -> list[type[Record]]:
    return [s for direct in kind.__subclasses__() for s in (direct, *subclasses(direct))]


RECORDS = sorted(
    {r for r in subclasses(Record) if r.__module__ in MODULES}, key=lambda r: (r.__module__, r.__name__)
)
# Parts of a world have rules between their fields; they are read from a file here, and made up nowhere.
FREE = [r for r in RECORDS if not issubclass(r, Part)]

finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | finite | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    float: finite,
    int: st.integers(-(2**53), 2**53),
    str: st.text(max_size=8),
    bool: st.booleans(),
    Any: json_values,
    NoneType: st.none(),
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Whatever a field of that annotation may hold."""
    origin, args = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return PLAIN[kind]
    if origin is Annotated:
        return values(args[0])
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, UnionType):
        return st.one_of([values(a) for a in args])
    if origin is tuple and args[1:] == (...,):
        return st.lists(values(args[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*[values(a) for a in args])
    if origin is dict:
        return st.dictionaries(values(args[0]), values(args[1]), max_size=2)
    if kind is SkillPhrase:
        return st.builds(SkillPhrase, say=st.text(max_size=8), goal=st.just("(pushed {c})"))
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    return st.builds(kind, **{n: values_of_field(f) for n, f in kind.model_fields.items()})


def values_of_field(field: FieldInfo) -> st.SearchStrategy[Any]:
    """Whatever a field may hold, within its bounds."""

    highest = next((bound.le for bound in field.metadata if isinstance(bound, Le)), None)
    if field.annotation is int and highest is not None:
        return st.integers(next(bound.ge for bound in field.metadata if isinstance(bound, Ge)), highest)

    def within(value: Any) -> bool:
        return value is None or all(
            (not isinstance(bound, Ge) or value >= bound.ge)
            and (not isinstance(bound, Gt) or value > bound.gt)
            for bound in field.metadata
        )

    return values(field.annotation).filter(within)


def test_there_are_records_to_speak_of() -> None:
    assert len(RECORDS) > 35
    assert {Pose, Observation, PlanResult} <= set(FREE)


@pytest.mark.parametrize("kind", FREE, ids=lambda k: k.__name__)
def test_disk_gives_back_what_it_got(kind: type[Record]) -> None:
    @settings(max_examples=15)
    @given(values(kind))
    def round_trip(record: Record) -> None:
        assert kind.model_validate_json(record.model_dump_json()) == record
        assert kind.model_validate(record.model_dump()) == record

    round_trip()


def test_a_world_on_disk_is_the_same_world() -> None:
    world = load_world()
    assert type(world).model_validate_json(world.model_dump_json()) == world


@pytest.mark.parametrize("kind", RECORDS, ids=lambda k: k.__name__)
def test_no_field_is_unknown_and_none_can_be_assigned(kind: type[Record]) -> None:
    with pytest.raises(ValidationError) as error:
        kind.model_validate({"surprise": 1})
    assert ("surprise",) in [e["loc"] for e in error.value.errors() if e["type"] == "extra_forbidden"]
    some = kind.model_construct()
    for field in kind.model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(some, field, None)


def test_records_are_values() -> None:
    one, other = Step(action="stack", args=("a", "b")), Step(action="stack", args=("a", "b"))
    assert one == other and hash(one) == hash(other)
    assert one != Step(action="stack", args=("b", "a"))
    changed = one.model_copy(update={"action": "unstack"})
    assert (one.action, changed.action) == ("stack", "unstack")
    with pytest.raises(ValidationError, match="frozen"):
        del one.action


def test_defaults_are_nobodys_common_property() -> None:
    first, second = (Observation(stamp=0, objects={}, facts=(), sentences=()) for _ in range(2))
    first.detail["seen"] = 1
    assert second.detail == {}


@pytest.mark.parametrize(
    ("kind", "fields", "where"),
    [
        (Pose, {"position": (0, 0)}, ("position", 2)),
        (Pose, {"position": (0, 0, "up")}, ("position", 2)),
        (Pose, {"position": (0, 0, 0), "quaternion": (0, 0, 1)}, ("quaternion", 3)),
        (Pose, {}, ("position",)),
        (Rejection, {"critic": "nobody", "message": "no"}, ("critic",)),
        (Step, {"action": "pick", "args": (1,)}, ("args", 0)),
        (Layout, {"poses": {"box_red": {"position": (0, 0, 0), "yaw": 1}}}, ("poses", "box_red", "yaw")),
        (PlanResult, {"attempt": "1", "status": "solved?", "plan": None, "drafts": ()}, ("status",)),
    ],
)
def test_a_wrong_value_is_named(
    kind: type[Record], fields: dict[str, Any], where: tuple[str | int, ...]
) -> None:
    with pytest.raises(ValidationError) as error:
        kind.model_validate(fields)
    assert [e["loc"] for e in error.value.errors()] == [where]


ARRAYS = [
    JointState(stamp=0.0, position=np.zeros(6), velocity=np.zeros(6), gripper_gap=0.085),
    JointTrajectory(times=np.array([0.0]), positions=np.zeros((1, 6)), velocities=np.zeros((1, 6))),
    ContactSample(stamp=0.0, pairs=frozenset()),
    RgbdFrame(
        colour=np.zeros((1, 1, 3), np.uint8),
        depth=np.zeros((1, 1), np.float32),
        intrinsics=CameraIntrinsics(width=1, height=1, fx=1, fy=1, cx=0, cy=0),
        pose=Pose(position=(0, 0, 0)),
        stamp=0.0,
    ),
]


@pytest.mark.parametrize("sample", ARRAYS, ids=lambda s: type(s).__name__)
def test_samples_with_arrays_are_frozen_too(sample: Any) -> None:
    for field in dataclasses.fields(sample):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(sample, field.name, None)
