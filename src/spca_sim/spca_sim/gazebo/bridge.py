"""Topics bridged between Gazebo and ROS: the configuration of `ros_gz_bridge`'s `parameter_bridge`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from spca_robot.description.names import CONTACT_TOPIC
from spca_sim.gazebo.world_sdf import CAMERA_TOPIC


@dataclass(frozen=True)
class Topic:
    """One topic, under two names: an entry of the bridge's YAML file."""

    ros_topic_name: str
    gz_topic_name: str
    ros_type_name: str
    gz_type_name: str
    direction: str = "GZ_TO_ROS"
    lazy: bool = False
    """The topic is passed on, and Gazebo asked for it, only while somebody listens."""


CLOCK = Topic("/gazebo/clock", "/clock", "rosgraph_msgs/msg/Clock", "gz.msgs.Clock")
"""Clock for the node `sim` alone, which publishes `/clock` less often than once a physics step.

Once a step, as Gazebo does, keeps a processor busy in every node that uses simulated time.
"""


def _of_camera(name: str, ros_type: str, gz_type: str) -> Topic:
    topic = f"{CAMERA_TOPIC}/{name}"
    return Topic(topic, topic, f"sensor_msgs/msg/{ros_type}", f"gz.msgs.{gz_type}", lazy=True)


COLOUR = _of_camera("image", "Image", "Image")
DEPTH = _of_camera("depth_image", "Image", "Image")
POINTS = _of_camera("points", "PointCloud2", "PointCloudPacked")
CONTACTS = Topic(CONTACT_TOPIC, CONTACT_TOPIC, "ros_gz_interfaces/msg/Contacts", "gz.msgs.Contacts")
POSES = "/spca/gazebo/poses"
"""Topic of the poses of everything that can move (`geometry_msgs/PoseArray`): ground truth."""


def bridge_config(world: str) -> list[dict[str, object]]:
    """Return the list that becomes the bridge's YAML file, for a world of that name.

    Camera information is not among its topics; the node makes it from the world description (Gazebo counts
    pixels otherwise, see `files/world.sdf.j2`).
    """
    poses = Topic(POSES, f"/world/{world}/dynamic_pose/info", "geometry_msgs/msg/PoseArray", "gz.msgs.Pose_V")
    return [asdict(topic) for topic in (CLOCK, COLOUR, DEPTH, POINTS, CONTACTS, poses)]
