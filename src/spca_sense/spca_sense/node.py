"""The node `sense`: from images to scenes."""

from __future__ import annotations

from array import array
from pathlib import Path

from spca_interfaces.action import Perceive
from spca_interfaces.msg import Scene as SceneMsg
from spca_interfaces.srv import Checkpoint, Restore, SaveRecording

from spca_core.camera import RgbdFrame
from spca_core.checkpoint import pack, unpack
from spca_core.errors import InputError
from spca_core.geometry import Pose
from spca_core.ports.camera import Camera
from spca_core.processes.leaving import leave
from spca_core.scene import CHECKPOINT_KINDS, Scene
from spca_core.task import Task
from spca_core.world import load_world
from spca_ros import names
from spca_ros.action_server import Job, LongAction
from spca_ros.camera import RequestedCamera, StreamedCamera
from spca_ros.convert.records import from_msg, pose_from_msg, to_msg
from spca_ros.convert.robot import joint_state
from spca_ros.kit import VisionSlot
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, answering, existing
from spca_ros.peer import serve_supervisor
from spca_ros.qos import STATE
from spca_sense.detectors import make_detector
from spca_sense.looks import save_looks
from spca_sense.recorded_camera import RecordedCamera
from spca_sense.remarks import with_remarks
from spca_sense.tracker import SceneTracker


class SenseNode(SpcaNode):
    """Perceives on request. It moves nothing; the caller has to clear the view first.

    `vision` may hold a model that adds its remarks to the detector's scenes, a different one for each run.
    """

    def __init__(self, loop: Loop | None = None, vision: VisionSlot | None = None) -> None:
        super().__init__(names.SENSE, loop)
        world = load_world(self.parameter("world", "tabletop", "a world in worlds/ or a path"))
        detector = self.parameter("detector", "shapes", "name of an installed detector")
        self._vision = vision or VisionSlot()
        frames = self.parameter(
            "frames", "", "folder of recorded frames that are seen instead of the camera's; empty: none"
        )
        colour = self.parameter(
            "colour",
            "",
            "topic of a camera's colour images, its camera_info beside it; empty: camera/capture",
        )
        depth = self.parameter("depth", "", "topic of the depth images that belong to `colour`")
        self._camera: Camera
        if frames:
            self._camera = RecordedCamera(Path(frames))
        elif colour and depth:
            self._camera = StreamedCamera(self, world.camera, colour, depth)
        elif colour or depth:
            raise InputError("the parameters `colour` and `depth` belong together: give both topics, or none")
        else:
            self._camera = RequestedCamera(self, world.camera)
        self._tracker = SceneTracker(make_detector(detector, world))
        self._joints = world.robot.arm.joint_names
        self._looks: list[tuple[RgbdFrame, Scene]] = []
        self._scene = self.create_publisher(SceneMsg, names.SCENE, STATE)
        self._perceiving = LongAction(self, Perceive, names.PERCEIVE, self._perceive)
        self.create_service(Checkpoint, names.checkpoint(names.SENSE), self._checkpoint)
        self.create_service(Restore, names.restore(names.SENSE), self._restore)
        self.create_service(SaveRecording, names.save_recording(names.SENSE), self._save)

    def close(self) -> None:
        """End the running observation."""
        self._perceiving.close()

    def _perceive(self, job: Job) -> Perceive.Result:
        goal = job.goal
        job.feedback(Perceive.Feedback(attempt=goal.attempt, stage="looking"))
        try:
            frame = self._camera.capture()
        except TimeoutError as error:
            return Perceive.Result(error=str(error))
        tool: Pose | None = pose_from_msg(goal.tool[0]) if goal.tool else None
        joints = joint_state(goal.joints[0], self._joints) if goal.joints else None
        scene = self._tracker.update(frame, goal.held or None, tool, joints)
        model = self._vision.model
        if goal.task and model is not None:
            job.feedback(Perceive.Feedback(attempt=goal.attempt, stage="describing"))
            scene = with_remarks(scene, model, frame.colour, from_msg(Task, goal.task[0]))
        self._looks.append((frame, scene))
        message = to_msg(scene, SceneMsg())
        self._scene.publish(message)
        return Perceive.Result(scene=message)

    def _checkpoint(self, _: Checkpoint.Request, response: Checkpoint.Response) -> Checkpoint.Response:
        with answering(response):
            response.state = array("B", pack(self._tracker.scene))
        return response

    def _restore(self, request: Restore.Request, response: Restore.Response) -> Restore.Response:
        with answering(response):
            scene: Scene | None = unpack(bytes(request.state), CHECKPOINT_KINDS) if request.state else None
            if scene is None:
                self._tracker.forget()
            else:
                self._tracker.adopt(scene)
        return response

    def _save(
        self, request: SaveRecording.Request, response: SaveRecording.Response
    ) -> SaveRecording.Response:
        with answering(response):
            if request.folder:
                save_looks(self._looks, existing(request.folder) / names.LOOKS_FOLDER)
            self._looks.clear()
        return response


def main() -> None:
    """Run the node without a vision model; its exit status is the process's."""
    leave(serve_supervisor(lambda: [SenseNode()]))


if __name__ == "__main__":
    main()
