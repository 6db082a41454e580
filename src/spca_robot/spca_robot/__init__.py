"""The robot as a physical thing: an arm with a Robotiq 2F-85. Figures, kinematics, MuJoCo model, and URDF."""
