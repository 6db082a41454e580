"""What the supervisor remembers: no plan is tried twice in vain; an accident is no reason to give up."""

from dataclasses import replace
from pathlib import Path

import pytest

from spca.blame import Blame, blame
from spca.stages import Stages
from spca.state import History, Phase, RunState, SavedState
from spca.supervisor import Repair, Supervisor, _revealed
from spca_coder.source import LibraryReader
from spca_core.geometry import Pose
from spca_core.options import Budgets
from spca_core.plan import ActResult, Draft, DraftRecord, Execution, PlanRequest, PlanResult, Task
from spca_core.ports.reading import Evidence, Readers
from spca_core.ports.vocabulary import Vocabulary
from spca_core.result import Ending, Outcome, Verdict
from spca_core.run_folder import RunFolder
from spca_core.scene import Fact, Observation, Scene
from spca_core.skill import FailureKind, SkillFailure, StepReport
from spca_planner.prediction import PddlReader
from spca_testing.models.behaviours import say_json
from spca_testing.models.fallible_model import drafted
from spca_testing.models.model_run import run_with_model
from spca_testing.observations import plan_of, thing

PLAN = plan_of("place_on cube plate")
RUNNING = Verdict(outcome=Outcome.RUNNING, score=0.0, stamp=1.0, reason="not yet", conditions=())


def seen(x: float, *facts: str) -> Observation:
    cube = thing("cube", Pose(position=(x, 0.0, 0.4)), last_seen=x)
    return Observation(
        stamp=x,
        objects={"cube": "cube"},
        facts=tuple(Fact(predicate=f, args=("cube",)) for f in facts),
        sentences=(),
        scene=Scene(stamp=x, objects=(cube,), relations=(), sentences=()),
    )


def failing(kind: str) -> ActResult:
    step = StepReport(
        index=0, action="place_on", args=("cube", "plate"), status="failed", started=0.0, ended=1.0,
        wall_seconds=0.1, failure=SkillFailure(kind=kind, message="no free place on plate"),
    )  # fmt: skip
    return ActResult(attempt="a", status="failed", steps=(step,))


def test_noise_is_no_change_and_a_move_or_a_turn_is() -> None:
    """A look takes it this way or that; a plan in vain was then tried in five rounds instead of one."""

    def look(yaw: float) -> Observation:
        objects = (thing("cube", Pose.from_xyz_yaw(0.5, 0, 0.4, yaw)),)
        table = Scene(stamp=0, objects=objects, relations=(), sentences=())
        return seen(0.5).model_copy(update={"scene": table})

    assert Observation.looks_like(seen(0.5, "clear"), seen(0.503, "middle"))
    assert not Observation.looks_like(seen(0.5), seen(0.52))
    assert Observation.looks_like(look(0.78), look(-0.78))
    assert not Observation.looks_like(look(0.0), look(0.3))


def test_the_same_failure_on_the_same_table_is_remembered_but_no_accident() -> None:
    history = History().in_vain(PLAN, seen(0.5), failing("error"), "no free place on plate")
    assert history.on_table(PLAN, seen(0.501)) == history.attempts[0]
    assert history.on_table(PLAN, seen(0.6)) is None
    other = PLAN.model_copy(update={"steps": ()})
    assert history.on_table(other, seen(0.5)) is None
    assert not History().in_vain(PLAN, seen(0.5), failing("lost"), "lost").attempts


def test_after_the_first_accident_of_a_round_the_plan_is_carried_out_again() -> None:
    """A thing that is pulled out of closed fingers is no fault of the code; one that falls twice may be."""
    state = RunState(phase=Phase.ACT, plan=PLAN, observation=seen(0.5), round=1)
    repair = Repair(stages(), None)  # type: ignore[arg-type]

    def blamed(kind: str) -> Blame:
        return blame(PLAN, failing(kind), RUNNING, Evidence(), None)

    first = repair.blamed(state, blamed("lost"))
    assert (first.phase, first.suspects) == (Phase.ACT, ())
    assert repair.goes_on(first, blamed("lost")), "what proven skills lose twice, somebody else takes"
    assert not any(repair.goes_on(s, blamed("lost")) for s in (state, replace(first, written=("place_on",))))
    assert not repair.goes_on(first.next_round("gone"), blamed("lost")), "the accident was in another round"
    second = repair.blamed(first, blamed("lost"))
    assert (second.phase, second.suspects) == (Phase.CODE, ("place_on",))
    assert repair.blamed(state, blamed("error")).phase is Phase.CODE


@pytest.mark.parametrize(
    ("x", "written", "phase", "suspects"),
    [
        (0.52, (), Phase.ACT, ()),
        (0.52, ("place_next_to",), Phase.CODE, ("place_next_to",)),
    ],
)
def test_what_is_moved_by_nobody_is_no_fault_of_a_proven_skill(
    x: float, written: tuple[str, ...], phase: Phase, suspects: tuple[str, ...]
) -> None:
    """A cube was turned while another was carried: the skill was rewritten, and the rewrite promoted."""
    step = failing("error").steps[0].model_copy(update={"action": "place_next_to", "args": ("ball", "cube")})
    plan = plan_of("place_next_to ball cube")
    result = ActResult(attempt="a", status="failed", steps=(step,))
    found = blame(plan, result, RUNNING, Evidence(), seen(x), seen(0.5), written)
    assert ("cube is not where it was seen before the plan" in found.plan_failure) == (not suspects)
    repair = Repair(stages(), None)  # type: ignore[arg-type]
    state = RunState(phase=Phase.ACT, plan=plan, observation=seen(0.5), round=1, written=written)
    after = repair.blamed(state, found)
    assert (after.phase, after.suspects) == (phase, suspects)
    assert repair.goes_on(after, found) == (not suspects)
    tried = after.history.attempts[0].fingerprint
    assert tried and (after.history.with_skills(tried) is None) == (not suspects), "it may be planned again"


FOUND = Blame(
    suspects=("place_on",),
    skill_failure="it is beside the plate",
    plan_failure="not on it",
    execution=Execution(steps=(), predicted=(), seen=()),
    complaint=("(on cube plate)",),
)


def test_who_hands_in_what_has_failed_has_the_other_asked_once(tmp_path: Path) -> None:
    """The same plan: the coder; the same skill then: it is the end. After a rewritten skill: the planner."""
    repair = _supervisor(tmp_path)._repair
    begun = RunState(phase=Phase.ACT, plan=PLAN, observation=seen(0.5), round=1, written=("place_on",))
    failed = begun.after_failure(FOUND, "alike")
    asked = repair.unchanged(failed, failed.history.attempts[0])
    assert (asked.phase, asked.suspects, asked.code_retry) == (Phase.CODE, ("place_on",), 1)
    over = repair.unchanged(asked, asked.history.attempts[0])
    assert over.ended is Ending.GAVE_UP and "the same skills and the same predictions" in over.reason
    told = repair.unchanged(replace(failed, suspects=("place_on",)), failed.history.attempts[0])
    assert (told.phase, told.round) == (Phase.SENSE, 2) and "the same skills" in told.failure
    stands = repair.unchanged(told.planned(PLAN), told.history.attempts[0])
    assert stands.suspects == ("place_on",) and "its author stands by it" in stands.skill_failure


def test_what_a_rewrite_has_not_mended_is_for_the_planner(tmp_path: Path) -> None:
    """Its domain may demand what does not happen; other skills are rewritten while retries are left."""
    repair = _supervisor(tmp_path)._repair
    begun = RunState(phase=Phase.ACT, plan=PLAN, observation=seen(0.5), round=1)
    rewritten = repair.blamed(begun, FOUND)
    assert (rewritten.phase, rewritten.skill_failure) == (Phase.CODE, "it is beside the plate")
    again = repair.blamed(rewritten, FOUND)
    assert (again.phase, again.round) == (Phase.SENSE, 2) and "may promise what does not" in again.failure
    other = repair.blamed(rewritten, FOUND.model_copy(update={"complaint": ("(clear cube)",)}))
    assert (other.phase, other.code_retry) == (Phase.CODE, 2)
    spent = replace(rewritten, code_retry=Budgets().code_retries)
    assert repair.blamed(spent, FOUND.model_copy(update={"complaint": ("other",)})).phase is Phase.SENSE


class _World:
    """An environment in which nothing ever changes and every step fails the same way."""

    task = Task(group="g", id="g_01", title="A task", description="A task.")

    def __init__(self) -> None:
        self.acted = 0

    def sense(self) -> Observation:
        return seen(0.5)

    def act(self, attempt: str, *_: object) -> ActResult:
        self.acted += 1
        return failing("error").model_copy(update={"attempt": attempt})

    def verdict(self) -> Verdict:
        return RUNNING

    settle = verdict


def stages(planner: object = None) -> Stages:
    """Nothing but a planner: these runs never come as far as the coder."""
    readers = Readers(PddlReader(Vocabulary()), LibraryReader())
    return Stages(planner, None, readers, "", Budgets())  # type: ignore[arg-type]


def _supervisor(folder: Path, planner: object = None) -> Supervisor:
    return Supervisor(_World(), stages(planner), RunFolder.create("run", folder / "run"))  # type: ignore[arg-type]


def test_a_run_without_progress_ends_at_once_and_says_what_it_lacked(tmp_path: Path) -> None:
    supervisor = _supervisor(tmp_path)
    world = supervisor._env
    state = RunState(phase=Phase.ACT, plan=PLAN, observation=seen(0.5, "held"), round=1)
    state = supervisor._act(state)
    assert state.phase is Phase.SENSE and state.round == 2

    class Planner:
        def plan(self, request: PlanRequest, *_: object) -> PlanResult:
            return PlanResult(attempt=request.attempt, status="solved", plan=PLAN, drafts=())

    world.task = Task(id="t", group="g", title="t", description="d")  # type: ignore[assignment]
    supervisor._stages = stages(Planner())
    state = supervisor._plan(state.sensed(seen(0.502, "held")))
    assert state.ended is Ending.GAVE_UP and world.acted == 1
    assert "no progress" in state.reason and "no free place on plate" in state.reason
    assert state.reason.endswith("; cube is still in the gripper")


def test_rejected_drafts_are_not_offered_again_for_the_same_table(tmp_path: Path) -> None:
    problems = ["first", "second", "second", "second"]

    class Planner:
        def plan(self, request: PlanRequest, *_: object) -> PlanResult:
            draft = Draft(domain="", problem=problems.pop(0))
            records = (DraftRecord(mode=request.mode, draft=draft, rejection=None),) * 2
            told = {"status": "exhausted", "plan": None, "message": "no plan exists"}
            return PlanResult(attempt=request.attempt, drafts=records, **told)

    supervisor = _supervisor(tmp_path, Planner())
    state = RunState(phase=Phase.PLAN, round=1)
    for x in (0.5, 0.501, 0.6):  # another draft, another table: worth a try
        state = supervisor._plan(state.sensed(seen(x)))
        assert state.phase is Phase.SENSE, state.reason
    state = supervisor._plan(state.sensed(seen(0.601)))
    assert state.ended is Ending.GAVE_UP and state.round == 4
    assert "no progress" in state.reason and "no plan exists" in state.reason


SEEN = Observation(stamp=1.0, objects={"cube_red": "cube"}, facts=(), sentences=("A cube.",))


@pytest.mark.parametrize(
    ("message", "revealed"),
    [
        ("RuntimeError: the box is out of reach; ball_blue_1 bars the way", True),
        ("no object 'ball_blue_1' in the scene", False),
    ],
)
def test_what_bars_the_way_is_for_the_planner(message: str, revealed: bool) -> None:
    """No rewrite of a skill moves what nobody knew of when the plan was made."""
    failure = SkillFailure(kind=FailureKind.ERROR, message=message)
    step = failing(FailureKind.ERROR).steps[0].model_copy(update={"failure": failure})
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


def test_a_state_is_read_as_it_was_written() -> None:
    state = RunState().sensed(SEEN).planned(PLAN).spending(Phase.PLAN, 1.5).ending(Ending.FAIL, "it fell")
    assert SavedState.model_validate_json(SavedState(state).model_dump_json()).root == state


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
