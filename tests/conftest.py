"""A sourced ROS 2 made of wheels, for tests of what a ROS user types."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import hashlib
import inspect
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "scripts" / "requirements" / "lock.txt"
OF_ROS = re.compile(
    r"(ros-|colcon-|argcomplete=|catkin-pkg=|cmake=|coloredlogs=|distlib=|docutils=|empy=|humanfriendly=|importlib"
    r"|lark=|ninja=|notify2=|numpy=|packaging=|psutil=|pyparsing=|python-dateutil=|pyyaml=|setuptools=|six="
    r"|stevedore=|typing-extensions=)"
)
"""What ROS 2, its tools and their Debian packages bring, in the lock file; all else is the project's."""
BY_HAND = range(91, 102)
NOT_LOCKED = ("osrf-pycommon==2.0.2",)


@dataclass(frozen=True)
class SourcedRos:
    """A prefix as in /opt/ros, whose Python has none of the project's packages."""

    prefix: Path

    @property
    def domain(self) -> str:
        """The ROS domain of what this process starts."""
        return own_domain_id()

    def run(
        self, script: str, folder: Path, timeout: float = 240.0, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run lines of a shell script in a shell that has sourced it."""
        process = self.start(script, folder, stderr=subprocess.PIPE, **more)
        try:
            said, complained = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return subprocess.CompletedProcess(script, process.returncode, said, complained)

    def start(
        self, script: str, folder: Path, stderr: int = subprocess.STDOUT, **more: str
    ) -> subprocess.Popen[str]:
        """Start such a shell in a process group of its own."""
        kept = ("HOME", "LANG", "USER", "TMPDIR", "XDG_RUNTIME_DIR")
        clean = {name: os.environ[name] for name in kept if name in os.environ}
        return subprocess.Popen(
            ["bash", "-c", f"source {self.prefix}/setup.bash\n{script}"],
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "ROS_DOMAIN_ID": own_domain_id(), **clean, **more},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        )


@functools.cache
def own_domain_id() -> str:
    """A ROS domain for the launches of this test process, from those that no graph takes at random."""
    taken = socket.socket(socket.AF_UNIX)
    atexit.register(taken.close)  # until then no other test process takes it
    for domain in BY_HAND:
        with contextlib.suppress(OSError):
            taken.bind(f"\0spca/tests/{domain}")
            return str(domain)
    raise AssertionError(f"{len(BY_HAND)} other test processes have a domain each")


@pytest.fixture(scope="session")
def sourced_ros() -> SourcedRos:
    """Made on first use, and kept in the environment's folder until what it is made of changes."""
    if not (folder := os.environ.get("SPCA_ROS2_LAUNCH")):
        pytest.skip("SPCA_ROS2_LAUNCH names no folder with the wheels of ROS 2's launch and ros2cli")
    given = Path(folder)
    wheels = sorted((given / "wheels").glob("*.whl"))
    pins = [line.rstrip(" \\") for line in LOCK.read_text().splitlines() if OF_ROS.match(line)]
    made_of = [sys.version, *NOT_LOCKED, *pins, *(w.name for w in wheels), inspect.getsource(_make)]
    digest = hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:16]
    prefix = Path(sys.prefix).resolve() / ".spca" / "sourced_ros" / digest
    prefix.mkdir(parents=True, exist_ok=True)
    for other in prefix.parent.glob("*/setup.bash"):
        if other.parent != prefix:
            shutil.rmtree(other.parent)
    with prefix.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        if not (prefix / "setup.bash").is_file():
            _make(prefix, [*pins, *NOT_LOCKED, *map(str, wheels)], given / "src")
    return SourcedRos(prefix)


def _make(prefix: Path, packages: Sequence[str], sources: Path) -> None:
    base = getattr(sys, "_base_executable", sys.executable)
    _run(base, "-m", "venv", "--clear", "--without-pip", prefix)
    listed = prefix / "packages.txt"
    listed.write_text("\n".join(packages) + "\n")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", prefix / "bin" / "python")
    _run(*pip, "install", "-q", "--no-deps", "--no-compile", "-r", listed)
    _run(prefix / "bin" / "python", "-c", _RELOCATE, ROOT / "scripts" / "set_up", prefix)
    python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    exported = {
        "PATH": f"{prefix}/bin:$PATH",
        "PYTHONPATH": f"{prefix}/lib/{python}/site-packages",
        "LD_LIBRARY_PATH": f"{prefix}/lib",
        **dict.fromkeys(("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH"), str(prefix)),
        "ROS_DISTRO": "jazzy",
        "ROS_VERSION": "2",
        "ROS_PYTHON_VERSION": "3",
    }
    text = "".join(f"export {name}={value}\n" for name, value in exported.items())
    script = prefix / "setup.new"
    script.write_text(text)
    # Most of the time would go into what only C++ nodes use, as in spca_interfaces.
    for listed in shutil.copytree(sources, prefix / "src").rglob("CMakeLists.txt"):
        found, rest = listed.read_text().rsplit("rosidl_generate_interfaces(", 1)
        listed.write_text(f"{found}{_WITHOUT_CPP}\nrosidl_generate_interfaces({rest}")
    build = (
        f"colcon build --merge-install --base-paths {prefix / 'src'} --install-base {prefix} "
        "--cmake-args -G Ninja -DBUILD_TESTING=OFF -Wno-dev '-DCMAKE_C_FLAGS=-O0' '-DCMAKE_CXX_FLAGS=-O0'"
    )
    folder = prefix / "build"
    folder.mkdir()
    # Left to itself, colcon compiles one file at a time while other tests keep the machine busy.
    _run("bash", "-ec", f"source {script}\ncd {folder}\nMAKEFLAGS=-j{os.cpu_count() or 1} {build}")
    script.rename(prefix / "setup.bash")


_WITHOUT_CPP = 'list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")'
_RELOCATE = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import places, ros_wheels
class There(places.Places):
    venv = pathlib.Path(sys.argv[2])
ros_wheels.relocate(There(ros_sourced=False))
"""


def _run(*command: str | Path) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
