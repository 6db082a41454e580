"""Verdicts and tasks: what they answer."""

import pytest

from spca_core.plan import Task
from spca_core.result import Outcome, Verdict


@pytest.mark.parametrize(
    ("title", "description", "text"),
    [
        ("Touch the cube", "It is red.", "Touch the cube. It is red."),
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
