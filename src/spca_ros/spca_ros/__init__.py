"""ROS 2 for spca: message conversions, node helpers, the ports over topics and actions, the node graph."""

from spca_ros.environment import ensure

ensure()
