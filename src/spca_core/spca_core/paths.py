"""Where the project's own files are."""

from __future__ import annotations

import os
from pathlib import Path


def _root() -> Path:
    """The checkout: SPCA_ROOT, or the nearest folder above this file that holds `worlds/`."""
    if "SPCA_ROOT" in os.environ:
        return Path(os.environ["SPCA_ROOT"]).resolve()
    for parent in Path(__file__).resolve().parents:
        if (parent / "worlds").is_dir() and (parent / "levels").is_dir():
            return parent
    return Path.cwd()


ROOT = _root()
WORLDS = ROOT / "worlds"
LEVELS = ROOT / "levels"
RUNS = ROOT / "runs"
LIBRARY = ROOT / "library"
