"""The simulators: MuJoCo with a software RGB-D camera, recordings and videos; Gazebo in `gazebo`."""

from functools import partial

from spca_core.processes import started

start_sim = partial(started, "spca_sim.node")
start_gazebo = partial(started, "spca_sim.gazebo.node")
