"""Where the project's own files are."""

from __future__ import annotations

import os
from pathlib import Path


def _root() -> Path:
    """The checkout: SPCA_ROOT, or the nearest folder with `worlds/` and `levels/` above this file or the working folder.

    The working folder counts for packages that colcon has installed outside the checkout; it is the answer when there
    is no such folder. An empty SPCA_ROOT is none.
    """
    if root := os.environ.get("SPCA_ROOT"):
        return Path(root).resolve()
    here = Path.cwd()
    for folder in (*Path(__file__).resolve().parents, here, *here.parents):
        if (folder / "worlds").is_dir() and (folder / "levels").is_dir():
            return folder
    return here


ROOT = _root()
WORLDS = ROOT / "worlds"
LEVELS = ROOT / "levels"
RUNS = ROOT / "runs"
LIBRARY = ROOT / "library"
