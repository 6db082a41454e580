"""--secure: a graph starts with keys, or does not start."""

from pathlib import Path

import pytest

from spca_core.errors import InputError
from spca_ros import environment

pytestmark = pytest.mark.ros


@pytest.fixture
def keystore(tmp_path: Path) -> Path:
    """A folder laid out as `ros2 security` does it; its keys are none."""
    enclave = tmp_path / "keys" / "enclaves" / "spca"
    enclave.mkdir(parents=True)
    for name in ("cert.pem", "key.pem", "governance.p7s", "permissions.p7s", "identity_ca.cert.pem"):
        (enclave / name).write_text("")
    (enclave / "key.pem").chmod(0o600)
    return tmp_path / "keys"


@pytest.fixture
def secure_ros(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ROS whose Fast DDS names the plugin."""
    library = tmp_path / "ros" / "lib" / "libfastrtps.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"\x7fELF..DDS:Auth:PKI-DH..")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ros"))


@pytest.mark.skipif(environment.supported(), reason="this ROS has DDS Security")
def test_without_security_in_ros_it_is_refused(keystore: Path) -> None:
    with pytest.raises(InputError, match="without DDS Security"):
        environment.secured(keystore)


@pytest.mark.usefixtures("secure_ros")
def test_every_process_gets_keys_that_are_complete_and_its_own_and_must_use_them(keystore: Path) -> None:
    given = environment.secured(keystore)
    assert given["ROS_SECURITY_STRATEGY"] == "Enforce"
    assert given["ROS_SECURITY_KEYSTORE"] == str(keystore.resolve())
    enclave = keystore / "enclaves" / "spca"
    (enclave / "key.pem").chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        environment.secured(keystore)
    (enclave / "permissions.p7s").unlink()
    with pytest.raises(InputError, match="create_enclave"):
        environment.secured(keystore)
