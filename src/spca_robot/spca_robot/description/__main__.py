"""`python -m spca_robot.description FOLDER [--world NAME] [--source generated|vendor]` writes its files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spca_core.errors import InputError
from spca_core.world import load_world
from spca_robot.description.write import write_robot


def main() -> int:
    """Write URDF, SRDF, controllers and MoveIt's parameters; returns the exit status."""
    parser = argparse.ArgumentParser(prog="spca_robot.description", description="Write the robot's files.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--world", default="tabletop")
    parser.add_argument("--source", default="generated", choices=("generated", "vendor"))
    arguments = parser.parse_args()
    try:
        files = write_robot(load_world(arguments.world), arguments.folder, arguments.source)
    except InputError as error:
        print(f"spca_robot.description: {error}", file=sys.stderr)
        return error.exit_status
    for path in (files.urdf, files.srdf, files.controllers, files.moveit):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
