"""Paths are found where they exist, refused with a reason where none does, and repeatable."""

import numpy as np
import pytest

from spca_core.errors import MotionError
from spca_core.geometry import Array, Pose, top_down
from spca_core.world import World
from spca_motion import search
from spca_motion.collision import CollisionChecker, Obstacle, PlanningScene
from spca_motion.paths import rounded, sampled
from spca_motion.planner import MotionPlanner, straight_line
from spca_motion.search import Effort, Query, Start
from spca_testing.contracts.arm_contract import OVER_TABLE

OPEN = 0.085
LEFT, RIGHT = top_down(0.5, 0.2, 0.5, 0.0), top_down(0.5, -0.2, 0.5, 0.0)
WALL = Obstacle("wall", Pose.from_xyz_yaw(0.5, 0.0, 0.55).matrix(), (0.3, 0.02, 0.3))


@pytest.fixture
def planner(world: World) -> MotionPlanner:
    planner = MotionPlanner(world)
    planner.scene = PlanningScene((WALL,))
    return planner


def never() -> bool:
    return False


def at(planner: MotionPlanner, world: World, pose: Pose) -> Start:
    """Standing at a tool pose."""
    home = Start(np.array(world.robot.home), OPEN)
    return Start(sampled(planner.to_pose(home, pose, never), 1.0)[-1], OPEN)


def tool(planner: MotionPlanner, joints: Array) -> Array:
    return planner.tools.tool(joints, planner.tcp_gap(OPEN))


def test_an_enclosed_goal_is_given_up_with_the_reason(
    planner: MotionPlanner, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for effort in ("BRIEF", "NORMAL", "WIDE"):
        monkeypatch.setattr(search, effort, Effort(1.2, 3_000))
    start = at(planner, world, RIGHT)
    x, y, z = LEFT.position
    bars = [
        Obstacle(f"bars_{dx}_{dy}", Pose.from_xyz_yaw(x + dx, y + dy, z).matrix(), (sx, sy, 0.9))
        for dx, sx, dy, sy in ((0.12, 0.01, 0.0, 0.25), (0.0, 0.25, 0.12, 0.01))
        for dx, dy in ((dx, dy), (-dx, -dy))
    ]
    planner.scene = PlanningScene(tuple(bars))
    with pytest.raises(MotionError, match=r"would hit bars|at .* % of the way") as caught:
        planner.to_pose(start, LEFT, never)
    assert caught.value.kind == "collision"


def test_a_line_is_straight_and_turns_evenly(planner: MotionPlanner, world: World) -> None:
    planner.scene = PlanningScene()
    start = at(planner, world, LEFT)
    goal = top_down(0.40, -0.1, 0.6, 0.8)
    pieces = planner.along_line(start, goal)
    poses = tool(planner, sampled(pieces, 0.01))
    a, b = np.array(LEFT.position), np.array(goal.position)
    share = (poses[:, :3, 3] - a) @ (b - a) / ((b - a) @ (b - a))
    off = poses[:, :3, 3] - (a + share[:, None] * (b - a))
    assert np.abs(off).max() < 5e-4
    assert np.allclose(poses[:, 2, 2], -1.0, atol=1e-4)
    yaw = np.unwrap(np.arctan2(poses[:, 1, 0], poses[:, 0, 0]))
    assert np.allclose(yaw, 0.8 * share, atol=5e-3)
    assert np.allclose(poses[-1], goal.matrix(), atol=1e-6)


def test_a_line_past_a_wrist_singularity_is_refused(planner: MotionPlanner) -> None:
    """The tool points nearly along the axes of the parallel joints: the wrist would have to spin."""

    def sideways(y: float) -> Array:
        z = np.array([0.0, -np.cos(0.01), np.sin(0.01)])
        pose = np.eye(4)
        pose[:3, 1], pose[:3, 2], pose[:3, 3] = np.cross(z, [1.0, 0.0, 0.0]), z, (0.55, y, 0.6)
        return pose

    branches = planner.tools.branches(sideways(-0.45), 0.04)
    start = branches[~np.isnan(branches[:, 0])][0]
    with pytest.raises(MotionError, match=r"swing round at \d\d %") as caught:
        straight_line(planner.tools, start, sideways(-0.1), 0.04)
    assert caught.value.kind == "unreachable"


def test_a_path_keeps_the_tool_in_the_workspace(planner: MotionPlanner) -> None:
    """The straight path in joint space would move the tool out of the workspace."""
    planner.scene = PlanningScene()
    left, right = OVER_TABLE + np.array([0.7, 0, 0, 0, 0, 0]), OVER_TABLE - np.array([1.1, 0, 0, 0, 0, 0])
    planner.box.high[0] = 0.45
    points = tool(planner, np.stack([left, OVER_TABLE, right]))[:, 0, 3]
    assert points[1] > 0.45 > max(points[0], points[2])
    way = sampled(planner.to_joints(Start(left, OPEN), right, never), 0.02)
    assert tool(planner, way)[:, 0, 3].max() <= 0.4501
    assert np.allclose(way[-1], right, atol=1e-9)


def test_a_corner_is_rounded_only_as_far_as_there_is_room(planner: MotionPlanner, world: World) -> None:
    class Tight(Query):
        """A world in which the inside of the corner is barred."""

        def first_invalid(self, path: Array) -> int | None:
            barred = [i for i, q in enumerate(path) if q[0] < corner[0] - 0.03 and q[1] > start[1] + 0.03]
            return barred[0] if barred else None

        def blame(self, joints: Array) -> tuple[str, str]:
            return "barred", ""

    start = np.array(world.robot.home)
    corner = start + np.array([0.8, 0, 0, 0, 0, 0])
    end = corner + np.array([0, 0.8, 0, 0, 0, 0])
    query = Tight(CollisionChecker(world, PlanningScene()), planner.box, Start(start, OPEN), 0.04)
    pieces = query.smooth(np.stack([start, corner, end]))
    assert len(pieces) == 3
    assert query.first_invalid(sampled(pieces, 0.01)) is None
    assert query.first_invalid(sampled(rounded(np.stack([start, corner, end])), 0.01)) is not None
    straight_through = np.stack([start, end])
    assert query.smooth(straight_through) is None


def test_the_elbow_stays_up_though_another_configuration_were_nearer(
    planner: MotionPlanner, world: World
) -> None:
    """With it down, the forearm would lie over the table, and a line down from there would soon end."""
    planner.scene = PlanningScene()
    start = Start(np.array(world.robot.out_of_view), OPEN)
    pose = top_down(0.6254, -0.2515, 0.514, 1.1422)
    ways = planner.tools.arm.nearest_turns(planner.tools.branches(pose.matrix(), 0.04), start.joints)
    end = sampled(planner.to_pose(start, pose, never), 1.0)[-1]
    assert np.nanmin(np.abs(ways - start.joints).max(axis=1)) < np.abs(end - start.joints).max() - 0.2
    elbow, wrist = planner.tools.arm.link_frames(end)[[1, 2], 2, 3]
    assert elbow > wrist - 0.05


def test_a_start_outside_the_workspace_may_return(planner: MotionPlanner, world: World) -> None:
    planner.scene = PlanningScene()
    up = Start(np.array([0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0]), OPEN)
    assert tool(planner, up.joints)[2, 3] < planner.box.high[2] + 0.3
    planner.box.high[2] = 1.2
    assert planner.to_joints(up, np.array(world.robot.home), never)
    with pytest.raises(MotionError, match="workspace"):
        planner.to_joints(Start(np.array(world.robot.home), OPEN), up.joints, never)
