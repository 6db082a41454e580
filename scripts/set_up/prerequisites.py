"""What a machine must have before set-up can begin; each lack is reported in one line."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from places import ROOT

OLDEST, NEWEST = (3, 10), (3, 13)


class Missing(Exception):
    """Something that the user has to provide: one line, what and how to get it."""


def check() -> None:
    """Raise Missing for the first thing that lacks, whatever is to be run."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if sys.implementation.name != "cpython" or not OLDEST <= sys.version_info[:2] <= NEWEST:
        raise Missing(
            f"needs CPython 3.10 to 3.13, not {sys.implementation.name} {version}: apt install python3"
        )
    if sys.platform != "linux":
        raise Missing(f"runs on Linux only, not on {sys.platform}: use a container or a virtual machine")
    if " " in str(ROOT) or ":" in str(ROOT):
        raise Missing(
            f"CMake and the library path cannot cope with '{ROOT}': move it to a path "
            "without blanks and colons"
        )
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise Missing(f"python{version} lacks the venv module: apt install python{version}-venv")


def check_compiler() -> None:
    """Raise Missing for what compiling the ROS interfaces lacks."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for variable, names in (("CC", ("cc", "gcc", "clang")), ("CXX", ("c++", "g++", "clang++"))):
        wanted = os.environ.get(variable, "").split()[:1]
        if not any(shutil.which(name) for name in wanted or names):
            raise Missing(f"no C/C++ compiler ({' or '.join(wanted or names)}): apt install build-essential")
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        raise Missing(f"the headers of python{version} are not installed: apt install python{version}-dev")
