"""Small helpers to write URDF, SRDF and SDF as element trees, and files for ROS tools from templates."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from spca_core.geometry import Array

Element = ET.Element
_UPRIGHT = 1e-9  # share of the x axis that is level, below which it counts as upright


def add(parent: Element, tag: str, text: object = None, **attributes: object) -> Element:
    """Add a child and return it. Numbers and sequences of numbers become text that reads back to 1e-9."""
    child = ET.SubElement(parent, tag, {name: _text(value) for name, value in attributes.items()})
    if text is not None:
        child.text = _text(text)
    return child


def numbers(values: Sequence[float] | Array) -> str:
    """Return numbers as text, `x y z`.

    >>> numbers([1.0, -0.0, 0.05])
    '1 0 0.05'
    """
    return " ".join(_number(float(v)) for v in values)


def xyz_rpy(pose: Array) -> tuple[str, str]:
    """Return the position of a 4×4 matrix, and its roll, pitch, yaw about fixed axes, as URDF and SDF do."""
    (a, _, _), (d, e, f), (g, h, i) = pose[:3, :3].tolist()
    level = math.hypot(a, d)
    upright = level < _UPRIGHT  # at pitch ±π/2 any split of roll and yaw will do
    roll, yaw = (math.atan2(-f, e), 0.0) if upright else (math.atan2(h, i), math.atan2(d, a))
    return numbers(pose[:3, 3]), numbers([roll, math.atan2(-g, level), yaw])


def document(root: Element, comment: str = "") -> str:
    """Return the finished text of an XML file."""
    ET.indent(root)
    head = f"<!-- {comment} -->\n" if comment else ""
    return f'<?xml version="1.0"?>\n{head}{ET.tostring(root, encoding="unicode")}\n'


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return _number(float(value))
    if isinstance(value, (tuple, list, np.ndarray)):
        return numbers(np.asarray(value, dtype=float))
    return str(value)


def _number(value: float) -> str:
    return f"{round(value, 12) + 0.0:.12g}"


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
