"""docs/ros-interfaces.md says what the nodes offer; launch/config/ names nothing that does not exist."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
pytestmark = [pytest.mark.ros, pytest.mark.slow]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ros_interfaces", ROOT / "scripts" / "ros_interfaces.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_page_and_parameter_files_agree_with_the_nodes(script: ModuleType) -> None:
    with script.all_nodes() as nodes:
        assert script.PAGE.read_text() == script.page(script.tables(nodes)), (
            "python scripts/ros_interfaces.py --write"
        )
        known = {node.get_name(): node for node in nodes}
        for file in sorted((ROOT / "launch" / "config").glob("*.yaml")):
            for name, given in yaml.safe_load(file.read_text()).items():
                for parameter, value in given["ros__parameters"].items():
                    declared = known[name].get_parameter(parameter).value
                    assert type(value) is type(declared), f"{file.name}: {name} {parameter}"
