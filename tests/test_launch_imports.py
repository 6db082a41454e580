"""What the launch files take from the project is there; that can be tested where ROS 2's launch is not."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

LAUNCH = Path(__file__).resolve().parents[1] / "launch"
CASES = [
    pytest.param(node.module, name.name, id=f"{file.name}-{node.module}.{name.name}")
    for file in sorted(LAUNCH.glob("*.launch.py"))
    for node in ast.walk(ast.parse(file.read_text()))
    if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("spca")
    for name in node.names
]


@pytest.mark.parametrize(("module", "name"), CASES)
def test_what_a_launch_file_imports_exists(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name)
