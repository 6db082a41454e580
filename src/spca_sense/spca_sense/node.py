"""The node `sense`: from images to scenes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spca_interfaces.action import Perceive
from spca_interfaces.msg import Scene as SceneMsg

from spca_core.errors import InputError, SpcaError
from spca_core.geometry import Pose
from spca_core.ports.table import Camera
from spca_core.scene import Scene
from spca_core.trajectory import JointState
from spca_core.world import World, load_world
from spca_ros import names
from spca_ros.action_server import Job, LongAction
from spca_ros.camera import RequestedCamera, StreamedCamera
from spca_ros.convert.records import pose_from_msg, to_msg
from spca_ros.convert.robot import joint_state
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, main_of
from spca_ros.qos import STATE
from spca_sense.detection import make_detector
from spca_sense.recorded_camera import RecordedCamera
from spca_sense.tracker import SceneTracker

Look = Callable[[str | None, Pose | None, JointState | None], Scene]
"""Function that takes a picture and perceives, given what is held, the tool's pose and the arm's joints."""


class SenseNode(SpcaNode):
    """Perceives on request by `look`, and publishes what was seen. The caller clears the view first."""

    def __init__(self, loop: Loop | None = None) -> None:
        super().__init__(names.SENSE, loop)
        self.world = load_world(self.parameter("world", "tabletop", "a world in worlds/ or a path"))
        self.detector = self.parameter("detector", "shapes", "name of an installed detector")
        recorded = "folder of recorded frames that are seen instead of the camera's; empty: none"
        self._frames = self.parameter("frames", "", recorded)
        topic = "topic of a camera's colour images, its camera_info beside it; empty: camera/capture"
        self._colour = self.parameter("colour", "", topic)
        self._depth = self.parameter("depth", "", "topic of the depth images that belong to `colour`")
        if bool(self._colour) != bool(self._depth):
            raise InputError("the parameters `colour` and `depth` belong together: give both topics, or none")
        self.look: Look | None = None
        self._cameras: dict[str, Camera] = {}
        self._scene = self.create_publisher(SceneMsg, names.SCENE, STATE)
        LongAction(self, Perceive, names.PERCEIVE, self._perceive)

    def camera(self, world: World) -> Camera:
        """Return the camera that the parameters name."""
        if world.name not in self._cameras:
            self._cameras[world.name] = self._camera(world)
        return self._cameras[world.name]

    def _camera(self, world: World) -> Camera:
        if self._frames:
            return RecordedCamera(Path(self._frames))
        if self._colour:
            return StreamedCamera(self, world.camera, self._colour, self._depth)
        return RequestedCamera(self, world.camera)

    def saw(self, scene: Scene) -> None:
        """Publish a scene that was seen."""
        self._scene.publish(to_msg(scene, SceneMsg()))

    def _perceive(self, job: Job) -> Perceive.Result:
        goal = job.goal
        job.feedback(Perceive.Feedback(attempt=goal.attempt, stage="looking"))
        if self.look is None:
            raise SpcaError("there is no table to look at: no run is under way")
        tool = pose_from_msg(goal.tool[0]) if goal.tool else None
        joints = joint_state(goal.joints[0], self.world.robot.arm.joint_names) if goal.joints else None
        scene = self.look(goal.held or None, tool, joints)
        self.saw(scene)
        return Perceive.Result(scene=to_msg(scene, SceneMsg()))


def sense_alone() -> SenseNode:
    """Return the node with a camera and a tracker of its own."""
    node = SenseNode()
    camera = node.camera(node.world)
    tracker = SceneTracker(make_detector(node.detector, node.world))
    node.look = lambda held, tool, joints: tracker.update(camera.capture(), held, tool, joints)
    return node


main = main_of(sense_alone)

if __name__ == "__main__":
    main()
