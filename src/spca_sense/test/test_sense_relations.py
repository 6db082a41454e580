"""Relations and sentences from poses alone."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.geometry import Pose, Vec3
from spca_core.relation import relations
from spca_core.scene import RELATIONS, SceneObject
from spca_core.validation import parse_yaml
from spca_sense.relations import TIE, describe, relate
from spca_testing.observations import thing

TOP = 0.4
NUMBERS = re.compile(r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|first|second|third)\b", re.I)


def cube(name: str, x: float, y: float, z: float = TOP + 0.02) -> SceneObject:
    return thing(name, Pose.from_xyz_yaw(x, y, z))


def plate(name: str, x: float, y: float) -> SceneObject:
    return thing(name, Pose.from_xyz_yaw(x, y, TOP + 0.004), (0.11, 0.11, 0.008))


def facts_of(*objects: SceneObject) -> set[str]:
    return {" ".join((f.predicate, *f.args)) for f in relate(objects, None, TOP)[0]}


def notes_of(*objects: SceneObject) -> list[str]:
    return relate(objects, None, TOP)[1]


ARRANGED = parse_yaml((Path(__file__).parent / "arranged.yaml").read_text())
SIZES: dict[str, Vec3] = {"cube": (0.04, 0.04, 0.04), "plate": (0.11, 0.11, 0.008)}


@pytest.mark.parametrize("name", ARRANGED)
def test_facts(name: str) -> None:
    case, things = ARRANGED[name], list[SceneObject]()
    for symbol, (x, y, *raised) in case["things"].items():
        size = case.get("sizes", {}).get(symbol) or SIZES[symbol.split("_")[0]]
        things.append(thing(symbol, Pose.from_xyz_yaw(x, y, TOP + (*raised, size[2] / 2)[0]), tuple(size)))
    facts = facts_of(*things)
    assert {*case["hold"]} <= facts
    assert not [fact for fact in facts if re.search(case["never"], fact)]


@pytest.mark.parametrize(("beyond", "leaning"), [(-0.003, False), (0.003, False), (0.008, True)])
def test_what_is_not_carried_under_its_centre_leans(beyond: float, leaning: bool) -> None:
    """Also where its upper face seems level, as that of a long thing on the edge of a plate does."""
    y = 0.055 + beyond  # of its centre; the plate's edge is at 0.055
    long = thing("cuboid_red", Pose.from_xyz_yaw(0.5, y, TOP + 0.023), (0.05, 0.08, 0.03))
    facts = facts_of(plate("plate_blue", 0.5, 0.0), long)
    assert "on cuboid_red plate_blue" in facts
    assert ("on cuboid_red table" in facts) == ("on_edge cuboid_red plate_blue" in facts) == leaning


def test_a_cube_with_one_side_on_a_plate_is_on_its_edge() -> None:
    """A thing that reaches from a mat to the table is on the edge of no plate."""
    turn = -math.asin(0.008 / 0.04) / 2
    tilted = Pose(position=(0.5, 0.065, TOP + 0.0235), quaternion=(math.sin(turn), 0, 0, math.cos(turn)))
    for support, edge in (("plate_blue", True), ("mat_blue", False)):
        facts = facts_of(plate(support, 0.5, 0.0), thing("cube_red", tilted))
        assert {f"on cube_red {support}", "on cube_red table"} <= facts
        assert any(fact.startswith("on_edge") for fact in facts) is edge


def test_what_hangs_in_the_air_and_a_tie_are_noted() -> None:
    """The role goes to one of the two, and no sentence tells of it."""
    assert any("cube_blue rests on nothing" in n for n in notes_of(cube("cube_blue", 0.5, 0.0, 0.6)))
    a, b, c = cube("cube_red", 0.4, 0.1), cube("cube_green", 0.5, 0.1 + TIE / 2), cube("cube_blue", 0.6, 0.0)
    assert {"leftmost cube_green", "middle cube_red"} <= facts_of(a, b, c)
    assert any("equally leftmost" in note for note in notes_of(a, b, c))
    told = " ".join(describe([a, b, c], relate([a, b, c], None, TOP)[0]))
    assert "From left to right" not in told and "the blue cube is the farthest" in told


colours = ["red", "green", "blue", "red_2", "red_3", "orange"]
names = st.sampled_from([*(f"cube_{colour}" for colour in colours), "unknown", "unknown_2"])
plate_names = st.sampled_from(["plate_red", "plate_green", "plate_blue", "plate_red_2"])
places = st.tuples(st.floats(0.3, 0.7), st.floats(-0.3, 0.3))


@st.composite
def tables(draw: st.DrawFn) -> list[SceneObject]:
    levels = st.sampled_from([0.0, 0.008, 0.04, 0.08, 0.2, -0.4])
    cubes = draw(st.dictionaries(names, st.tuples(places, levels, st.booleans()), max_size=7))
    plates = draw(st.dictionaries(plate_names, places, max_size=4))
    things = [
        cube(n, x, y, TOP + 0.02 + level).model_copy(update={"visible": seen})
        for n, ((x, y), level, seen) in cubes.items()
    ]
    return things + [plate(n, x, y) for n, (x, y) in plates.items()]


@given(tables(), st.booleans())
def test_four_to_eight_sentences_without_numbers(things: list[SceneObject], holding: bool) -> None:
    held = things[0].id if things and holding and things[0].kind == "cube" else None
    facts, _ = relate(things, held, TOP)
    sentences = describe(things, facts)
    assert 4 <= len(sentences) <= 8 and describe(things, facts) == sentences
    for sentence in sentences:
        assert not NUMBERS.search(sentence), sentence
        assert sentence[0].isupper() and sentence.endswith(".")


@given(tables())
def test_facts_are_consistent(things: list[SceneObject]) -> None:
    facts, _ = relate(things, None, TOP)
    assert len(set(facts)) == len(facts)
    assert {f.predicate for f in facts} <= {*RELATIONS, *(row.name for row in relations())}
    symbols = {o.id for o in things}
    below = {f.args for f in facts if f.predicate == "on"}
    clear = {f.args[0] for f in facts if f.predicate == "clear"}
    for a, b in below:
        assert a in symbols
        assert b in symbols | {"table", "ground"}
        assert b not in clear
        assert (b, a) not in below
    on_table = {a for a, b in below if b == "table"}
    leaning = {(a, b) for a, b in below if b.startswith("plate") and a in on_table}
    assert {f.args for f in facts if f.predicate == "on_edge"} == leaning
    for role in ("leftmost", "rightmost", "middle", "nearest", "farthest"):
        for kind in ("cube", "plate"):
            assert sum(f.predicate == role and f.args[0].startswith(kind) for f in facts) <= 1
