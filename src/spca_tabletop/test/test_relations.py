"""Relations are rows: each is read, planned and placed by its row alone, and one without a row is unknown."""

import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spca_core.geometry import Pose
from spca_core.options import RunOptions
from spca_core.ports.proposer import Impossible
from spca_core.relation import place_of, relations
from spca_core.scene import Fact, Observation, Scene, SceneObject
from spca_core.world import load_world
from spca_tabletop.act.ctx import TabletopCtx
from spca_tabletop.plan.room import no_room
from spca_testing.contracts.relation_contract import RelationContract
from spca_testing.observations import plan_of, thing

ROWS = yaml.safe_load(Path(__file__).with_name("places.yaml").read_text())
TEXTS: dict[str, str] = ROWS["places"]
HALVES = {"left_half", "right_half"}  # the red cube stands in the right one already


@pytest.mark.parametrize("place", TEXTS)
class TestOwnRelations(RelationContract):
    @pytest.fixture(autouse=True)
    def _taken(self, place: str) -> None:
        self.place, self.text = place, TEXTS[place]


def test_every_row_has_a_text() -> None:
    rows = {found.relation.name for symbol in TEXTS | ROWS["own"] if (found := place_of(symbol))}
    assert rows | HALVES == {row.name for row in relations()}


def _cube(name: str, x: float, y: float, yaw: float = 0.0) -> SceneObject:
    return thing(name, Pose.from_xyz_yaw(x, y, 0.42, yaw))


_X, _Y = st.floats(0.35, 0.63), st.floats(-0.3, 0.3)


@given(st.tuples(_X, _Y), st.tuples(_X, _Y), st.floats(-0.7, 0.7))
def test_wherever_things_stand_what_is_put_there_is_there(
    green: tuple[float, float], blue: tuple[float, float], yaw: float
) -> None:
    world, red = load_world("tabletop"), _cube("cube_red", 0.5, 0.0, yaw)
    others = [_cube("cube_green", *green), _cube("cube_blue", *blue), _cube("plate_blue", 0.6, 0.0)]
    for place in map(place_of, TEXTS):
        for x, y, turn in place.spots(red, others, world):
            moved = _cube("cube_red", x, y, yaw if turn is None else turn)
            assert place.holds(moved, [*others, moved])


@pytest.mark.parametrize("symbol", ROWS["wrong"])
def test_what_is_no_place_is_taken_for_none(symbol: str) -> None:
    assert place_of(symbol) is None


def test_nothing_is_anywhere_to_what_is_not_seen_or_to_itself() -> None:
    place = place_of("left_of__cube_green")
    red, green = _cube("cube_red", 0.5, 0.2), _cube("cube_green", 0.5, 0.0)
    assert place.holds(red, [red, green])
    assert not place.holds(red, [red]) and not place.holds(green, [red, green])
    assert list(place.spots(red, [red], load_world("tabletop"))) == []


def test_a_round_thing_cannot_be_turned_and_turned_is_where_a_thing_stood() -> None:
    row = next(row for row in relations() if row.name == "turned")
    with pytest.raises(Impossible, match="look the same"):
        row.fixed(_cube("cylinder_red", 0.5, 0.0), (45,))
    place = place_of("turned__500__0__0")
    for y, holds in ((0.0, True), (0.04, True), (0.05, False)):
        red = _cube("cube_red", 0.5, y)
        assert place.holds(red, [red]) is holds


@pytest.mark.parametrize(
    ("y", "steps", "told"),
    [
        (0.12, ["cube_red left_of__cube_green__50"],
         r"no free place 5 cm left of the green cube: the red plate is in the way; the nearest .* x \d+"),
        (0.12, ["plate_red table", "cube_red left_of__cube_green__50"], ""),
        (0.12, ["cube_green at__400__m200", "cube_red left_of__cube_green__50"], ""),
        (0.4, ["cube_red left_of__cube_green__50"], ""),
        (0.4, ["cube_red left_of__cube_green__400"],
         r"no place 40 cm left of the green cube: things lie at x 340 to 660 mm, y -280 to 280 mm"),
    ],
)  # fmt: skip
def test_a_place_without_room_is_known_before_anything_moves(y: float, steps: list[str], told: str) -> None:
    things = (_cube("cube_green", 0.5, 0.0), _cube("cube_red", 0.4, -0.1), _cube("plate_red", 0.5, y))
    scene = Scene(stamp=0.0, objects=things, relations=(), sentences=())
    plan = plan_of(*(f"place_at {step}" for step in steps))
    said = no_room(RunOptions(level="stack_01"), plan, Observation.of(scene))
    assert re.match(f"{told}.*$" if told else "$", said)


def test_a_skill_asks_only_for_relations_that_there_are() -> None:
    """Those that its author is told of: an empty hand and what fell off the table among them."""
    facts = Fact(predicate="held", args=("cube_red",)), Fact(predicate="on", args=("cube_blue", "ground"))
    scene = Scene(stamp=0.0, objects=(), relations=facts, sentences=())
    ctx = SimpleNamespace(scene=scene, _dropped={"cube_green"})
    holds = partial(TabletopCtx._do_holds, ctx)
    assert not holds("hand_empty") and holds("discarded", "cube_blue")
    assert holds("discarded", "cube_green"), "let go beyond the edge, and out of the camera's sight"
    assert holds("at", "cube_blue", "discarded") and not holds("at", "cube_red", "discarded")
    with pytest.raises(ValueError, match=r"no relation 'holding'; there are .*held"):
        holds("holding", "cube_red")
