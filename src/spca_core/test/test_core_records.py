"""Every record rejects unknown fields, is immutable, and survives a round trip through disk."""

import importlib
import pkgutil
from types import NoneType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import spca_core
from spca_core.geometry import Pose
from spca_core.model import Record
from spca_core.plan import PlanResult
from spca_core.scene import Observation
from spca_core.skill_package import SkillPhrase
from spca_core.world import Part, load_world
from spca_testing.drawn import Drawn

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
    SkillPhrase: st.builds(SkillPhrase, say=st.just("push {c}"), goal=st.just("(pushed {c})")),
}


@pytest.mark.parametrize("kind", FREE, ids=lambda k: k.__name__)
def test_disk_gives_back_what_it_got(kind: type[Record]) -> None:
    @settings(max_examples=15)
    @given(Drawn(PLAIN).values(kind))
    def round_trip(record: Record) -> None:
        assert kind.model_validate_json(record.model_dump_json()) == record
        assert kind.model_validate(record.model_dump()) == record

    round_trip()


def test_no_record_knows_other_fields_or_lets_one_be_assigned() -> None:
    """By the settings of the base, which no record changes."""
    assert len(RECORDS) > 35 and {Pose, Observation, PlanResult} <= set(FREE)
    assert {(r.model_config["extra"], r.model_config["frozen"]) for r in RECORDS} == {("forbid", True)}
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Pose.model_validate({"position": (0, 0, 0), "surprise": 1})
    with pytest.raises(ValidationError, match="frozen"):
        Pose(position=(0, 0, 0)).position = (1, 0, 0)  # type: ignore[misc]
    world = load_world()
    assert type(world).model_validate_json(world.model_dump_json()) == world
