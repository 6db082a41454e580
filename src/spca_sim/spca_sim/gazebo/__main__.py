"""`python -m spca_sim.gazebo FOLDER [--world NAME] [--seed N] [--source …]`: write Gazebo's files.

Try them with

gz sim -s -r --headless-rendering FOLDER/tabletop.sdf
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spca_core.errors import InputError
from spca_core.layout import random_layout
from spca_core.world import load_world
from spca_sim.gazebo.write import write_all


def main() -> int:
    """Write world, bridge and robot files; returns the exit status."""
    parser = argparse.ArgumentParser(prog="spca_sim.gazebo", description="Write what Gazebo needs.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--world", default="tabletop")
    parser.add_argument("--seed", type=int, help="of a random table; the nominal one by default")
    parser.add_argument("--source", default="generated", choices=("generated", "vendor"))
    parser.add_argument("--rate", type=float, default=1.0, help="real-time factor; 0: as fast as it can")
    arguments = parser.parse_args()
    try:
        world = load_world(arguments.world)
        layout = None if arguments.seed is None else random_layout(world, arguments.seed)
        files = write_all(world, arguments.folder, layout, arguments.source, arguments.rate)
    except InputError as error:
        print(f"spca_sim.gazebo: {error}", file=sys.stderr)
        return error.exit_status
    robot = files.robot
    for path in (files.world, files.bridge, robot.urdf, robot.srdf, robot.controllers, robot.moveit):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
