"""Where things are in Gazebo: ground truth, for the referee and for recordings."""

from __future__ import annotations

from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import MultiDOFJointState

from spca_core.geometry import Pose
from spca_core.world import World
from spca_gazebo import bridge
from spca_gazebo.polled import PolledTopic
from spca_ros import names
from spca_ros.convert.places import place, places_msg
from spca_ros.node import SpcaNode
from spca_ros.qos import EVERY


class Moved:
    """The poses that Gazebo tells of everything that can move, read when they are wanted."""

    def __init__(self, node: SpcaNode, world: World) -> None:
        self._poses: dict[str, Pose] = {}
        kind, depth = TransformStamped, len(world.objects)
        self._topic = PolledTopic(node.context, f"{node.get_name()}_poses", kind, bridge.POSES.ros, depth)
        self._places = node.create_publisher(MultiDOFJointState, names.PLACES, EVERY)

    def poses(self) -> dict[str, Pose]:
        """The newest poses in `world`, by model."""
        for message in self._topic.take():
            self._poses[message.child_frame_id] = place(message.transform)
        return self._poses

    def tell(self, stamp: float) -> None:
        """Tell the referee where things were at the contact sample of `stamp` (simulated s)."""
        self._places.publish(places_msg(stamp, self._poses))

    def close(self) -> None:
        """Unsubscribe."""
        self._topic.close()
