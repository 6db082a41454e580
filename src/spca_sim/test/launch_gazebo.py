"""Starts Gazebo as bringup.launch.py does and checks its camera.

Run by test_full_stack.py, or manually:

launch_test src/spca_sim/test/launch_gazebo.py
"""

import unittest

import launch
import launch_testing.actions
import launch_testing.asserts
import numpy as np
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from spca_core.arms import load_arm
from spca_core.paths import ROOT
from spca_core.world import load_world
from spca_ros.camera import RequestedCamera
from spca_ros.domain import own_domain
from spca_ros.node import ros_session
from spca_ros.robot import RosRobot

WORLD = load_world()
READY_S = 120.0


def generate_test_description() -> launch.LaunchDescription:
    """Gazebo, headless, with the nominal table.

    It runs in a ROS domain of its own, so that no other simulator can take its place.
    """
    own_domain().__enter__()  # for as long as this process lives
    source = PythonLaunchDescriptionSource(str(ROOT / "launch" / "gazebo.launch.py"))
    return launch.LaunchDescription(
        [
            IncludeLaunchDescription(source, launch_arguments=[("headless", "true")]),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestGazebo(unittest.TestCase):
    """What a run needs from the simulator."""

    def test_the_camera_sees_a_lit_table_at_its_distance(self) -> None:
        """A machine without a GPU may deliver black images or none.

        That must fail here and not as a failed level.
        """
        with ros_session("gazebo_test") as node:
            RosRobot(node, load_arm("ur5").joint_names).wait_ready(READY_S)
            frame = RequestedCamera(node, WORLD.camera, timeout=30.0).capture()
        self.assertGreater(float(frame.colour.mean()), 40.0, "the picture is black")
        self.assertGreater(float(frame.colour.std()), 5.0, "the picture is of one colour")
        middle = float(np.median(frame.depth[frame.depth > 0]))
        self.assertAlmostEqual(middle, WORLD.camera.position[2] - WORLD.table.top, delta=0.01)


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    """Nothing has crashed, nothing is left."""

    def test_processes_ended(self, proc_info) -> None:
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0, -2, -15, 130, 143])
