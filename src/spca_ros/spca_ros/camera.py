"""The `Camera` port over ROS."""

from __future__ import annotations

from spca_interfaces.srv import Capture

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.geometry import Pose
from spca_core.world import CameraMount
from spca_ros import names
from spca_ros.calls import ServiceCall
from spca_ros.convert.camera import frame
from spca_ros.node import SpcaNode
from spca_ros.peer import NodeLost


class RequestedCamera:
    """See `spca_core.ports.camera.Camera`. A camera that takes a picture when asked to.

    Not for callbacks. `mount` is the calibration: it says where the camera is.
    """

    intrinsics: CameraIntrinsics
    pose: Pose

    def __init__(self, node: SpcaNode, mount: CameraMount, timeout: float = 10.0) -> None:
        self.intrinsics, self.pose = mount.intrinsics, mount.pose
        self._timeout = timeout
        self._take = ServiceCall(node, Capture, names.CAPTURE)

    def capture(self) -> RgbdFrame:
        """A new frame, taken now. Raises TimeoutError when none arrives."""
        try:
            taken = self._take(Capture.Request(), timeout=self._timeout)
        except NodeLost as error:
            raise TimeoutError(f"no picture from the camera: {error}") from error
        if not taken.success:
            raise TimeoutError(f"no picture from the camera: {taken.message}")
        return frame(taken.colour, taken.depth, taken.info, self.pose)
