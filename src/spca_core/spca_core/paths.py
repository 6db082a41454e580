"""Folders of the project's data, and of a user's runs.

Data (worlds, levels, launch files, ...) lie at the top of a checkout. An installed package carries a copy of
its own in `share/PACKAGE`, as ament packages do. The checkout comes first, so that an edit there counts at
once.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path


def _checkout() -> Path | None:
    """Return SPCA_ROOT, or the nearest checkout above this file or the working folder, or None.

    A checkout is a folder with `worlds/` and `levels/`.

    The working folder counts because colcon may install the packages outside the checkout. An empty SPCA_ROOT
    is none.
    """
    if root := os.environ.get("SPCA_ROOT"):
        return Path(root).resolve()
    here = Path.cwd()
    for folder in (*Path(__file__).resolve().parents, here, *here.parents):
        if (folder / "worlds").is_dir() and (folder / "levels").is_dir():
            return folder
    return None


def share(package: str) -> Path | None:
    """Return the folder `share/PACKAGE` of an installed ament package, or None where it is not installed.

    Looks next to this package first (a merged install, then an isolated one), then along AMENT_PREFIX_PATH.
    """
    return next((p for p in _shares(package) if p.is_dir()), None)


def _shares(package: str) -> Iterator[Path]:
    for prefix in Path(__file__).resolve().parents:
        yield prefix / "share" / package
        yield prefix / package / "share" / package
    for entry in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield Path(entry) / "share" / package
    yield Path(sys.prefix) / "share" / package


def data(folder: str, package: str) -> Path:
    """Return a folder of data: the checkout's, else the one that `package` has installed.

    Where there is neither, it is the path that a checkout in the working folder would have, for messages.
    """
    installed = share(package) if CHECKOUT is None else None
    return (installed or ROOT) / folder


CHECKOUT = _checkout()
"""The checkout that is in use, or None: then everything comes from installed packages."""
ROOT = CHECKOUT or Path.cwd()
"""Folder of a user's own files, such as runs and what was learned: the checkout, or the working folder."""
WORLDS = data("worlds", "spca_core")
LEVELS = data("levels", "spca_core")
RUNS = ROOT / "runs"
CAMPAIGNS = ROOT / "campaigns"
LIBRARY = ROOT / "library"


def as_typed(arguments: str) -> str:
    """Return a command of this program, or pip's, as the user can type it.

    Without a launcher, as under `ros2 launch`, it is `spca` where the PATH has one, else the checkout's.
    """
    own = "spca" if CHECKOUT is None or shutil.which("spca") else os.path.relpath(CHECKOUT / "bin" / "spca")
    program = f"{sys.executable} -m" if arguments.startswith("pip ") else own
    return f"{os.environ.get('SPCA_LAUNCHER', program)} {arguments}"


def state_folder() -> Path:
    """Return the folder of the project's own keys, locks and logs between runs; it need not exist yet.

    Inside a checkout nothing else is touched; without one it is the user's state folder (XDG base
    directories).
    """
    if CHECKOUT is not None:
        return CHECKOUT / "ros2_ws" / "install"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "spca"
