"""Scenes, observations, verdicts and tasks: what they answer."""

import re

import pytest

from spca_core.plan import Task
from spca_core.result import Outcome, Verdict
from spca_core.scene import RELATIONS, Fact, Observation, Scene


def test_what_holds_is_exactly_what_is_among_the_facts() -> None:
    known = (Fact(predicate="on", args=("cube_red", "table")), Fact(predicate="clear", args=("cube_red",)))
    seen = Observation(stamp=0, objects={}, facts=known, sentences=())
    for place in (seen, Scene(stamp=0, objects=(), relations=known, sentences=())):
        assert place.holds("on", "cube_red", "table") and place.holds("clear", "cube_red")
        assert not place.holds("on", "cube_blue", "table") and not place.holds("on", "cube_red")
        assert not place.holds("clear", "table") and not place.holds("held", "cube_red")


def test_every_relation_is_explained_by_its_arguments() -> None:
    """How many it has is read from the explanation."""
    for predicate, words in RELATIONS.items():
        assert sorted(re.findall(r"\?\w+", words)) in (["?a"], ["?a", "?b"]), predicate


@pytest.mark.parametrize(
    ("title", "description", "text"),
    [
        ("Touch the cube", "It is red.", "Touch the cube. It is red."),
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
    assert final == {*Outcome} - {Outcome.RUNNING}
