"""The topics of a simulated RGB-D camera."""

from __future__ import annotations

from rclpy.publisher import Publisher
from sensor_msgs.msg import CameraInfo, Image

from spca_ros import names
from spca_ros.node import SpcaNode
from spca_ros.qos import STATE


class CameraTopics:
    """Publishes pictures with their calibration; whoever subscribes later still gets the newest."""

    def __init__(self, node: SpcaNode) -> None:
        def publisher(kind: type, topic: str) -> Publisher:
            return node.create_publisher(kind, topic, STATE)

        self._infos = [publisher(CameraInfo, topic) for topic in (names.COLOUR_INFO, names.DEPTH_INFO)]
        self._colour, self._depth = publisher(Image, names.COLOUR), publisher(Image, names.DEPTH)

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
