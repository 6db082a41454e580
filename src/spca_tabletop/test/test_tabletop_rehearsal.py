"""The tabletop's twin: it knows what was seen, and nothing else."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from spca.rehearsal.critic import Critic
from spca.rehearsal.rehearsal import SampledRehearsal, Settings
from spca_core.options import RunOptions
from spca_core.plan import Draft, Moment, Perturbation, Plan, PlanRequest, Rehearsed, Step, Task
from spca_core.scene import Fact, Observation
from spca_core.skill import StepReport
from spca_core.skill_package import library_source
from spca_core.world import load_world
from spca_planner.pddl.formula import Atom
from spca_planner.planner import DraftingPlanner
from spca_planner.trusted import TrustedDomains
from spca_tabletop.act.skill_context import Preferences
from spca_tabletop.kit import TabletopKit
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.rehearsal.twin import TabletopTwin, TwinVocabulary
from spca_testing.contracts.rehearsal_contract import RehearsalContract
from spca_testing.observations import plan_of

pytestmark = pytest.mark.slow

KIT = TabletopKit()
STEPS = ("pick_up cube_red table", "stack_on cube_red cube_blue")


@pytest.fixture(scope="module")
def library() -> str:
    return library_source("tabletop", KIT.builtin_skills)


@pytest.fixture(scope="module")
def drafted() -> tuple[Observation, Draft]:
    environment = KIT.build(RunOptions(level="stack_01"))
    observation = environment.sense()
    request = PlanRequest(attempt="", task=environment.task, observation=observation, skills=())
    environment.close()
    return observation, BuiltinProposer().draft(request, None, None)


@pytest.fixture(scope="module")
def observation(drafted: tuple[Observation, Draft]) -> Observation:
    return drafted[0]


@pytest.fixture(scope="module")
def plan(drafted: tuple[Observation, Draft]) -> Plan:
    return plan_of(*STEPS, draft=drafted[1])


@pytest.fixture(scope="module")
def rehearsal() -> Iterator[SampledRehearsal]:
    made = SampledRehearsal(lambda: KIT.twin(RunOptions(level="stack_01")))
    yield made
    made.close()


@pytest.fixture(scope="module")
def judge() -> Iterator[SampledRehearsal]:
    """One that tries no other choices and plans where the first fails, which takes most of the time."""
    made = SampledRehearsal(lambda: KIT.twin(RunOptions(level="stack_01")), Settings(choose=False))
    yield made
    made.close()


class TestTabletopRehearsal(RehearsalContract):
    pass


def tried(rehearsal: SampledRehearsal, plan: Plan, library: str, observation: Observation) -> Rehearsed:
    return rehearsal.try_out("run/1.1", plan, library, observation, 60.0)


def test_simulated_time_decides_how_often_a_plan_is_tried(
    rehearsal: SampledRehearsal, plan: Plan, library: str, observation: Observation
) -> None:
    """The time of the machine would make two runs of one plan come to different ends."""
    once = rehearsal.try_out("run/1.1", plan, library, observation, 2.0)
    assert (once.status, len(once.tries), once.simulated) == ("unfinished", 1, once.tries[0].simulated)
    twice = rehearsal.try_out("run/1.1", plan, library, observation, once.simulated + 0.1)
    assert (twice.status, len(twice.tries)) == ("unfinished", 2)


GRASPED = """
def pick_up(ctx, cube, support):
    _approach_grasp(ctx, ctx.grasps(cube), "no room")
    ctx.close()
"""
NEVER_RELEASED = """
def stack_on(ctx, cube, base):
    _approach(ctx, ctx.spots_on(base), "no way")
"""
ELSEWHERE = """
def stack_on(ctx, cube, base):
    _put(ctx, ctx.spots_on_table(), "no way")
"""


@pytest.mark.parametrize(
    ("instead", "sort", "words"),
    [
        (GRASPED, ("effect", 0), "expected (not (on cube_red table))"),
        (NEVER_RELEASED, ("effect", 1), "(held cube_red)"),
        (ELSEWHERE, ("effect", 1), "(on cube_red table)"),
    ],
)
def test_skills_that_do_something_else_are_caught(
    judge: SampledRehearsal,
    plan: Plan,
    library: str,
    observation: Observation,
    instead: str,
    sort: tuple[str, int],
    words: str,
) -> None:
    """Not lifting, not letting go, putting down elsewhere: no skill says so itself."""
    found = tried(judge, plan, library + instead, observation)
    assert found.status == "rejected" and found.fault is not None
    assert (found.fault.kind_and_step, words in found.sentence) == (sort, True), found.sentence


def test_it_knows_nothing_but_what_was_seen(
    monkeypatch: pytest.MonkeyPatch, plan: Plan, library: str, observation: Observation
) -> None:
    """Layouts, checkpoints, verdicts and places in the world's description are poison: nothing changes."""

    def poison(*args: object, **kwargs: object) -> None:
        raise AssertionError("a rehearsal asked for ground truth")

    for name in (
        "spca_tabletop.presets.draw_table", "spca_referee.referee.Referee.__init__",
        "spca_referee.referee.Referee.consume", "spca_sim.mujoco_world.MujocoWorld.checkpoint",
        "spca_sim.mujoco_world.MujocoWorld.restore", "spca_sim.mujoco_world.MujocoWorld.capture",
    ):  # fmt: skip
        monkeypatch.setattr(name, poison)
    world = load_world()
    nowhere = tuple(o.model_copy(update={"position": (9.0, 9.0), "yaw": 1.0}) for o in world.objects)
    first, second = (
        SampledRehearsal(lambda w=w: TabletopTwin(w))
        for w in (world, world.model_copy(update={"objects": nowhere}))
    )
    try:
        found = [tried(r, plan, library, observation) for r in (first, second)]
    finally:
        first.close()
        second.close()
    assert [t.simulated for t in found[0].tries] == [t.simulated for t in found[1].tries]
    assert [f.status for f in found] == ["accepted", "accepted"]


def test_the_twin_says_what_its_contacts_show(library: str, observation: Observation, plan: Plan) -> None:
    """Touching is no matter for a camera, but it is for a twin; every moment is told in order."""
    twin, moments = KIT.twin(RunOptions(level="touch_01")), []

    def go_on(moment: Moment) -> bool:
        moments.append(moment)
        return True

    twin.play(plan_of("touch plate_red", draft=plan.draft), library, observation, Perturbation(), go_on)
    twin.close()
    assert [m.phase for m in moments] == ["start", "step", "rest"]
    assert [m.observation.holds("touched", "plate_red") for m in moments] == [False, True, True]
    assert not any(m.unsafe or m.lost for m in moments)


def test_touching_what_is_to_be_left_alone_is_a_fault(
    judge: SampledRehearsal, library: str, observation: Observation, plan: Plan
) -> None:
    draft = plan.draft.model_copy(
        update={"problem": plan.draft.problem.replace("(:init", "(:init (kept plate_red)")}
    )
    touching = plan_of("touch plate_red", *STEPS, draft=draft)
    found = tried(judge, touching, library, observation)
    assert found.status == "rejected" and found.fault is not None and found.fault.kind == "safety"
    assert "plate_red, which is to be left alone" in found.sentence


@pytest.mark.parametrize(
    ("effect", "contradicted"),
    [
        ("(on ?c ?p)", [("on", "cube_red", "table")]),
        ("(and (on ?c ?p) (on ?c ?t))", []),
        ("(leaning ?c ?p)", []),
    ],
)
def test_what_leans_on_the_edge_of_a_plate_is_on_the_table_too(effect: str, contradicted: list[Atom]) -> None:
    """A domain that says both is right; one that says the plate only is not."""
    facts = [
        ("on", "cube_red", "plate_red"),
        ("on", "cube_red", "table"),
        ("on", "plate_red", "table"),
        ("on_edge", "cube_red", "plate_red"),
    ]
    kinds = {"cube_red": "cube", "plate_red": "plate", "table": "table"}
    draft = Draft(
        domain=f"""(define (domain d) (:requirements :strips :typing) (:types cube plate table - object)
          (:predicates (on ?a ?b - object) (leaning ?a ?b - object) (held ?a - cube))
          (:action put :parameters (?c - cube ?p - plate ?t - table) :precondition (held ?c)
            :effect {effect}))""",
        problem="""(define (problem p) (:domain d) (:objects cube_red - cube plate_red - plate table - table)
          (:init (held cube_red) (on plate_red table)) (:goal (not (held cube_red))))""",
    )
    step = Step(action="put", args=("cube_red", "plate_red", "table"))
    seen = Observation(
        stamp=0.0, objects=kinds, facts=tuple(Fact(predicate=p, args=a) for p, *a in facts), sentences=()
    )
    report = StepReport(
        index=0, action="put", args=step.args, status="done", started=0, ended=1, wall_seconds=0
    )
    fault = Critic(Plan(steps=(step,), schemas=(), draft=draft), TwinVocabulary()).judge(
        Moment(phase="step", step=report, observation=seen)
    )
    assert (fault.wrong if fault else ()) == tuple(f"(not ({' '.join(a)}))" for a in contradicted)


def test_with_something_in_the_gripper_nothing_is_rehearsed(
    rehearsal: SampledRehearsal, plan: Plan, library: str, observation: Observation
) -> None:
    """Where it is between the pads is not seen."""
    relations = (*observation.scene.relations, Fact(predicate="held", args=("cube_red",)))
    scene = observation.scene.model_copy(update={"relations": relations})
    holding = observation.model_copy(update={"scene": scene})
    found = tried(rehearsal, plan, library, holding)
    assert found.status == "impossible" and "gripper" in found.sentence


def test_what_is_preferred_comes_first_when_it_is_offered_again() -> None:
    """Poses are known again within the error of perception, and not in another place."""
    preferences = Preferences()
    offered = [{"pose": {"x": 0.5, "y": 0.1, "z": 0.4, "yaw": yaw}, "gap": 0.085} for yaw in (0.0, 1.57)]
    assert preferences.arranged("grasps", ("cube_red",), offered) == offered
    ((choice,),) = preferences.others()
    preferences.choices = (choice,)
    moved = [{"pose": {**o["pose"], "x": 0.502}, "gap": 0.085} for o in offered]
    assert preferences.arranged("grasps", ("cube_red",), moved) == moved[::-1]
    assert preferences.arranged("grasps", ("cube_blue",), moved) == moved
    elsewhere = [{"pose": {**o["pose"], "x": 0.6}, "gap": 0.085} for o in offered]
    assert preferences.arranged("grasps", ("cube_red",), elsewhere) == elsewhere
    assert preferences.arranged("grasps", ("cube_red",), []) == []


def test_each_cube_that_will_do_is_another_plan(drafted: tuple[Observation, Draft]) -> None:
    observation, _ = drafted
    task = Task(id="touch_01", group="touch", title="Touch any cube", description="")
    request = PlanRequest(attempt="", task=task, observation=observation, skills=())
    with TemporaryDirectory() as folder, DraftingPlanner(
        "tabletop", BuiltinProposer(), TrustedDomains(Path(folder)), KIT.vocabulary()
    ) as planner:  # fmt: skip
        plan = planner.plan(request).plan
        touched = [str(p.steps[0]) for p in (plan, *planner.others(request, plan))]
    assert sorted(touched) == [f"touch(cube_{c})" for c in ("blue", "green", "red")]
