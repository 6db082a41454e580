"""What was understood stays understood while what the task is about is away."""

from dataclasses import replace
from pathlib import Path

import pytest

from spca.state import RunState
from spca_core.plan import Draft
from spca_core.result import Ending
from spca_core.scene import Observation
from spca_testing.models.behaviours import say_json
from spca_testing.models.fallible_model import drafted
from spca_testing.models.model_run import run_with_model


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
