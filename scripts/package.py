"""What every package's setup.py says: colcon builds each by itself, pip all of them as one distribution."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from setuptools import find_packages, setup

TOP = Path(__file__).resolve().parents[1]


def package(
    name: str,
    entry_points: Mapping[str, Sequence[str]] | None = None,
    shares: Sequence[str] = (),
    extras: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Set up the package in the current folder; `shares` are the checkout's folders that go under share/."""
    setup(
        name=name,
        version="0.1.0",
        packages=find_packages(exclude=["test"]),
        package_data={"": ["**/*"]},
        data_files=[
            ("share/ament_index/resource_index/packages", [f"resource/{name}"]),
            (f"share/{name}", ["package.xml"]),
            *(files for share in shares for files in _files(name, share)),
        ],
        # `test`, so that `colcon test` takes pytest.
        extras_require={"test": ["pytest"], **(extras or {})},
        entry_points=entry_points or {},
        zip_safe=False,
    )


def _files(name: str, share: str) -> list[tuple[str, list[str]]]:
    """Return every file of a folder at the checkout's top, by where it is installed."""
    folders = sorted(path for path in [TOP / share, *(TOP / share).rglob("*")] if path.is_dir())
    found = {
        folder: sorted(os.path.relpath(f) for f in folder.iterdir() if f.is_file() and f.suffix != ".pyc")
        for folder in folders
    }
    return [(f"share/{name}/{folder.relative_to(TOP)}", files) for folder, files in found.items() if files]
