"""The robot on top of `ur_description` and `robotiq_description`.

The meshes are the vendors'; kinematics, masses and limits are the project's.

xacro composes it (`xacro/cobot.urdf.xacro`); what the world description says is handed over here.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

from spca_core.errors import InputError
from spca_core.paths import share
from spca_core.world import World
from spca_robot.description.moveit_config import solid_links
from spca_robot.description.names import VENDOR
from spca_robot.description.xml import filled, frames, numbers
from spca_robot.gripper_2f85 import ADAPTER

PACKAGES = ("ur_description", "robotiq_description")
XACRO = Path(__file__).resolve().parent / "xacro" / "cobot.urdf.xacro"


def missing_packages() -> list[str]:
    """Return the names of those of `PACKAGES` (and of xacro) that this machine lacks."""
    lacking = [name for name in PACKAGES if share(name) is None]
    return lacking if importlib.util.find_spec("xacro") is not None else [*lacking, "xacro"]


def build_vendor_urdf(world: World, folder: Path, controllers_file: str = "") -> str:
    """Return the URDF that xacro composes; `folder` receives the extension file (`files/extension.xacro.j2`).

    That has the camera's frames and, for Gazebo, control and contact sensors. Raises InputError that names
    what is not installed.
    """
    arm = world.robot.arm
    if arm.dh != "standard":
        hint = "use robot:=generated"
        raise InputError(f"ur_description has no {arm.title}", where="robot:=vendor", hint=hint)
    if lacking := missing_packages():
        raise InputError(
            f"not installed: {', '.join(lacking)}",
            where="robot:=vendor",
            hint="install them (docs/full-stack.md), or use robot:=generated, which needs none of them",
        )
    solid = solid_links(_process(world, "")) if controllers_file else ()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "cobot_extension.xacro"
    values = {"gripper": VENDOR, "links": solid, "controllers_file": controllers_file, **frames(world)}
    path.write_text(filled("extension.xacro", world=world, **values))
    return _process(world, str(path))


def _process(world: World, extension_file: str) -> str:
    """Return what xacro composes, with what the world says as its arguments."""
    base = world.robot.base
    arguments = {
        "arm": world.robot.arm.name,
        "base_xyz": numbers(base.position),
        "base_rpy": numbers((0.0, 0.0, base.yaw)),
        "adapter": numbers([ADAPTER]),
        "extension": extension_file,
    }
    xacro = importlib.import_module("xacro")
    return xacro.process_file(str(XACRO), mappings=arguments).toprettyxml(indent="  ")
