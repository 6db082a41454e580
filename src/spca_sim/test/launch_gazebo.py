"""Starts Gazebo as bringup.launch.py does and checks its topics.

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
from spca_interfaces.msg import Contacts
from spca_interfaces.srv import ResetWorld

from spca_core.arms import load_arm
from spca_core.layout import nominal_layout, random_layout
from spca_core.paths import ROOT
from spca_core.world import load_world
from spca_ros import names
from spca_ros.calls import ServiceCall
from spca_ros.camera import RequestedCamera
from spca_ros.convert.contacts import contact_samples
from spca_ros.convert.records import to_msg
from spca_ros.domain import own_domain
from spca_ros.node import ros_session
from spca_ros.qos import EVERY
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

    @classmethod
    def setUpClass(cls) -> None:
        cls.session = ros_session("gazebo_test")
        cls.node = cls.session.__enter__()
        cls.robot = RosRobot(cls.node, load_arm("ur5").joint_names)
        cls.robot.wait_ready(READY_S)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.session.__exit__(None, None, None)

    def test_the_camera_sees_a_lit_table_at_its_distance(self) -> None:
        """A machine without a GPU may deliver black images or none.

        That must fail here and not as a failed level.
        """
        frame = RequestedCamera(self.node, WORLD.camera, timeout=30.0).capture()
        self.assertGreater(float(frame.colour.mean()), 40.0, "the picture is black")
        self.assertGreater(float(frame.colour.std()), 5.0, "the picture is of one colour")
        middle = float(np.median(frame.depth[frame.depth > 0]))
        self.assertAlmostEqual(middle, WORLD.camera.position[2] - WORLD.table.top, delta=0.01)

    def test_what_lies_on_the_table_touches_it_also_after_a_reset(self) -> None:
        touching: set[tuple[str, str]] = set()

        def note(message: Contacts) -> None:
            for sample in contact_samples(message):
                touching.update(sample.pairs)

        self.node.create_subscription(Contacts, names.CONTACTS, note, EVERY)
        expected = {tuple(sorted((o.model, WORLD.table.model))) for o in WORLD.objects}
        for layout in (nominal_layout(WORLD), random_layout(WORLD, 5)):
            request = ResetWorld.Request(client=self.node.get_name())
            to_msg(layout, request.layout)
            answer = ServiceCall(self.node, ResetWorld, names.RESET)(request, timeout=120.0)
            self.assertTrue(answer.success, answer.message)
            touching.clear()
            self.robot.wait(0.5)
            self.assertEqual(
                expected, touching, "the arm at home touches nothing, each object only the table"
            )


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    """Nothing has crashed, nothing is left."""

    def test_processes_ended(self, proc_info) -> None:
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0, -2, -15, 130, 143])
