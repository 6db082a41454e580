"""The robot as a physical thing: a UR5 with a Robotiq 2F-85. Figures, kinematics, MuJoCo model."""
