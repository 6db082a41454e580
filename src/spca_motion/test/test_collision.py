"""The collision check sees what is there, names it, and follows the rules of a motion."""

import math

import mujoco
import numpy as np
import pytest

from spca_core.geometry import Array, Pose, top_down
from spca_core.layout import nominal_layout
from spca_core.world import World, WristSensor
from spca_motion.collision import MAX_PRESS, CollisionChecker, Obstacle, PlanningScene
from spca_robot.gripper_2f85 import PAD_TIP
from spca_robot.kinematics import ToolKinematics
from spca_robot.workspace_model import build_model
from spca_testing.contracts.arm_contract import OVER_TABLE, true_scene

OPEN, SHUT = 0.085, 0.0


@pytest.fixture(scope="module")
def tools(world: World) -> ToolKinematics:
    return ToolKinematics(world)


@pytest.fixture
def scene(world: World) -> PlanningScene:
    return PlanningScene().perceived(true_scene(world, nominal_layout(world)))


@pytest.fixture
def checker(world: World, scene: PlanningScene) -> CollisionChecker:
    return CollisionChecker(world, scene)


def at(tools: ToolKinematics, x: float, y: float, z: float, gap: float, yaw: float = 0.0) -> Array:
    """Elbow-up joints with the point between the pads, `gap` apart, at (x, y, z), fingers down."""
    branches = tools.branches(top_down(x, y, z, yaw).matrix(), gap)
    found = branches[~np.isnan(branches[:, 0])]
    return np.asarray(min(found, key=lambda q: abs(q[0]) + abs(q[1] + 1.5) + abs(q[4] + 1.57)))


@pytest.mark.parametrize(
    ("x", "y", "z", "other"),
    [(0.42, 0.0, 0.43, "cube_blue"), (0.62, -0.16, 0.42, "plate_red"), (0.5, 0.06, 0.40, "table")],
)
def test_what_would_be_hit_is_named(
    checker: CollisionChecker, tools: ToolKinematics, x: float, y: float, z: float, other: str
) -> None:
    hits = checker.hits(at(tools, x, y, z, SHUT), SHUT)
    assert {h.other for h in hits} == {other}
    assert all("finger" in h.part and h.depth > 0.005 for h in hits)


def test_a_folded_arm_that_touches_itself_in_the_physics_is_not_free(world: World) -> None:
    """With the elbow folded, the forearm can reach the shoulder, and the wrist the forearm."""
    folded, checker = np.array([0.0, -1.57, 2.4, -0.6, -1.57, 0.0]), CollisionChecker(world, PlanningScene())
    expected = {f"upper arm would hit {part}" for part in ("left finger", "right finger", "gripper")}
    assert {str(hit) for hit in checker.hits(folded, OPEN)} == expected
    model, index = build_model(world)
    data, rng, free = mujoco.MjData(model), np.random.default_rng(0), 0
    for _ in range(3000):
        joints = rng.uniform(-3.1, 3.1, 6)
        joints[1:3] = rng.uniform(-2.0, -1.0), rng.choice([-1, 1]) * rng.uniform(2.3, 3.1)
        if not checker.valid(joints, OPEN):
            continue
        free += 1
        index.set_arm(data, joints)
        index.set_gap(data, OPEN)
        mujoco.mj_forward(model, data)
        touching = {
            tuple(sorted(model.body(model.geom_bodyid[g]).name for g in c.geom)) for c in data.contact
        }
        assert not touching, f"{joints.round(3)}: {touching}"
    assert free > 100


def test_clearance_is_kept_and_an_allowed_contact_has_a_limit(
    checker: CollisionChecker, tools: ToolKinematics
) -> None:
    """2 mm over a cube is too near for a thing perceived to 3 mm; 4 mm is not."""
    away, top = at(tools, 0.42, 0.0, 0.6, SHUT), 0.44 + PAD_TIP
    assert not checker.valid(at(tools, 0.42, 0.0, top + 0.002, SHUT), SHUT)
    assert checker.valid(at(tools, 0.42, 0.0, top + 0.004, SHUT), SHUT)
    press, through = (at(tools, 0.42, 0.0, top - d, SHUT) for d in (MAX_PRESS - 0.001, MAX_PRESS + 0.002))
    checker.begin(away, SHUT, allowed=["cube_blue"])
    assert checker.valid(press, SHUT)
    assert not checker.valid(through, SHUT)
    checker.begin(away, SHUT, allowed=["cube_red", "no such thing"])
    assert not checker.valid(press, SHUT)


def test_only_the_gripper_may_touch_what_is_allowed(world: World) -> None:
    elbow = Pose.from_xyz_yaw(0.2, 0.15, 0.92)  # 4 mm deep: the gripper might press as far
    checker = CollisionChecker(world, PlanningScene((Obstacle("wall", elbow.matrix(), (0.05, 0.2, 0.05)),)))
    checker.begin(np.array([1.5, *OVER_TABLE[1:]]), OPEN, allowed=["wall"])
    hit = checker.hits(OVER_TABLE, OPEN)[0]
    assert hit.other == "wall" and hit.part in ("forearm", "upper arm")


def test_what_touches_at_the_start_may_be_left_but_not_pressed(
    checker: CollisionChecker, tools: ToolKinematics
) -> None:
    away, press, start, left = (
        at(tools, 0.42, 0.0, 0.44 + PAD_TIP + over, SHUT) for over in (0.15, -0.006, -0.004, 0.001)
    )
    checker.begin(start, SHUT)
    assert checker.valid(start, SHUT) and checker.valid(left, SHUT)
    assert not checker.valid(press, SHUT)
    checker.begin(away, SHUT)
    assert not checker.valid(start, SHUT)


def test_attaching_centres_and_squares_and_detaching_leaves_it_there(
    scene: PlanningScene, tools: ToolKinematics
) -> None:
    """Perceived 3 mm and 5° off, the cube is between the pads all the same."""
    grasp = at(tools, 0.503, -0.143, 0.424, 0.04, yaw=math.radians(5))
    held = scene.attached("cube_red", tools.flange(grasp), tools.tool(grasp, 0.04))
    assert held.held is not None
    assert "cube_red" not in [o.id for o in held.obstacles]
    elsewhere = at(tools, 0.40, 0.2, 0.474, 0.04, yaw=0.4)
    left = held.detached(tools.flange(elsewhere))
    pose = next(o.pose for o in left.obstacles if o.id == "cube_red")
    in_tool = np.linalg.inv(tools.tool(elsewhere, 0.04)) @ pose
    assert in_tool[1, 3] == pytest.approx(0.0, abs=1e-6)
    assert np.abs(in_tool[:2, :2]).max(axis=0) == pytest.approx([1.0, 1.0], abs=1e-6)
    assert pose[2, 3] == pytest.approx(0.47, abs=1e-4)
    assert left.held is None
    assert left.detached(tools.flange(elsewhere)) is left


def test_a_sensor_at_the_wrist_moves_and_turns_the_gripper(world: World, tools: ToolKinematics) -> None:
    sensor = WristSensor(length=0.03, radius=0.0375, turn=math.pi / 2)
    longer = world.model_copy(update={"robot": world.robot.model_copy(update={"wrist_sensor": sensor})})
    joints, with_sensor = np.array(world.robot.home), ToolKinematics(longer)
    moved = np.linalg.inv(tools.tool(joints, 0.04)) @ with_sensor.tool(joints, 0.04)
    assert moved[:3, [0, 3]] == pytest.approx(np.array([[0, 0], [1, 0], [0, 0.03]]), abs=1e-9)
    low = at(tools, 0.5, 0.06, 0.43, OPEN)
    assert CollisionChecker(world, PlanningScene()).valid(low, OPEN)
    checker = CollisionChecker(longer, PlanningScene())
    assert checker.hits(low, OPEN)[0].other == "table", "the fingers reach 3 cm deeper"
