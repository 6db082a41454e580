"""DDS Security (SROS2): a graph that only takes part with who has a key of the same keystore.

One enclave serves all of the project's nodes: what is protected is the graph against others, not one node
from another.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from spca_core.errors import InputError

ENCLAVE = "/spca"
_NEEDED = ("cert.pem", "key.pem", "governance.p7s", "permissions.p7s", "identity_ca.cert.pem")
_PLUGIN = b"DDS:Auth:PKI-DH"  # named in Fast DDS only where it was built with security


def variables(keystore: Path) -> dict[str, str]:
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
