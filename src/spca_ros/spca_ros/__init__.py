"""ROS 2 for spca: messages from and to records, node helpers, the ports over topics and actions, the node graph."""

from spca_ros.environment import ensure

ensure()
