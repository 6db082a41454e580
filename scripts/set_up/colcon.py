"""colcon on this checkout's workspace, with the ROS of its environment."""

from __future__ import annotations

import os
from pathlib import Path

from environment import clean_environment
from places import Places

_COLCON = "import sys; from colcon_core.command import main; sys.exit(main())"
"""Its program: an environment that sees the system's packages lacks one where they have that very version."""


def command(places: Places, verb: str, *options: str | Path) -> list[str | Path]:
    """The command line of `colcon build` or `colcon test`; its folders are the checkout's own."""
    return [
        *(places.python, "-c", _COLCON, "--log-base", places.colcon("log"), verb),
        *("--build-base", places.colcon("build"), "--install-base", places.colcon("install")),
        *options,
    ]


def environment(places: Places) -> dict[str, str]:
    """This process's environment with the workspace's Python first and the ROS to build against."""
    variables = clean_environment()
    variables["PATH"] = f"{places.venv / 'bin'}{os.pathsep}{variables['PATH']}"
    if places.ros_sourced:
        variables["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    else:
        for variable in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH"):
            variables[variable] = str(places.venv)
    return variables
