"""The package as a whole: it imports no ROS, simulator or higher package."""

import pkgutil

import spca_core
from spca_testing.processes import python

MODULES = sorted(m.name for m in pkgutil.walk_packages(spca_core.__path__, "spca_core."))
IMPORT_ALL = f"""
import importlib, sys
for name in {MODULES!r}:
    importlib.import_module(name)
print(*sys.modules)
"""


def test_it_knows_no_ros_no_simulator_and_no_package_above() -> None:
    loaded = {name.partition(".")[0] for name in python("-c", IMPORT_ALL).stdout.split()}
    assert "spca_core" in loaded
    assert not {n for n in loaded if n.startswith("spca") and n != "spca_core"}
    assert not loaded & {"rclpy", "mujoco", "gymnasium", "minigrid", "openai", "cv2", "ompl"}
