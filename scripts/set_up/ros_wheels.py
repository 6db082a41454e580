"""Makes the ROS 2 wheels usable for building.

Their CMake files contain paths of the machine that built them.
"""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

from places import Places
from progress import StepFailed

_BUILDER = r"/opt/python/cp3\d+-cp3\d+"
_PYTHON_HEADERS = re.compile(_BUILDER + r"/include/python3\.\d+")
_NUMPY_HEADERS = re.compile(_BUILDER + r"/lib/python3\.\d+/site-packages/numpy/_?core/include")


def relocate(places: Places) -> None:
    """Rewrite the header folders in the wheels' CMake exports to the real ones.

    Running it again changes nothing.
    """
    python = sysconfig.get_path("include")
    numpy = numpy_headers(places)
    for export in sorted((places.venv / "share").glob("*/cmake/*.cmake")):
        text = export.read_text(encoding="utf-8")
        mended = _NUMPY_HEADERS.sub(str(numpy), _PYTHON_HEADERS.sub(python, text))
        if mended != text:
            export.write_text(mended, encoding="utf-8")


def numpy_headers(places: Places) -> Path:
    """The folder of numpy's headers; numpy 2 has moved it."""
    for core in ("_core", "core"):
        folder = places.site_packages / "numpy" / core / "include"
        if folder.is_dir():
            return folder
    raise StepFailed(f"numpy's headers are not in {places.site_packages}; remove {places.venv} and try again")
