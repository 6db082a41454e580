"""Gazebo's cameras: their pictures are taken only while somebody wants them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from rclpy.subscription import Subscription
from sensor_msgs.msg import Image
from spca_interfaces.srv import Capture

from spca_core.world import CameraMount
from spca_robot.description.names import OPTICAL_FRAME
from spca_ros.camera import CameraTopics, FramePairs
from spca_ros.convert.camera import info_msg
from spca_ros.convert.records import seconds
from spca_ros.node import SpcaNode
from spca_ros.qos import WHOLE
from spca_sim.gazebo.write import camera_topics


class Film:
    """Passes Gazebo's pictures on under the project's names, with the calibration of the world description.

    The bridge is lazy, and Gazebo draws no pictures that nobody takes: drawing them costs half of its time.
    So this listens to Gazebo only while a picture is asked for or one of its own topics is watched, and has
    the bridge repeat what was lost: of pictures that are sent with best effort most do not arrive whole.
    """

    def __init__(self, node: SpcaNode, mount: CameraMount, at: str = "") -> None:
        self._node, self._intrinsics, self._frame = node, mount.intrinsics, at + OPTICAL_FRAME
        self._topics = CameraTopics(node, at)
        take = FramePairs(self._on_frame).take
        colour, depth, _ = camera_topics(at)
        self._sources = (colour, partial(take, "colour")), (depth, partial(take, "depth"))
        self._listening: tuple[Subscription, ...] = ()
        self._asking = 0
        self._newest: Capture.Response | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Have pictures taken while the context lasts. For threads that do not spin."""
        self._asking += 1
        self._node.loop.soon(self.look)
        try:
            yield
        finally:
            self._asking -= 1
            self._node.loop.soon(self.look)

    def since(self, begun: float) -> Capture.Response | None:
        """Return the newest picture, if it was taken at `begun` (simulated seconds) or later, or None."""
        newest = self._newest
        return newest if newest and seconds(newest.colour.header.stamp) >= begun else None

    def look(self) -> None:
        """Begin or cease to listen to Gazebo, as needed now. To be called in the thread that spins."""
        wanted = self._asking > 0 or self._topics.watched
        if wanted and not self._listening:
            self._listening = tuple(
                self._node.create_subscription(Image, topic.ros_topic_name, on_image, WHOLE)
                for topic, on_image in self._sources
            )
        elif self._listening and not wanted:
            for subscription in self._listening:
                self._node.destroy_subscription(subscription)
            self._listening = ()

    def _on_frame(self, colour: Image, depth: Image) -> None:
        if not any(colour.data):
            return  # the first that Gazebo's camera draws is black
        info = info_msg(self._intrinsics, seconds(colour.header.stamp))
        for message in (colour, depth, info):
            message.header.frame_id = self._frame
        self._topics.publish(colour, depth, info)
        self._newest = Capture.Response(success=True, colour=colour, depth=depth, info=info)
