"""Relations and sentences from poses alone."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.geometry import Pose, Vec3
from spca_core.relation import relations
from spca_core.scene import RELATIONS, Fact, SceneObject
from spca_sense.relations import TIE, describe, relate
from spca_testing.observations import thing

TOP = 0.4
NUMBERS = re.compile(r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|first|second|third)\b", re.I)


def cube(name: str, x: float, y: float, z: float = TOP + 0.02, yaw: float = 0.0) -> SceneObject:
    return thing(name, Pose.from_xyz_yaw(x, y, z, yaw))


def plate(name: str, x: float, y: float) -> SceneObject:
    return thing(name, Pose.from_xyz_yaw(x, y, TOP + 0.004), (0.11, 0.11, 0.008))


def lying(name: str, x: float, size: Vec3) -> SceneObject:
    return thing(name, Pose.from_xyz_yaw(x, 0.0, TOP + size[2] / 2), size)


def facts_of(*objects: SceneObject, held: str | None = None) -> set[str]:
    return {str(f) for f in relate(objects, held, TOP)[0]}


def notes_of(*objects: SceneObject) -> list[str]:
    return relate(objects, None, TOP)[1]


TRAY, BOWL = lying("tray_red", 0.5, (0.2, 0.2, 0.1)), lying("bowl_red", 0.5, (0.14, 0.14, 0.04))
WIDE, NARROW = lying("cuboid_red", 0.4, (0.06, 0.06, 0.04)), lying("cuboid_blue", 0.6, (0.04, 0.04, 0.04))
INSIDE, BEHIND = cube("cube_red", 0.5, 0.04, TOP + 0.024), cube("cube_blue", 0.5, 0.092)
ARRANGED = {
    "a tower on a plate": (
        [plate("plate_red", 0.5, 0.0), cube("cube_red", 0.5, 0.01, TOP + 0.028),
         cube("cube_blue", 0.5, 0.01, TOP + 0.068)],
        "on(plate_red, table); on(cube_red, plate_red); on(cube_blue, cube_red); clear(cube_blue)",
        r"clear\(cube_red|clear\(plate_red|on\(cube_red, table",
    ),
    "a bridge rests on both": (
        [cube("cube_blue", 0.5, 0.0), cube("cube_green", 0.5, 0.041),
         cube("cube_red", 0.5, 0.02, TOP + 0.06)],
        "on(cube_red, cube_blue); on(cube_red, cube_green); next_to(cube_blue, cube_green); "
        "next_to(cube_green, cube_blue)",
        "next_to.*cube_red",
    ),
    "a cube beside a plate is on the table": (
        [plate("plate_red", 0.5, 0.0), cube("cube_red", 0.5, 0.0745)],
        "on(cube_red, table); clear(plate_red)", "on.cube_red, plate",
    ),
    "left is +y, and near is small x": (
        [cube("cube_red", 0.5, -0.1), cube("cube_green", 0.6, 0.1), cube("cube_blue", 0.4, 0.0)],
        "leftmost(cube_green); middle(cube_blue); rightmost(cube_red); nearest(cube_blue); "
        "farthest(cube_green)",
        "nothing",
    ),
    "cubes and plates have their own rows, and what is alone of its kind has no role": (
        [cube("cube_red", 0.5, 0.0), plate("plate_red", 0.6, 0.2), plate("plate_blue", 0.6, -0.2)],
        "leftmost(plate_red); rightmost(plate_blue)", "most.cube_red",
    ),
    "an even row has no middle": (
        [cube("cube_red", 0.4, 0.1), cube("cube_blue", 0.5, 0.0)], "leftmost(cube_red)", "middle",
    ),
    "a thing may be lower than half the walls around it": (
        [TRAY, INSIDE], "in(cube_red, tray_red)", "on.cube_red, table",
    ),
    "what is in a bowl is not next to it": (
        [BOWL, INSIDE, BEHIND], "in(cube_red, bowl_red); next_to(cube_blue, bowl_red)", "next_to.*cube_red",
    ),
    "sizes are compared within a kind": (
        [WIDE, NARROW, cube("cube_green", 0.5, 0.2)],
        "larger(cuboid_red, cuboid_blue)", "larger.*cube_|larger.cuboid_blue",
    ),
}  # fmt: skip
"""Things, facts that hold, and what is found in none."""


@pytest.mark.parametrize("name", ARRANGED)
def test_facts(name: str) -> None:
    things, holding, never = ARRANGED[name]
    facts = facts_of(*things)
    assert {*holding.split("; ")} <= facts
    assert not [fact for fact in facts if re.search(never, fact)]


@pytest.mark.parametrize(("free", "touching"), [(0.0, True), (0.003, True), (0.006, False)])
@pytest.mark.parametrize("yaw", [0.0, 0.6])
def test_side_by_side(free: float, touching: bool, yaw: float) -> None:
    step = 0.04 + free
    a = cube("cube_red", 0.5, 0.0, yaw=yaw)
    b = cube("cube_blue", 0.5 + step * math.cos(yaw), step * math.sin(yaw), yaw=yaw)
    assert ("next_to(cube_red, cube_blue)" in facts_of(a, b)) == touching


@pytest.mark.parametrize(("beyond", "leaning"), [(-0.003, False), (0.003, False), (0.008, True)])
def test_what_is_not_carried_under_its_centre_leans(beyond: float, leaning: bool) -> None:
    """Also where its upper face seems level, as that of a long thing on the edge of a plate does."""
    y = 0.055 + beyond  # of its centre; the plate's edge is at 0.055
    long = thing("cuboid_red", Pose.from_xyz_yaw(0.5, y, TOP + 0.023), (0.05, 0.08, 0.03))
    facts = facts_of(plate("plate_blue", 0.5, 0.0), long)
    assert "on(cuboid_red, plate_blue)" in facts
    assert ("on(cuboid_red, table)" in facts) == leaning
    assert ("on_edge(cuboid_red, plate_blue)" in facts) == leaning


def test_a_cube_with_one_side_on_a_plate_is_on_its_edge() -> None:
    """A thing that reaches from a mat to the table is on the edge of no plate."""
    turn = -math.asin(0.008 / 0.04) / 2
    tilted = Pose(position=(0.5, 0.065, TOP + 0.0235), quaternion=(math.sin(turn), 0, 0, math.cos(turn)))
    leaning = cube("cube_red", 0.5, 0.065).model_copy(update={"pose": tilted})
    facts = facts_of(plate("plate_blue", 0.5, 0.0), leaning)
    assert {"on(cube_red, plate_blue)", "on(cube_red, table)", "on_edge(cube_red, plate_blue)"} <= set(facts)
    facts = facts_of(plate("mat_blue", 0.5, 0.0), leaning)
    assert {"on(cube_red, mat_blue)", "on(cube_red, table)"} <= set(facts)
    assert not any(fact.startswith("on_edge") for fact in facts)


def test_on_the_ground_and_in_the_air() -> None:
    fallen, floating = cube("cube_red", 0.9, 0.8, 0.02), cube("cube_blue", 0.5, 0.0, 0.6)
    facts = facts_of(fallen, floating, cube("cube_green", 0.5, 0.2))
    assert "on(cube_red, ground)" in facts
    assert not any(f.startswith("on(cube_blue") for f in facts)
    assert any("cube_blue rests on nothing" in n for n in notes_of(floating))
    assert "leftmost(cube_red)" not in facts, "what has fallen takes no place in the row"


def test_a_tie_goes_to_one_of_the_two_and_is_noted() -> None:
    a, b, c = cube("cube_red", 0.4, 0.1), cube("cube_green", 0.5, 0.1 + TIE / 2), cube("cube_blue", 0.6, 0.0)
    roles = {f for f in facts_of(a, b, c) if f.startswith(("leftmost", "middle"))}
    assert roles == {"leftmost(cube_green)", "middle(cube_red)"}
    assert any("equally leftmost" in note for note in notes_of(a, b, c))
    told = " ".join(describe([a, b, c], relate([a, b, c], None, TOP)[0]))
    assert "From left to right" not in told and "the blue cube is the farthest" in told
    sides = [cube("cube_red", 0.5, 0.1), cube("cube_blue", 0.5, -0.1)]
    told = " ".join(describe(sides, relate(sides, None, TOP)[0]))
    assert "From left to right" in told and "farthest" not in told, "a note says that it is not"


names = st.sampled_from(
    ["cube_red", "cube_green", "cube_blue", "cube_red_2", "cube_red_3", "cube_orange", "unknown", "unknown_2"]
)
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
    assert 4 <= len(sentences) <= 8
    for sentence in sentences:
        assert not NUMBERS.search(sentence), sentence
        assert sentence[0].isupper()
        assert sentence.endswith(".")
    assert describe(things, facts) == sentences


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


def test_what_hangs_low_over_a_rim_leans_on_it() -> None:
    """Without something to lean on, it hangs in the air."""
    tray = lying("tray_red", 0.5, (0.18, 0.13, 0.018))
    leaning = cube("cube_red", 0.5, 0.075, TOP + 0.013 + 0.02)
    facts, _ = relate([tray, leaning], None, TOP)
    assert Fact(predicate="on", args=(leaning.id, "table")) in facts
    alone, notes = relate([leaning], None, TOP)
    assert not any(f.predicate == "on" for f in alone) and notes
