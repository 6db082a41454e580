"""The package as a whole: it imports no ROS, simulator or higher package."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import spca_core

MODULES = sorted(m.name for m in pkgutil.walk_packages(spca_core.__path__, "spca_core."))
IMPORT_ALL = f"""
import importlib, sys
for name in {MODULES!r}:
    importlib.import_module(name)
print(*sys.modules)
"""


def test_it_knows_no_ros_no_simulator_and_no_package_above() -> None:
    out = subprocess.run([sys.executable, "-c", IMPORT_ALL], check=True, capture_output=True, text=True)
    loaded = {name.partition(".")[0] for name in out.stdout.split()}
    assert "spca_core" in loaded
    assert not {n for n in loaded if n.startswith("spca") and n != "spca_core"}
    assert not loaded & {"rclpy", "mujoco", "gymnasium", "minigrid", "openai", "cv2", "ompl"}
