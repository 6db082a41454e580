"""The tabletop over ROS 2."""

from functools import partial

from spca_core.processes import started

start_display = partial(started, "spca_tabletop.ros.display_node")
