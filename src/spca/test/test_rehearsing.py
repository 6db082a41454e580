"""When a run rehearses, and what becomes of a plan that is rejected."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from spca.kits import checked_kit
from spca.report import write_report
from spca.stages import Rehearsing
from spca.state import RunState
from spca_coder.source import LibraryReader
from spca_core.errors import InputError
from spca_core.geometry import Pose
from spca_core.options import Budgets, RunOptions
from spca_core.plan import Fault, Rehearsed, Task
from spca_core.ports.reading import Readers
from spca_core.ports.vocabulary import Vocabulary
from spca_core.result import RehearsalCounts
from spca_core.run_folder import RunFolder
from spca_core.scene import Observation, Scene
from spca_planner.prediction import PddlReader
from spca_testing.models.fallible_model import FallibleModel, miswritten
from spca_testing.models.model_run import run_with_model
from spca_testing.observations import plan_of, thing

FAULT = Fault(kind="effect", step=0, action="touch", sentence="step 1 touch(a): nothing happens")
REJECTED = Rehearsed(
    attempt="1", status="rejected", sentence="no", fault=FAULT, suspects=("touch",), seconds=2.0
)
STATE = RunState(
    observation=Observation(stamp=0.0, objects={}, facts=(), sentences=()),
    plan=plan_of("touch a"),
    library="def touch(ctx, a):\n    pass\n",
)  # fmt: skip
NEW = replace(STATE, written=("touch",))
LOW = thing("a", Pose(position=(0, 0, 0)), kind="cube", confidence=0.3)
SCENE = Scene(stamp=0.0, objects=(LOW,), relations=(), sentences=())
GLIMPSED = replace(STATE, observation=STATE.observation.model_copy(update={"scene": SCENE}))
TASK = Task(id="touch_01", group="touch", title="Touch it", description="")


class Rejects:
    """A rehearsal that rejects everything, and says how much time it was given."""

    def __init__(self) -> None:
        self.given: list[float] = []
        self.answer = REJECTED

    def try_out(self, attempt, plan, library, observation, simulated_s, cancelled, others) -> Rehearsed:
        self.given.append(simulated_s)
        return self.answer

    def record(self, folder: Path, name: str) -> None: ...

    def close(self) -> None: ...


def rehearsing(when: str = "auto") -> Rehearsing:
    readers = Readers(PddlReader(Vocabulary()), LibraryReader())
    return Rehearsing(Rejects, when, Budgets(rehearsal_s=3.0, rehearsals_s=5.0), readers)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("when", "state", "wanted"),
    [
        ("auto", STATE, False),
        ("auto", NEW, True),
        ("auto", GLIMPSED, True),
        ("always", STATE, True),
        ("never", NEW, False),
    ],
)
def test_by_default_what_is_new_or_hardly_seen_is_rehearsed(when: str, state: RunState, wanted: bool) -> None:
    assert rehearsing(when).wanted(state) is wanted


def test_a_trusted_plan_that_is_rejected_twice_alike_is_carried_out() -> None:
    tries = rehearsing("always")
    assert not tries.try_out("1", TASK, STATE, lambda: False).overruled
    again = STATE.objecting(tries.objection(STATE, REJECTED))
    assert tries.try_out("2", TASK, again, lambda: False).overruled
    elsewhere = replace(again, plan=STATE.plan.model_copy(update={"steps": STATE.plan.steps * 2}))
    assert not tries.try_out("3", TASK, elsewhere, lambda: False).overruled
    assert not tries.try_out("4", TASK, replace(again, written=("touch",)), lambda: False).overruled


def test_what_is_rejected_for_safety_is_never_carried_out() -> None:
    tries, unsafe = (
        rehearsing("always"),
        REJECTED.model_copy(update={"fault": REJECTED.fault.model_copy(update={"kind": "safety"})}),
    )
    tries.rehearsal.answer = unsafe
    state = STATE
    for attempt in "123":
        assert not tries.try_out(attempt, TASK, state, lambda: False).overruled
        state = state.objecting(tries.objection(state, unsafe))


def test_the_time_of_a_level_is_shared_by_its_rehearsals() -> None:
    tries = rehearsing()
    for spent, given in ((0.0, 3.0), (4.0, 1.0)):
        tries.try_out("1", TASK, replace(NEW, rehearsal=RehearsalCounts(simulated=spent)), lambda: False)
        assert tries.rehearsal.given[-1] == pytest.approx(given)
    over = tries.try_out("1", TASK, replace(NEW, rehearsal=RehearsalCounts(simulated=5.0)), lambda: False)
    assert (
        over.status == "unfinished" and "not rehearsed" in over.sentence and len(tries.rehearsal.given) == 2
    )


def test_where_nothing_can_be_rehearsed_always_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kit = SimpleNamespace(name="corridor", presets=("nominal",), has_twin=False, check=lambda options: None)
    monkeypatch.setattr("spca.kits.kit_of", lambda level: kit)
    with pytest.raises(InputError, match=r"--rehearse always.*corridor has no twin"):
        checked_kit(RunOptions(level="5", rehearse="always"))
    assert checked_kit(RunOptions(level="5")) is kit


@pytest.mark.slow
def test_a_faulty_skill_is_repaired_before_the_arm_moves(tmp_path: Path) -> None:
    """The only real attempt is the one that succeeds; the report shows what was caught."""
    forgets = miswritten("ctx.close()\n        ctx.move_linear(above)", "ctx.move_linear(above)")
    run = run_with_model("stack_01", FallibleModel(coder=[forgets]), tmp_path, rehearse="auto")
    result = run.result
    assert result.success and result.attempts == 1 and result.coder.semantic == 1, result.reason
    assert (result.rehearsal.plans, result.rehearsal.rejected) == (2, 1)
    records = [Rehearsed.model_validate_json(p.read_bytes()) for p in run.folder.glob("*/rehearsal_*.json")]
    assert sorted(r.status for r in records) == ["accepted", "rejected"]
    assert len(list(run.folder.glob("round_1/try_*.states.npz"))) == 1
    page = write_report(RunFolder(run.folder)).read_text()
    assert "rejected" in page and "closed on nothing" in page
