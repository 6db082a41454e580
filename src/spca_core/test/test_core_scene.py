"""Scenes, observations, verdicts and tasks: what they answer."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.geometry import Pose
from spca_core.plan import Task
from spca_core.result import Outcome, Verdict
from spca_core.scene import RELATIONS, Fact, Observation, Scene
from spca_testing.observations import thing

symbols = st.sampled_from(["cube_red", "cube_blue", "plate_red", "table"])
facts = st.builds(
    Fact, predicate=st.sampled_from(sorted(RELATIONS)), args=st.lists(symbols, max_size=2).map(tuple)
)


AT = Pose(position=(0.5, 0, 0.42))
THINGS = tuple(thing(symbol, AT) for symbol in ("cube_red", "plate_red", "cube_blue"))
ON = Fact(predicate="on", args=("cube_red", "table"))
CLEAR = Fact(predicate="clear", args=("cube_red",))
SCENE = Scene(stamp=1.0, objects=THINGS, relations=(ON, CLEAR), sentences=("There is a red cube.",))


@given(st.lists(facts, max_size=4), facts)
def test_what_holds_is_exactly_what_is_among_the_facts(known: list[Fact], asked: Fact) -> None:
    scene = SCENE.model_copy(update={"relations": tuple(known)})
    seen = Observation(stamp=0, objects={}, facts=tuple(known), sentences=())
    expected = any((f.predicate, f.args) == (asked.predicate, asked.args) for f in known)
    assert scene.holds(asked.predicate, *asked.args) is expected
    assert seen.holds(asked.predicate, *asked.args) is expected


def test_every_relation_is_explained_by_its_arguments() -> None:
    """How many it has is read from the explanation."""
    for predicate, words in RELATIONS.items():
        assert sorted(re.findall(r"\?\w+", words)) in (["?a"], ["?a", "?b"]), predicate


@pytest.mark.parametrize(
    ("title", "description", "text"),
    [
        ("Touch the cube", "It is red.", "Touch the cube. It is red."),
        ("Touch the cube.", "It is red.", "Touch the cube. It is red."),
        ("Touch the cube", "", "Touch the cube."),
        ("Touch the cube and", "Touch the cube and go.", "Touch the cube and go."),
        ("Pack everything", "Put both cubes into the tray.", "Put both cubes into the tray."),
    ],
)
def test_a_task_is_said_once(title: str, description: str, text: str) -> None:
    assert Task(group="touch", id="touch_02", title=title, description=description).text == text


def test_a_task_has_no_conditions_and_every_verdict_but_running_is_final() -> None:
    """Conditions are the referee's: perception and planning must not see them."""
    assert set(Task.model_fields) == {"group", "id", "title", "description", "conversation", "judge"}
    final = {o for o in Outcome if Verdict(outcome=o, score=0.5, stamp=1.0, reason="").final}
    assert final == {Outcome.SUCCESS, Outcome.FAIL, Outcome.TIMEOUT} == {*Outcome} - {Outcome.RUNNING}
