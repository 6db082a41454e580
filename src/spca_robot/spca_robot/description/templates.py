"""Files for ROS tools in `files/`, filled in with the data of a robot."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_FILES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("files")),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def filled(name: str, **values: object) -> str:
    """Return the text of `files/NAME.j2` with these values."""
    return _FILES.get_template(f"{name}.j2").render(values)
