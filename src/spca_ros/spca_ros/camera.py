"""The `Camera` port over ROS, and the topics of a simulated camera."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Condition
from typing import Any, Literal

from sensor_msgs.msg import CameraInfo, Image
from spca_interfaces.srv import Capture

from spca_core.camera import RgbdFrame
from spca_core.world import CameraMount
from spca_ros import names
from spca_ros.calls import NodeLost, ServiceCall
from spca_ros.convert.camera import frame
from spca_ros.node import SpcaNode
from spca_ros.qos import STATE, WHOLE

_KEPT = 8  # images whose partner has not come


class CameraTopics:
    """Publishes pictures with their calibration; whoever subscribes later still gets the newest."""

    def __init__(self, node: SpcaNode, at: str = "") -> None:
        infos, pictures = (names.COLOUR_INFO, names.DEPTH_INFO), (names.COLOUR, names.DEPTH)
        self._infos = [node.create_publisher(CameraInfo, at + topic, STATE) for topic in infos]
        self._colour, self._depth = (node.create_publisher(Image, at + topic, STATE) for topic in pictures)

    @property
    def watched(self) -> bool:
        """Somebody subscribes to one of the topics."""
        return any(topic.get_subscription_count() for topic in (self._colour, self._depth, *self._infos))

    def publish(self, colour: Image, depth: Image, info: CameraInfo) -> None:
        """Publish a registered pair of pictures."""
        for each in self._infos:  # first: without it a picture cannot be used
            each.publish(info)
        self._colour.publish(colour)
        self._depth.publish(depth)


class FramePairs:
    """Calls `emit(colour, depth)` for every two images with equal stamps, in whatever order they arrive."""

    def __init__(self, emit: Callable[[Any, Any], None]) -> None:
        self._emit = emit
        self._waiting: dict[tuple[int, int], dict[str, Any]] = {}

    def take(self, kind: Literal["colour", "depth"], message: Any) -> None:
        """Take in an image that has come."""
        stamp = (message.header.stamp.sec, message.header.stamp.nanosec)
        pair = self._waiting.setdefault(stamp, {})
        pair[kind] = message
        if len(pair) == 2:
            del self._waiting[stamp]
            self._emit(pair["colour"], pair["depth"])
        while len(self._waiting) > _KEPT:  # its partner was lost in transit
            del self._waiting[next(iter(self._waiting))]


class RequestedCamera:
    """See `spca_core.ports.table.Camera`. A camera that takes a picture when asked to.

    Not for callbacks. `mount` is the calibration: it says where the camera is. Whoever takes the picture says
    when there is none; `timeout` (wall seconds) is for one who says nothing, and Gazebo may draw for long.
    """

    def __init__(self, node: SpcaNode, mount: CameraMount, timeout: float = 60.0, at: str = "") -> None:
        self.intrinsics, self.pose = mount.intrinsics, mount.pose
        self._timeout, self._loop = timeout, node.loop
        self._take = ServiceCall(node, Capture, at + names.CAPTURE)

    def capture(self) -> RgbdFrame:
        """Take a new frame now and return it. Raises NodeLost where none comes, Cancelled if unwanted."""
        taken = self._take(Capture.Request(), timeout=self._timeout, check=self._loop.wanted)
        self._loop.wanted()  # to see something in it takes its time
        if not taken.success:
            raise NodeLost(f"no picture from the camera: {taken.message}")
        return frame(taken.colour, taken.depth, taken.info, self.pose)


class StreamedCamera:
    """See `spca_core.ports.table.Camera`. A camera that publishes a stream, as the drivers of real ones do.

    Args:
        node: it subscribes as long as it lives.
        mount: the calibration: it says where the camera is.
        colour: the topic of its colour images; its camera info is beside it (`image_raw`, `camera_info`).
        depth: the topic of depth images registered to the colour images, with the same stamps.
        timeout: seconds to wait for a picture.
    """

    def __init__(
        self, node: SpcaNode, mount: CameraMount, colour: str, depth: str, timeout: float = 10.0
    ) -> None:
        self.intrinsics, self.pose = mount.intrinsics, mount.pose
        self._timeout, self._topics = timeout, (colour, depth)
        self._changed = Condition()
        self._pairs, self._newest = 0, (Image(), Image())
        self._info: CameraInfo | None = None
        pairs = FramePairs(self._on_pair)
        info = "/".join([*colour.split("/")[:-1], "camera_info"])
        node.create_subscription(Image, colour, partial(pairs.take, "colour"), WHOLE)
        node.create_subscription(Image, depth, partial(pairs.take, "depth"), WHOLE)
        node.create_subscription(CameraInfo, info, self._on_info, WHOLE)

    def capture(self) -> RgbdFrame:
        """Return the second pair of pictures from now on: the first may have been on its way already.

        Raises NodeLost when none arrives, or none that can be used.
        """
        with self._changed:
            wanted = self._pairs + 2
            if not self._changed.wait_for(lambda: self._info and self._pairs >= wanted, self._timeout):
                came = f"{self._pairs - wanted + 2} pairs" if self._info else "no camera info"
                raise NodeLost(
                    f"no picture from {' and '.join(self._topics)}: {came} in {self._timeout:g} s"
                    " (both have to be published, with equal stamps)"
                )
            assert self._info is not None
            pair, info = self._newest, self._info
        try:
            return frame(*pair, info, self.pose)
        except ValueError as error:
            raise NodeLost(f"no picture from {self._topics[0]} that can be used: {error}") from error

    def _on_info(self, info: CameraInfo) -> None:
        with self._changed:
            self._info = info

    def _on_pair(self, colour: Image, depth: Image) -> None:
        with self._changed:
            self._pairs, self._newest = self._pairs + 1, (colour, depth)
            self._changed.notify_all()
