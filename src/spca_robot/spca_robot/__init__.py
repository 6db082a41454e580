"""The robot as a physical thing: an arm with a Robotiq 2F-85. Figures, kinematics, MuJoCo model, and URDF."""

from pathlib import Path

ARMS = Path(__file__).with_name("arms")
"""Folder of the arms that come with spca, a file each; see `spca_core.arms`."""
