"""The contract of the arm, whoever plans for it: see `spca_motion.manipulator.Manipulator`."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import numpy as np
import pytest

from spca_core.errors import MotionError
from spca_core.geometry import Pose, top_down
from spca_core.layout import Layout
from spca_core.names import symbol_of
from spca_core.scene import Scene, SceneObject
from spca_core.world import World
from spca_motion.manipulator import Manipulator

NEAR = 0.003  # metres that a tool pose may be off
GRASP = 0.004  # metres above a cube's centre at which the tool grasps it
ABOVE = 0.09
OVER_TABLE = np.array([0.0, -1.5708, 1.5708, -1.5708, -1.5708, 0.0])  # rad: a UR arm in the camera's view


def true_scene(world: World, layout: Layout) -> Scene:
    """The scene that perfect perception would report for a layout."""
    things = tuple(
        SceneObject(
            id=symbol_of(o.model),
            kind=o.kind,
            colour="",
            pose=layout.poses[o.model],
            size=o.size,
            confidence=1.0,
        )
        for o in world.objects
        if o.model in layout.poses and o.kind != "sign"
    )
    return Scene(stamp=0.0, objects=things, relations=(), sentences=())


def over(scene: Scene, name: str, height: float) -> Pose:
    """The tool `height` metres above the centre of an object, its fingers square to it."""
    thing = scene.get(name)
    assert thing is not None
    x, y, z = thing.pose.position
    return top_down(x, y, z + height, thing.pose.yaw)


def distance(arm: Manipulator, pose: Pose) -> float:
    """Metres between the tool and a pose."""
    return math.dist(arm.tool_pose().position, pose.position)


class ArmContract:
    """Subclass it with fixtures `world`, `scene` and `arm`.

    `scene` is the nominal layout as `true_scene` gives it; the arm stands at home, its gripper open, the
    scene set.
    """

    def test_it_reaches_a_tool_pose(self, arm: Manipulator, scene: Scene) -> None:
        """In position and orientation, and is at rest there."""
        goal = over(scene, "cube_red", ABOVE)
        arm.move_to(goal)
        assert distance(arm, goal) < NEAR
        turn = np.linalg.inv(arm.tool_pose().matrix()[:3, :3]) @ goal.matrix()[:3, :3]
        assert math.acos(min(1.0, (np.trace(turn) - 1) / 2)) < 0.02
        assert np.abs(arm.state().velocity).max() < 0.05

    def test_it_reaches_joint_goals_and_named_configurations(self, arm: Manipulator, world: World) -> None:
        """To a hundredth of a radian."""
        arm.move_joints(goal := np.array(world.robot.home) + 0.15)
        assert arm.state().position == pytest.approx(goal, abs=0.01)
        arm.move_named("out_of_view")
        assert arm.state().position == pytest.approx(world.robot.out_of_view, abs=0.01)

    def test_a_goal_where_it_is_already_takes_no_time(self, arm: Manipulator) -> None:
        """A motion to the present configuration returns at once and does not fail."""
        before = arm.state()
        arm.move_joints(before.position)
        arm.move_to(arm.tool_pose())
        arm.move_linear(arm.tool_pose())
        assert arm.state().stamp - before.stamp < 1.0

    def test_a_slower_motion_takes_longer(self, arm: Manipulator, scene: Scene) -> None:
        """`speed` scales the velocity."""
        low, high = over(scene, "cube_red", ABOVE), over(scene, "cube_red", ABOVE + 0.1)
        arm.move_to(low)
        times = []
        for speed in (1.0, 0.25):
            begun = arm.state().stamp
            arm.move_linear(high, speed)
            times.append(arm.state().stamp - begun)
            arm.move_linear(low)
        assert times[1] > 2 * times[0]

    @pytest.mark.parametrize("speed", [0.0, -1.0, 1.5, float("nan"), 1e-9, 5e-324])
    def test_an_impossible_speed_is_refused(self, arm: Manipulator, speed: float) -> None:
        """Also one above the limits, and one with which the motion would not end."""
        self.refused(arm, "limit", arm.move_named, "out_of_view", speed)

    def test_what_is_out_of_reach_is_refused(self, arm: Manipulator) -> None:
        """As unreachable, before anything moves."""
        far = top_down(0.95, 0.45, 0.5, 0.0)
        assert not arm.reachable(far)
        self.refused(arm, "unreachable", arm.move_to, far)
        self.refused(arm, "unreachable", arm.move_linear, far)

    def test_what_is_outside_the_workspace_is_refused(self, arm: Manipulator, world: World) -> None:
        """Below the table's surface too."""
        for z in (world.table.top - 0.05, world.table.top + 2.0):
            pose = top_down(0.5, 0.0, z, 0.0)
            assert not arm.reachable(pose)
            self.refused(arm, "limit", arm.move_to, pose)
            self.refused(arm, "limit", arm.move_linear, pose)

    def test_impossible_joints_are_refused(self, arm: Manipulator) -> None:
        """Beyond a joint's range, or no numbers."""
        for value in (100.0, float("nan")):
            goal = arm.state().position.copy()
            goal[2] = value
            self.refused(arm, "limit", arm.move_joints, goal)

    def test_a_goal_in_collision_is_refused_and_named(self, arm: Manipulator, scene: Scene) -> None:
        """Open fingers on both sides of a cube are allowed, a finger inside it is not."""
        astride = over(scene, "cube_blue", GRASP)
        x, y, z = astride.position
        beside = top_down(x, y + 0.055, z, 0.0)  # one of the open fingers in the cube's middle
        assert arm.reachable(astride)
        assert not arm.reachable(astride, gap=0.0)
        assert arm.reachable(beside, gap=0.0)
        assert not arm.reachable(beside)
        assert "cube_blue" in self.refused(arm, "collision", arm.move_to, beside)

    def test_a_line_through_an_object_is_refused_as_a_whole(self, arm: Manipulator, scene: Scene) -> None:
        """The error names the object before anything moves; `move_to` finds a path around it."""
        thing = scene.get("cube_blue")
        assert thing is not None
        x, y, z = thing.pose.position
        left, right = top_down(x, y + 0.09, z + 0.01, 0.0), top_down(x, y - 0.09, z + 0.01, 0.0)
        arm.move_to(left)
        assert "cube_blue" in self.refused(arm, "collision", arm.move_linear, right)
        arm.move_to(right)
        assert distance(arm, right) < NEAR

    def test_an_allowed_contact_may_be_made(self, arm: Manipulator, scene: Scene) -> None:
        """The fingertips may touch a cube while the contact is allowed, and not afterwards."""
        arm.close()
        touch = over(scene, "cube_blue", 0.02 + 0.0375 / 2 - 0.001)
        above = over(scene, "cube_blue", ABOVE)
        arm.move_to(above)
        assert "cube_blue" in self.refused(arm, "collision", arm.move_linear, touch)
        arm.allow_contact("cube_blue")
        assert arm.reachable(touch)
        arm.move_linear(touch)
        assert distance(arm, touch) < NEAR
        arm.allow_contact()
        arm.move_linear(above)  # what is in contact at the start may be left
        assert not arm.reachable(touch)

    def test_an_allowed_contact_is_no_leave_to_drive_through(self, arm: Manipulator, scene: Scene) -> None:
        """The fingers may press a few millimetres into it, not centimetres."""
        arm.close()
        arm.move_to(over(scene, "cube_blue", ABOVE))
        arm.allow_contact("cube_blue")
        self.refused(arm, "collision", arm.move_linear, over(scene, "cube_blue", 0.02))

    def test_the_gripper_goes_to_its_gap_and_holds_nothing(self, arm: Manipulator) -> None:
        """A gripper that has closed on nothing is not holding."""
        assert arm.close() == pytest.approx(0.0, abs=2e-3)
        assert not arm.holding()
        arm.open(0.06)
        assert arm.state().gripper_gap == pytest.approx(0.06, abs=3e-3)
        assert not arm.holding()
        arm.open()
        assert arm.state().gripper_gap == pytest.approx(0.085, abs=3e-3)

    @pytest.mark.parametrize("gap", [-0.01, 0.2, float("nan")])
    def test_an_impossible_gap_is_refused(self, arm: Manipulator, gap: float) -> None:
        """The stroke is 0 to 85 mm."""
        self.refused(arm, "limit", arm.open, gap)
        self.refused(arm, "limit", arm.close, gap)

    def test_what_is_attached_moves_along_and_must_not_collide(self, arm: Manipulator, scene: Scene) -> None:
        """It is part of the robot until detached, and then an obstacle where it was left."""
        arm.move_to(over(scene, "cube_red", GRASP + ABOVE))
        arm.allow_contact("cube_red")
        arm.move_linear(over(scene, "cube_red", GRASP))
        arm.close()
        arm.attach("cube_red")
        assert arm.held == "cube_red"
        arm.move_linear(over(scene, "cube_red", GRASP + ABOVE))
        arm.allow_contact()
        low = over(scene, "cube_blue", 0.03)  # without the cube, the open or closed fingers would fit
        assert not arm.reachable(low)
        arm.move_to(over(scene, "cube_blue", 0.06))
        into = self.refused(arm, "collision", arm.move_linear, over(scene, "cube_blue", 0.03))
        assert "cube_red" in into
        assert "cube_blue" in into
        arm.set_scene(scene)
        assert arm.held == "cube_red"
        arm.detach()
        assert arm.held is None

    def test_only_what_is_there_can_be_attached(self, arm: Manipulator) -> None:
        """One thing at a time."""
        for name in ("cube_pink", "table"):
            with pytest.raises(MotionError, match=name) as caught:
                arm.attach(name)
            assert caught.value.kind == "gripper"
        arm.attach("cube_red")
        with pytest.raises(MotionError, match="cube_red"):
            arm.attach("cube_blue")

    def test_it_picks_up_a_cube(self, arm: Manipulator, scene: Scene) -> None:
        """The pads still feel the cube after it has been lifted."""
        arm.move_to(over(scene, "cube_green", GRASP + ABOVE))
        arm.move_linear(over(scene, "cube_green", GRASP))
        assert arm.close() == pytest.approx(0.04, abs=3e-3)
        assert arm.holding()
        arm.attach("cube_green")
        arm.move_linear(over(scene, "cube_green", GRASP + ABOVE))
        assert arm.holding()
        arm.move_named("home")
        assert arm.holding()

    def test_stop_from_another_thread_ends_a_motion(self, arm: Manipulator, world: World) -> None:
        """The blocked call raises `cancelled`, the arm is at rest, all motion is refused until `resume`."""
        begun, far = arm.state().stamp, np.array(world.robot.home)
        far[0] -= 1.5
        caught: list[MotionError] = []

        def move() -> None:
            try:
                arm.move_joints(far, speed=0.1)
            except MotionError as error:
                caught.append(error)

        thread = threading.Thread(target=move)
        thread.start()
        while arm.state().stamp < begun + 1.0 and thread.is_alive():
            threading.Event().wait(0.001)
        arm.stop()
        thread.join(20.0)
        assert [error.kind for error in caught] == ["cancelled"]
        for blocked in (arm.open, arm.close, lambda: arm.move_named("home"), lambda: arm.wait(0.1)):
            with pytest.raises(MotionError) as refused:
                blocked()
            assert refused.value.kind == "cancelled"
        arm.resume()
        arm.wait(0.6)
        stopped = arm.state()
        assert np.abs(stopped.velocity).max() < 0.02
        arm.wait(0.5)
        assert arm.state().position == pytest.approx(stopped.position, abs=2e-3)
        assert np.abs(stopped.position - far).max() > 0.1
        arm.move_joints(far)
        assert arm.state().position == pytest.approx(far, abs=0.01)

    @staticmethod
    def refused(arm: Manipulator, kind: str, motion: Callable[..., object], *args: object) -> str:
        """Check that a motion is refused for that reason without moving the arm; returns the message."""
        before = arm.state()
        with pytest.raises(MotionError) as caught:
            motion(*args)
        after = arm.state()
        assert caught.value.kind == kind, str(caught.value)
        assert after.position == pytest.approx(before.position, abs=2e-3)
        assert after.stamp - before.stamp < 0.5
        return str(caught.value)
