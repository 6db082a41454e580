"""The supervisor's memory: what has come to light, what is out of sight; written and read without loss."""

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from spca.state import Phase, RunState, SavedState
from spca.supervisor import _revealed
from spca_core.plan import ActResult, Draft, Execution
from spca_core.result import Ending
from spca_core.scene import Observation
from spca_core.skill import FailureKind, SkillFailure, StepReport
from spca_testing.models.behaviours import say_json
from spca_testing.models.fallible_model import drafted
from spca_testing.models.model_run import run_with_model
from spca_testing.observations import plan_of

SEEN = Observation(stamp=1.0, objects={"cube_red": "cube"}, facts=(), sentences=("A cube.",))
PLAN = plan_of("touch cube_red")


@pytest.mark.parametrize(
    ("message", "revealed"),
    [
        ("RuntimeError: the box is out of reach; ball_blue_1 bars the way", True),
        ("RuntimeError: the box is out of reach; cube_red bars the way", False),
        ("no object 'ball_blue_1' in the scene", False),
    ],
)
def test_what_bars_the_way_is_for_the_planner(message: str, revealed: bool) -> None:
    """No rewrite of a skill moves what nobody knew of when the plan was made."""
    failure = SkillFailure(kind=FailureKind.ERROR, message=message)
    step = StepReport(index=0, action="find", args=(), status="failed", started=0.0, ended=1.0,
                      wall_seconds=0.1, failure=failure)  # fmt: skip
    later = SEEN.model_copy(update={"objects": {**SEEN.objects, "ball_blue_1": "ball"}})
    assert _revealed(SEEN, later, ActResult(attempt="", status="failed", steps=(step,))) is revealed


def test_what_comes_to_light_is_planned_for_where_it_is() -> None:
    """A hidden cube that was uncovered has its own name now: putting the world back would hide it again."""
    looks = [
        Observation(stamp=0.0, objects=dict.fromkeys(names, "cube"), facts=(), sentences=(), hidden=hidden)
        for names, hidden in ((("a", "unknown"), ("unknown",)), (("a", "b"), ()), (("a",), ("a",)))
    ]
    done = ActResult(attempt="", status="done", steps=())
    assert _revealed(looks[0], looks[1], done)
    pairs = ((looks[0], looks[2]), (looks[1], looks[0]), (None, None))
    assert not any(_revealed(*pair, done) for pair in pairs)
    failed = RunState().next_round("not met: c is on d").next_round("late.").next_round("too " * 90)
    assert failed.told == f"{'too ' * 90}. Before that: late. Before that: not met: c is on d"
    assert len(failed.next_round("gone").told) < 400
    did = Execution(steps=("1. look(): done",), predicted=(), seen=())
    acted = replace(failed.planned(PLAN), execution=did)
    assert acted.planned(PLAN).execution == did
    assert acted.planned(PLAN.model_copy(update={"steps": ()})).execution is None, "of another plan"


def test_who_asks_what_is_meant_while_something_is_away_looks_again() -> None:
    """At first, an unclear text is asked about at once, hidden things or not."""
    there, bare = (
        Observation(stamp=1.0, objects=dict.fromkeys(names, "tray"), facts=(), sentences=(), hidden=names)
        for names in (("tray_orange",), ())
    )
    first = RunState().sensed(there)
    assert first.doubtful("impossible") and not first.doubtful("not_understood")
    away = first.sensed(bare)
    assert away.doubtful("not_understood") and not away.doubtful("exhausted")
    assert not replace(away, doubts=4).doubtful("not_understood")


def test_who_called_it_impossible_is_told_what_another_look_has_shown() -> None:
    """Where that is nothing, nothing is told: the same question is not asked twice."""
    look = Observation(stamp=1.0, objects={"bowl_red": "bowl"}, facts=(), sentences=())
    more = look.model_copy(update={"objects": {**look.objects, "cube_red": "cube"}})
    asked = RunState().sensed(look).doubting("There is no cube.")
    assert asked.sensed(look).doubt == ""
    assert asked.sensed(more).doubt == "you said: There is no cube.; new in another look: cube_red"


@pytest.mark.parametrize("same", [True, False])
def test_a_model_is_asked_again_only_where_another_look_shows_something_else(
    same: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look's error, which changes the measures, is nothing else; what was drafted counts once."""
    draft = Draft(domain="(define (domain d)", problem="(define (problem p) (:goal (and)))")
    measure, no = ({"measure": ["cube_red"]}, {"impossible_because": "The edge is too near."})
    script = [say_json(measure), drafted(draft), say_json(no), drafted(draft), say_json(no)]
    if not same:
        monkeypatch.setattr(Observation, "looks_like", lambda *_: False)
    run = run_with_model("touch_02", script, tmp_path)
    assert run.result.outcome is Ending.IMPOSSIBLE and run.result.reason == "The edge is too near."
    assert (len(run.requests) == 3) is (run.result.planner.fresh == 1) is same


def test_a_state_is_read_as_it_was_written() -> None:
    state = RunState().sensed(SEEN).planned(PLAN).spending(Phase.PLAN, 1.5).ending(Ending.FAIL, "it fell")
    assert SavedState.model_validate_json(SavedState(state).model_dump_json()).root == state


@pytest.mark.parametrize("text", ['{"ended": "won"}', '{"unknown": 1}', '{"phase": "ended"}'])
def test_an_impossible_state_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        SavedState.model_validate_json(text)
