"""Writes the hook that puts set-up's packages on Python's path: `python hook.py FILE`, for `colcon build`.

ROS starts `ros2`, launch files and nodes with the Python that it was built for, which knows no virtual
environment.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH leaves it out

import stamps
from places import ROOT, here


def main() -> None:
    """Write the hook; exits with one line where the packages are not set up for this Python."""
    places = here()
    lines = ""
    if Path(sys.prefix).resolve() != places.venv.resolve():
        if not stamps.valid(places, "packages", stamps.packages()):
            sys.exit(
                "spca: the Python packages that ROS does not bring are not set up (or out of date) for "
                f"{sys.executable}: run {ROOT / 'bin' / 'spca'} doctor in this shell, then build again"
            )
        lines = f"append-non-duplicate;PYTHONPATH;{places.site_packages}\n"
    hook = Path(sys.argv[1])
    if hook.read_text() != lines:  # CMake looks at its time
        hook.write_text(lines)


if __name__ == "__main__":
    main()
