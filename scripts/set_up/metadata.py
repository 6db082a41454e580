"""Writes the metadata of every package (name, version, entry points), so that Python finds plugins.

The packages are used in place; an installed package would have this next to its modules. Run by the
environment's own Python: `python metadata.py FOLDER SETUP_PY …`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def write(folder: Path, setups: list[Path]) -> None:
    """One `NAME.egg-info` in `folder` for each `setup.py`."""
    from distutils.core import run_setup  # setuptools brings it

    folder.mkdir(parents=True, exist_ok=True)
    for setup in setups:
        os.chdir(setup.parent)
        run_setup(setup.name, ["--quiet", "egg_info", "--egg-base", str(folder)])


if __name__ == "__main__":
    import setuptools  # noqa: F401  (provides distutils where Python has none)

    write(Path(sys.argv[1]), [Path(argument) for argument in sys.argv[2:]])
