"""Makes ROS 2 and the project's interfaces usable in this process, however it was started.

Set-up puts the interfaces that it has built on Python's path. Here they are put on ROS's path too and their
libraries are loaded, so that neither a wrapper script nor a changed LD_LIBRARY_PATH is needed. Where a
workspace that has `spca_interfaces` is sourced, that one is used.

A graph is closed unless somebody opens it on purpose: whatever ROS variables a terminal has from other work,
DDS uses shared memory and the loopback interface (`fastdds.xml`). `SPCA_DDS_PROFILE` names the profile of a
network to take part in.

With DDS Security (SROS2), a graph takes part only with who has a key of the same keystore. One enclave serves
all of the project's nodes: what is protected is the graph against others, not one node from another.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from pathlib import Path

from spca_core.errors import InputError, SpcaError
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
    "ROS_LOG_DIR": str(state_folder() / "log"),  # not in the home folder
    "RCUTILS_LOGGING_USE_STDOUT": "0",
}
DIE_WITH_PARENT = "SPCA_DIE_WITH_PARENT"
"""Environment variable that makes a node end when the process that started it ends."""

OPENED_BY = "SPCA_DDS_PROFILE"
"""Environment variable of a Fast DDS profile that opens graphs; the user's other DDS variables apply then."""

_PROFILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
CLOSED = {
    # LOCALHOST would have ROS add a transport on every interface; the profile says where to look for others.
    "ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT",
    "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
    **dict.fromkeys(_PROFILES, str(Path(__file__).with_name("fastdds.xml"))),
    "SKIP_DEFAULT_XML": "1",  # else Fast DDS reads a profile in the working folder
}
"""Environment variables of a graph that is on this machine only."""

_OPENING = ("ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS", "ROS_DISCOVERY_SERVER", "FASTDDS_ENVIRONMENT_FILE")
"""Environment variables of ROS and Fast DDS that add transports or peers to a profile's."""


def ensure() -> None:
    """Set up ROS in this process. Raises SpcaError if the interfaces are not built. Harmless if repeated."""
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    _choose_network()
    if importlib.util.find_spec("rclpy") is None:
        raise SpcaError("rclpy is not installed: `bin/spca` installs it, or source a ROS 2 Jazzy")
    interfaces = importlib.util.find_spec("spca_interfaces")
    if interfaces is None or interfaces.origin is None:
        raise SpcaError("spca_interfaces is not built: `bin/spca run LEVEL --ros` builds it")
    _load(Path(interfaces.origin).parents[4])


def _choose_network() -> None:
    profile = os.environ.get(OPENED_BY, "")
    if not profile:
        os.environ.update(CLOSED)
        for name in _OPENING:
            os.environ.pop(name, None)
    elif not Path(profile).is_file():
        raise InputError("no such file", where=f"{OPENED_BY}={profile}", hint="a Fast DDS profile (XML)")
    else:
        os.environ.update(dict.fromkeys(_PROFILES, profile))


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


ENCLAVE = "/spca"
_NEEDED = ("cert.pem", "key.pem", "governance.p7s", "permissions.p7s", "identity_ca.cert.pem")
_PLUGIN = b"DDS:Auth:PKI-DH"  # named in Fast DDS only where it was built with security


def secured(keystore: Path) -> dict[str, str]:
    """Return environment variables with which every process of a secured graph starts.

    Raises InputError when this ROS has no security, or the keystore no usable enclave: nothing may run
    unprotected by mistake.
    """
    if not supported():
        hint = "the wheels of rclpy are; a ROS 2 Jazzy from apt has it"
        raise InputError("this ROS is built without DDS Security", where="--secure", hint=hint)
    folder = keystore.resolve() / "enclaves" / ENCLAVE.lstrip("/")
    if missing := [name for name in _NEEDED if not (folder / name).is_file()]:
        make, what = "ros2 security create_", f"the keystore has no usable enclave {ENCLAVE}"
        hint = f"{make}keystore {keystore} && {make}enclave {keystore} {ENCLAVE}"
        raise InputError(f"{what} (no {missing[0]})", where=str(keystore), hint=hint)
    if (folder / "key.pem").stat().st_mode & 0o077:
        hint = "chmod 600 key.pem"
        raise InputError("other users can read the private key", where=str(folder / "key.pem"), hint=hint)
    return {
        "ROS_SECURITY_ENABLE": "true",
        "ROS_SECURITY_STRATEGY": "Enforce",
        "ROS_SECURITY_KEYSTORE": str(keystore.resolve()),
        "ROS_SECURITY_ENCLAVE_OVERRIDE": ENCLAVE,
    }


def supported() -> bool:
    """Return whether the Fast DDS in use was built with security."""
    entries = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    for prefix in (*filter(None, entries), sys.prefix):
        for library in sorted(Path(prefix).glob("lib/**/libfastrtps.so")):
            return _PLUGIN in library.read_bytes()
    return False
