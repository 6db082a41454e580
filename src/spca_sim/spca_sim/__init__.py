"""The simulators: MuJoCo with a software RGB-D camera, recordings and videos; Gazebo in `gazebo`."""
