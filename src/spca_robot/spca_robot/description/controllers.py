"""The parameters of ros2_control's controllers (`files/controllers.yaml.j2`)."""

from __future__ import annotations

from collections.abc import Sequence

from spca_robot.description.names import GripperNames
from spca_robot.description.xml import filled

# Hz: once in two physics steps. gz_ros2_control makes up a mimic joint's error with the speed error ·
# UPDATE_RATE, a half of it a step. At one step's rate fingers swing about what they hold (decision 11).
UPDATE_RATE = 200

PRESS_GAIN = 10.0
"""Speed (1/s) at which a finger that is held back wants to go on, per rad that it is short of its goal.

Gazebo's motor gives all its force however small that speed is, but only while the contact is there: after a
step without it, the finger must be back in the next few (decision 11).
"""


def controllers(gripper: GripperNames, joints: Sequence[str]) -> str:
    """Return the parameters of the controller manager and controllers, as YAML; `joints` are the arm's."""
    return filled(
        "controllers.yaml",
        gripper=gripper,
        joints=list(joints),
        update_rate=UPDATE_RATE,
        press_gain=PRESS_GAIN,
    )
