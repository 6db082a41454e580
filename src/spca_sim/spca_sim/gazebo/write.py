"""Writes every file that Gazebo and its bridge need into a folder."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import yaml

from spca_core.kinds import primitives
from spca_core.layout import Layout
from spca_core.world import World
from spca_robot.description.write import RobotFiles, write_robot
from spca_sim.gazebo.bridge import bridge_config
from spca_sim.gazebo.world_sdf import build_world, mesh_file, mesh_text


@dataclass(frozen=True)
class GazeboFiles:
    """Paths of the generated files."""

    world: Path
    bridge: Path
    robot: RobotFiles


def write_all(
    world: World,
    folder: Path,
    layout: Layout | None = None,
    source: str = "generated",
    rate: float = 1.0,
    watched: Collection[str] = (),
) -> GazeboFiles:
    """Generate the world, the bridge's configuration and the robot's files.

    See `build_world` and `write_robot`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = GazeboFiles(
        folder / f"{world.name}.sdf", folder / "bridge.yaml", write_robot(world, folder, source)
    )
    files.world.write_text(build_world(world, layout, rate, watched))
    for thing in world.objects:
        for part in primitives(thing.kind, thing.size):
            if part.shape == "hull":
                (folder / mesh_file(part)).write_text(mesh_text(part))
    files.bridge.write_text(yaml.safe_dump(bridge_config(world.name), sort_keys=False))
    return files
