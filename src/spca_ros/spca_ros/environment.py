"""Makes ROS 2 and the project's interfaces usable in this process, however it was started.

Set-up puts the interfaces that it has built on Python's path. Here they are put on ROS's path too and their
libraries are loaded, so that neither a wrapper script nor a changed LD_LIBRARY_PATH is needed. Where a
workspace that has `spca_interfaces` is sourced, that one is used.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from pathlib import Path

from spca_core.errors import SpcaError
from spca_core.paths import state_folder

# In the order of their dependencies. Later look-ups by name find what is loaded already. Those for C++
# are there only where set-up found a sourced ROS.
_LIBRARIES = (
    "rosidl_generator_c",
    "rosidl_typesupport_fastrtps_cpp",
    "rosidl_typesupport_introspection_cpp",
    "rosidl_typesupport_fastrtps_c",
    "rosidl_typesupport_introspection_c",
    "rosidl_typesupport_c",
    "rosidl_generator_py",
)
_DEFAULTS = {
    "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",  # loopback only; needs no multicast
    "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
    "FASTRTPS_DEFAULT_PROFILES_FILE": str(Path(__file__).with_name("fastdds.xml")),
    "ROS_LOG_DIR": str(state_folder() / "log"),  # not in the home folder
    "RCUTILS_LOGGING_USE_STDOUT": "0",
}


def ensure() -> None:
    """Do it; raises SpcaError when the interfaces have not been built. Harmless when called again."""
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    if importlib.util.find_spec("rclpy") is None:
        raise SpcaError("rclpy is not installed: `bin/spca` installs it, or source a ROS 2 Jazzy")
    interfaces = importlib.util.find_spec("spca_interfaces")
    if interfaces is None or interfaces.origin is None:
        raise SpcaError("spca_interfaces is not built: any `bin/spca` command builds it")
    _load(Path(interfaces.origin).parents[4])


def _load(prefix: Path) -> None:
    prefixes = [
        *filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)),
        str(prefix),
        sys.prefix,
    ]
    os.environ["AMENT_PREFIX_PATH"] = os.pathsep.join(dict.fromkeys(prefixes))
    libraries = (prefix / "lib" / f"libspca_interfaces__{name}.so" for name in _LIBRARIES)
    for library in filter(Path.exists, libraries):
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
