"""What is in the way of what, found by geometry and put into plans."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from spca_core.errors import MotionError
from spca_core.geometry import Pose, top_down
from spca_core.layout import Layout, nominal_layout
from spca_core.options import RunOptions
from spca_core.plan import PlanRequest
from spca_core.result import Outcome
from spca_core.scene import Fact, Observation, Scene
from spca_core.world import WorldObject, load_world
from spca_planner.planner import DraftingPlanner
from spca_planner.trusted import TrustedDomains
from spca_robot.kinematics import ToolKinematics
from spca_sense.detection import make_detector
from spca_sim.mujoco_world import MujocoWorld
from spca_tabletop.act.grasps import APPROACH
from spca_tabletop.act.obstructions import out_of_reach
from spca_tabletop.act.skill_context import pose_value
from spca_tabletop.environment import Tabletop
from spca_tabletop.kit import TabletopKit
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_tabletop.presets import load_table
from spca_testing.observations import plan_of, task, thing

WORLD = load_world()
TOP = WORLD.table.top + 0.02
ON_PLATE = TOP + 0.008


@contextmanager
def table(
    level: str, **moved: tuple[float, float, float]
) -> Iterator[tuple[Tabletop[MujocoWorld], Observation]]:
    poses = {o.model: (*o.position, WORLD.table.top + o.size[2] / 2) for o in WORLD.objects} | moved
    environment = TabletopKit().build(RunOptions(level=level, noise=False))
    environment.table.reset(Layout(poses={n: Pose.from_xyz_yaw(*p, 0.0) for n, p in poses.items()}))
    try:
        yield environment, environment.sense()
    finally:
        environment.close()


def thing_of(kind: Any, model: str, size: tuple[float, ...], at: tuple[float, float]) -> WorldObject:
    """One more for the table."""
    colour = {"grey": (0.5, 0.5, 0.5), "yellow": (0.8, 0.68, 0.08)}[model.split("_")[1]]
    like = WORLD.object("box_red").model_copy(update={"model": model, "kind": kind, "colour": colour})
    return like.model_copy(update={"size": size, "position": at})


def planned(planner: DraftingPlanner, wanted: Any, seen: Observation) -> Any:
    """The plan for a task, or none."""
    return planner.plan(PlanRequest(attempt="1", task=wanted, observation=seen, skills=())).plan


def in_the_way(observation: Observation) -> set[str]:
    return {str(f) for f in observation.facts if f.predicate in ("blocks", "crowds")}


HEMMED = {"box_red": (0.5, 0.0, TOP), "box_green": (0.5, 0.045, TOP), "box_blue": (0.455, 0.0, TOP)}
FULL = {"box_green": (0.59, -0.17, ON_PLATE), "box_blue": (0.65, -0.15, ON_PLATE)}


@pytest.mark.parametrize(
    ("level", "moved", "facts", "on"),
    [
        ("pickup_02", HEMMED, "blocks(cube_blue, cube_red); blocks(cube_green, cube_red)", "table"),
        ("pick_and_place_01", FULL, "blocks(cube_blue, plate_red); blocks(cube_green, plate_red)",
         "plate_red"),
    ],
)  # fmt: skip
def test_what_is_in_the_way_is_moved_first(
    level: str, moved: dict, facts: str, on: str, tmp_path: Path
) -> None:
    with table(level, **moved) as (environment, seen):
        assert in_the_way(seen) == {*facts.split("; ")}
    words = TabletopVocabulary()
    with DraftingPlanner("tabletop", BuiltinProposer(), TrustedDomains(tmp_path), words) as planner:
        assert str(planned(planner, environment.task, seen).steps[0]) == f"pick_up(cube_blue, {on})"


def test_nothing_is_put_aside_where_the_plan_has_another_use_for_the_place() -> None:
    green = ("pick_up cube_green table", "place_on_table cube_green")
    with table("stack_01", box_green=(0.49, 0.08, TOP)) as (environment, _):
        plan = plan_of(*green, "pick_up cube_red table", "place_at cube_red at__490__80")
        assert environment.act("1", plan, environment.builtin_skills.read_text()).message == ""


def test_what_stands_high_on_a_thing_is_in_the_way_beside_it_and_is_remembered() -> None:
    """The lower one goes, with what it carries; each look tells of what acting has found."""
    tower = {"box_blue": (0.4, -0.1, TOP + 0.04), "box_red": (0.4, -0.1, TOP + 0.08)}
    with table("stack_01", box_green=(0.4, -0.1, TOP), **tower) as (environment, seen):
        assert in_the_way(seen) == {"crowds(cube_blue, cube_green)"}
        blue = next(thing for thing in seen.things if thing.id == "cube_blue")
        environment._ctx._hindered["plate_red"] = "blocks", [blue]
        for _ in range(2):
            assert "blocks(cube_blue, plate_red)" in in_the_way(environment.sense())


@pytest.mark.parametrize(("away", "crowded"), [(0.045, True), (0.05, False)])
def test_what_only_the_slide_to_a_neighbour_would_hit_is_in_its_way(away: float, crowded: bool) -> None:
    """The fingers have room where the slide begins, and none where it ends."""
    row = {"box_green": (0.5, 0.0, TOP), "box_blue": (0.5, 0.0405, TOP)}
    with table("stack_01", **row, box_red=(0.5 + away, -0.005, TOP)) as (_, seen):
        assert ("crowds(cube_red, cube_green)" in in_the_way(seen)) is crowded


@contextmanager
def stack_01_with(
    box: WorldObject, known: bool, folder: Path, **moved: tuple[float, float, float]
) -> Iterator[tuple[Tabletop[MujocoWorld], MujocoWorld, DraftingPlanner]]:
    """Yield the level with one more box, which the world file mentions if it is `known`, and a planner."""
    world, level = load_table(RunOptions(level="stack_01"))
    poses = dict(nominal_layout(world).poses) | {box.model: Pose.from_xyz_yaw(*box.position, 0.475, 0.3)}
    poses |= {name: Pose.from_xyz_yaw(*position, 0.0) for name, position in moved.items()}
    more = world.model_copy(update={"objects": (*world.objects, box)})
    simulator = MujocoWorld(more, noise=False)
    world = more if known else world
    detector = make_detector("shapes", world)
    environment = Tabletop(level, world, Layout(poses=poses), simulator, detector=detector)
    trusted, words = TrustedDomains(folder), TabletopVocabulary()
    with closing(environment), DraftingPlanner("tabletop", BuiltinProposer(), trusted, words) as planner:
        yield environment, simulator, planner


@pytest.mark.slow
def test_the_arm_goes_around_what_does_not_belong_on_the_table(tmp_path: Path) -> None:
    """A tall grey box, which no world file mentions, stands between the two cubes."""
    box = thing_of("cuboid", "cuboid_grey", (0.05, 0.05, 0.15), (0.46, -0.07))
    touched: set[frozenset[str]] = set()
    with stack_01_with(box, False, tmp_path) as (environment, simulator, planner):
        simulator.on_contacts(lambda sample: touched.update(map(frozenset, sample.pairs)))
        seen = environment.sense()
        plan = planned(planner, environment.task, seen)
        assert plan is not None and seen.objects["unknown"] == "unknown"
        acted = environment.act("1", plan, environment.builtin_skills.read_text())
        assert acted.status == "done"
        assert environment.settle().outcome is Outcome.SUCCESS
    assert frozenset({"cobot", box.model}) not in touched


def test_a_cube_that_others_touch_on_two_sides_is_pushed_out(tmp_path: Path) -> None:
    """Of four in a square none can be grasped; what must be left alone is not moved with another either."""
    box = thing_of("cube", "box_yellow", (0.04, 0.04, 0.04), (0.46, 0.15))
    square = {"box_red": (0, 0), "box_blue": (1, 0), "box_green": (0, 1), "box_yellow": (1, 1)}
    at = {name: (0.42 + 0.0402 * i, 0.08 + 0.0402 * k, TOP) for name, (i, k) in square.items()}
    with stack_01_with(box, True, tmp_path, **at) as (environment, _, planner):
        seen, text = environment.sense(), "Put the red cube on the red plate"
        others = f"{text}, and leave the blue and the green cube alone."
        plan, careful = (planned(planner, task(words), seen) for words in (f"{text}.", others))
        assert str(plan.steps[0]) == "push_out(cube_red)" and careful is None
        acted = environment.act("1", plan, environment.builtin_skills.read_text())
        assert acted.status == "done"
        assert environment.sense().holds("on", "cube_red", "plate_red")


def test_closing_fingers_stay_above_the_table_however_low_a_thing_is_seen() -> None:
    with table("stack_01") as (environment, _):
        ctx = environment._ctx
        scene = ctx.look()
        cube = scene.get("cube_red")
        x, y, z = cube.pose.position
        lower = cube.pose.model_copy(update={"position": (x, y, z - 0.008)})
        objects = tuple(cube.model_copy(update={"pose": lower}) if o is cube else o for o in scene.objects)
        best = next(ctx._grasps(scene.model_copy(update={"objects": objects}), "cube_red"))
        assert best.pose.position[2] - ctx._tip_reach > WORLD.table.top + 0.002


def test_what_a_thing_stands_on_is_in_the_way_of_its_place_and_moved_first() -> None:
    """Foreseen, the thing itself is supposed to be in the gripper: what it stands on is all that is left."""
    tower = {"box_green": (0.4, -0.1, TOP), "box_blue": (0.4, -0.1, TOP + 0.04)}
    with table("stack_01", **tower) as (environment, _):
        plan = plan_of("pick_up cube_blue cube_green", "place_at cube_blue at__410__m100")
        done = environment.act("1", plan, environment.builtin_skills.read_text())
        assert done.message == "no free place at x = 0.41 m, y = -0.1 m: the green cube is in the way"
        barred = Fact(predicate="obstructs", args=("cube_green", "at__410__m100"))
        assert barred in environment.sense().facts


def test_what_bars_the_way_to_an_offered_grasp_is_in_the_way_until_the_thing_is_held() -> None:
    """Geometry leaves room, and the motion does not: only its refusal names what the planner can move."""
    with table("stack_01") as (environment, _):
        ctx = environment._ctx
        best = ctx.call("grasps", ("cube_red",), {})[0]
        blue = pose_value(next(ctx._grasps(ctx.scene, "cube_blue")).pose)
        barred = Fact(predicate="blocks", args=("cube_blue", "cube_red"))
        with pytest.raises(MotionError, match="would hit cube_blue"):
            ctx._do_move_to(blue | {"x": blue["x"] + 0.02, "y": blue["y"] + 0.02})
        assert barred in ctx.survey().relations
        ctx._do_open(best["gap"])
        ctx._do_move_to(best["pose"] | {"z": best["pose"]["z"] + APPROACH})
        ctx._do_move_linear(best["pose"])
        ctx._do_close()
        assert environment._arm.held == "cube_red" and barred not in ctx.survey().relations


@pytest.mark.parametrize(("kind", "far"), [("tray", False), ("bowl", True)])
def test_a_tray_is_near_if_a_part_of_it_is(kind: Any, far: bool) -> None:
    tools = ToolKinematics(WORLD)
    out = tools.farthest(top_down(0.5, 0.0, TOP, 0.0).matrix())
    there = thing(f"{kind}_red", Pose.from_xyz_yaw(out + 0.02, 0.0, TOP), (0.2, 0.2, 0.04))
    scene = Scene(stamp=0.0, objects=(there,), relations=(), sentences=())
    assert (Fact(predicate="far", args=(there.id,)) in out_of_reach(scene, tools)) is far
