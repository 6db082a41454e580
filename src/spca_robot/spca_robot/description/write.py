"""Writes every generated file of the robot into a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from spca_core.world import World
from spca_robot.description.moveit_config import build_srdf, controllers, moveit_config
from spca_robot.description.names import GRIPPERS
from spca_robot.description.urdf import build_urdf, build_vendor_urdf


@dataclass(frozen=True)
class RobotFiles:
    """Paths of the generated files."""

    urdf: Path
    srdf: Path
    controllers: Path
    moveit: Path


def write_robot(world: World, folder: Path, source: str = "generated") -> RobotFiles:
    """Generate URDF, SRDF, controllers and MoveIt's parameters for a world.

    `source` is `generated` (self-contained) or `vendor` (ur_description + robotiq_description). The
    URDF carries Gazebo's control plugin and contact sensors. Raises InputError where a package is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    gripper = GRIPPERS[source]
    files = RobotFiles(*(folder / n for n in ("cobot.urdf", "cobot.srdf", "controllers.yaml", "moveit.yaml")))
    files.controllers.write_text(controllers(gripper, world.robot.arm.joint_names))
    controllers_file = str(files.controllers.resolve())
    if source == "vendor":
        urdf = build_vendor_urdf(world, folder, controllers_file)
    else:
        urdf = build_urdf(world, controllers_file)
    files.urdf.write_text(urdf)
    files.srdf.write_text(build_srdf(urdf, world, gripper))
    files.moveit.write_text(yaml.safe_dump(moveit_config(urdf, world, gripper), sort_keys=False))
    return files
