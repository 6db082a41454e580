"""The tabletop's twin: it knows what was seen, and nothing else."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from spca.rehearsal.rehearsal import SampledRehearsal, Settings
from spca_core.options import RunOptions
from spca_core.plan import Moment, Perturbation, Plan, PlanRequest, Rehearsed
from spca_core.scene import Fact, Observation
from spca_core.skill_package import library_source
from spca_core.world import load_world
from spca_planner.planner import DraftingPlanner
from spca_planner.trusted import TrustedDomains
from spca_tabletop.kit import TabletopKit
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.rehearsal.twin import TabletopTwin
from spca_testing.contracts.rehearsal_contract import RehearsalContract
from spca_testing.observations import plan_of, task

pytestmark = pytest.mark.slow

KIT = TabletopKit()
STEPS = ("pick_up cube_red table", "stack_on cube_red cube_blue")


@pytest.fixture(scope="module")
def library() -> str:
    return library_source("tabletop", KIT.builtin_skills)


@pytest.fixture(scope="module")
def observation() -> Observation:
    with closing(KIT.build(RunOptions(level="stack_01"))) as environment:
        return environment.sense()


@pytest.fixture(scope="module")
def plan(observation: Observation) -> Plan:
    stack = task("Stack the red cube on the blue cube.")
    request = PlanRequest(attempt="", task=stack, observation=observation, skills=())
    return plan_of(*STEPS, draft=BuiltinProposer().draft(request, None, None))


@pytest.fixture(scope="module")
def rehearsal() -> Iterator[SampledRehearsal]:
    with closing(SampledRehearsal(lambda: KIT.twin(RunOptions(level="stack_01")))) as made:
        yield made


@pytest.fixture(scope="module")
def judge() -> Iterator[SampledRehearsal]:
    """One that tries no other choices and plans where the first fails, which takes most of the time."""
    twin = RunOptions(level="stack_01")
    with closing(SampledRehearsal(lambda: KIT.twin(twin), Settings(choose=False))) as made:
        yield made


class TestTabletopRehearsal(RehearsalContract):
    pass


Try = Callable[..., Rehearsed]


@pytest.fixture(scope="module")
def tried(judge: SampledRehearsal, library: str, observation: Observation) -> Try:
    """Rehearses a plan with more, or other, skills."""

    def run(
        plan: Plan, instead: str = "", by: SampledRehearsal = judge, seen: Observation = observation
    ) -> Rehearsed:
        return by.try_out("run/1.1", plan, library + instead, seen, 60.0)

    return run


def test_simulated_time_decides_how_often_a_plan_is_tried(
    rehearsal: SampledRehearsal, plan: Plan, library: str, observation: Observation
) -> None:
    """The time of the machine would make two runs of one plan come to different ends."""
    once = rehearsal.try_out("run/1.1", plan, library, observation, 2.0)
    assert (once.status, len(once.tries), once.simulated) == ("unfinished", 1, once.tries[0].simulated)
    twice = rehearsal.try_out("run/1.1", plan, library, observation, once.simulated + 0.1)
    assert (twice.status, len(twice.tries)) == ("unfinished", 2)


INSTEAD = {
    "pick_up(ctx, cube, support): _approach_grasp(ctx, ctx.grasps(cube), 'no room'); ctx.close()":
        (("effect", 0), "expected (not (on cube_red table))"),
    "stack_on(ctx, cube, base): _approach(ctx, ctx.spots_on(base), 'no way')":
        (("effect", 1), "(held cube_red)"),
    "stack_on(ctx, cube, base): _put(ctx, ctx.spots_on_table(), 'no way')":
        (("effect", 1), "(on cube_red table)"),
}  # fmt: skip
"""Not lifting, not letting go, putting down elsewhere: no skill says so itself."""


@pytest.mark.parametrize("skill", INSTEAD)
def test_skills_that_do_something_else_are_caught(tried: Try, plan: Plan, skill: str) -> None:
    found, (sort, words) = tried(plan, f"\ndef {skill}\n"), INSTEAD[skill]
    assert found.status == "rejected" and found.fault is not None
    assert (found.fault.kind_and_step, words in found.sentence) == (sort, True), found.sentence


def test_it_knows_nothing_but_what_was_seen(monkeypatch: pytest.MonkeyPatch, plan: Plan, tried: Try) -> None:
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
    found = []
    for known in (world, world.model_copy(update={"objects": nowhere})):
        with closing(SampledRehearsal(lambda known=known: TabletopTwin(known))) as rehearsal:
            found.append(tried(plan, by=rehearsal))
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


def test_touching_what_is_to_be_left_alone_is_a_fault(tried: Try, plan: Plan) -> None:
    kept = plan.draft.problem.replace("(:init", "(:init (kept plate_red)")
    draft = plan.draft.model_copy(update={"problem": kept})
    found = tried(plan_of("touch plate_red", *STEPS, draft=draft))
    assert found.status == "rejected" and found.fault is not None and found.fault.kind == "safety"
    assert "plate_red, which is to be left alone" in found.sentence


def test_with_something_in_the_gripper_nothing_is_rehearsed(
    tried: Try, plan: Plan, observation: Observation
) -> None:
    """Where it is between the pads is not seen."""
    relations = (*observation.scene.relations, Fact(predicate="held", args=("cube_red",)))
    scene = observation.scene.model_copy(update={"relations": relations})
    found = tried(plan, seen=observation.model_copy(update={"scene": scene}))
    assert found.status == "impossible" and "gripper" in found.sentence


def test_each_cube_that_will_do_is_another_plan(observation: Observation, tmp_path: Path) -> None:
    any_cube = task("Touch any cube.")
    request = PlanRequest(attempt="", task=any_cube, observation=observation, skills=())
    trusted, words = TrustedDomains(tmp_path), KIT.vocabulary()
    with DraftingPlanner("tabletop", BuiltinProposer(), trusted, words) as planner:
        plan = planner.plan(request).plan
        touched = [str(p.steps[0]) for p in (plan, *planner.others(request, plan))]
    assert sorted(touched) == [f"touch(cube_{c})" for c in ("blue", "green", "red")]
