"""The virtual environment with the locked packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path

from places import LINK, ROOT, SOURCED, WINGS, Places
from progress import StepFailed, run

RUNTIME_LOCK = ROOT / "scripts" / "requirements" / "lock.txt"
TEST_LOCK = ROOT / "scripts" / "requirements" / "test-lock.txt"
ROS_ONLY = ("ros-", "colcon-", "cmake", "ninja", "empy", "catkin-pkg")
"""What only the ROS transport needs, by the beginning of its name."""


def create(places: Places, log: Path) -> None:
    """Make the environment unless a sound one of this Python is there already. Raises StepFailed.

    Environments lie in folders named after their Python, so that another Python never touches one that is in
    use.
    """
    if not _sound(places):
        if places.python.exists():
            refuse_while_in_use(places, "is damaged and has to be created again")
        options = ["--system-site-packages"] if places.ros_sourced else []
        run(
            f"making {places.venv.name} with Python {sys.version.split()[0]}",
            [sys.executable, "-m", "venv", "--clear", *options, places.venv],
            log,
        )


def link(places: Places) -> None:
    """Point `.venv` to this environment, once it is complete and unless `.venv` stands for another one.

    One that was made without a sourced ROS takes the place of one with it, which needs such a shell.
    """
    if LINK.exists() and (places.ros_sourced or LINK.resolve().name != SOURCED):
        return
    fresh = LINK.with_name(".venv.new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(places.venv.name)
    fresh.replace(LINK)


def refuse_while_in_use(places: Places, reason: str) -> None:
    """Raise StepFailed when a process runs from this environment: changing it would break that process."""
    homes = (places.venv, LINK) if places.default else (places.venv,)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            program = (process / "cwd").readlink() / command[0]
        except OSError:  # it has ended, or is somebody else's
            continue
        if program.parent.parent in homes:
            raise StepFailed(
                f"{places.venv.name} {reason}, but process {process.name} runs from it "
                f"({' '.join(command[1:5])}): wait until it has ended, or end it"
            )


def _sound(places: Places) -> bool:
    probe = "import sys, pip; print(sys.version_info[:2])"
    try:
        result = subprocess.run(
            [places.python, "-c", probe], capture_output=True, text=True, check=True, env=clean_environment()
        )
    except (OSError, subprocess.CalledProcessError):
        return False
    return result.stdout.strip() == str(sys.version_info[:2])


def install(places: Places, lock: Path, log: Path) -> None:
    """Install every package of a lock file, at exactly its version; what is there already costs nothing.

    With uv, which is much quicker, where it is installed; else, or where that fails, with pip. The lock is
    complete, so that nothing need be resolved. Packages are not compiled either, which would take a quarter
    of the time: Python compiles what it imports. A sourced ROS brings its own ros-* packages. Raises
    StepFailed when a process is using a package that would be replaced.
    """
    if places.ros_sourced:
        lock = _without(("ros-",), places, lock)
    if replaced := _replaced(places, lock):
        refuse_while_in_use(places, f"needs another version of {', '.join(replaced)}")
    if (uv := shutil.which("uv")) is not None:
        pinned = ("--no-deps", "--require-hashes", "-r", str(lock))
        command = [uv, "pip", "install", "--python", str(places.python), *pinned]
        with suppress(StepFailed):  # uv does not read pip's settings, which may name the only index there is
            run(f"installing the packages of {lock.name} with uv", command, log, clean_environment())
            return
    run(
        f"installing the packages of {lock.name}",
        [
            *(places.python, "-m", "pip", "install", "--no-deps", "--no-compile", "--require-hashes"),
            *("--disable-pip-version-check", "--prefer-binary", "--progress-bar", "off", "-r", lock),
        ],
        log,
        clean_environment(),
    )


def install_core(places: Places, log: Path) -> None:
    """Install what runs in one process: no ROS, and nothing that compiles."""
    install(places, _without(ROS_ONLY, places, RUNTIME_LOCK), log)


def _without(prefixes: tuple[str, ...], places: Places, lock: Path) -> Path:
    """A copy of a lock file without the packages whose names begin like that."""
    copy = places.stamps / lock.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(without(prefixes, lock.read_text()))
    return copy


def without(prefixes: tuple[str, ...], pins: str) -> str:
    """The text of a lock file without those packages, and without the hashes that belong to them."""
    blocks = re.split(r"^(?=[^\s#])", pins, flags=re.MULTILINE)
    return "".join(block for block in blocks if not block.startswith(prefixes))


def _replaced(places: Places, lock: Path) -> list[str]:
    """The packages that are installed in another version than the lock file's."""
    pins: dict[str, list[str]] = {}  # a package may have one pin per Python version
    for name, pin in re.findall(r"^([\w.-]+)==([^\s;]+)", lock.read_text(), re.MULTILINE):
        pins.setdefault(_normal(name), []).append(pin)
    found = {_normal(d.metadata["Name"]): d.version for d in distributions(path=[str(places.site_packages)])}
    return sorted(name for name, allowed in pins.items() if name in found and found[name] not in allowed)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def setups() -> list[Path]:
    """Return the `setup.py` of every Python package, wing by wing."""
    return [setup for wing in WINGS for setup in sorted((ROOT / wing).glob("*/setup.py"))]


def write_metadata(places: Places, log: Path) -> None:
    """Write the packages' metadata, in which Python finds their entry points."""
    folder = places.metadata
    shutil.rmtree(folder, ignore_errors=True)
    script = Path(__file__).with_name("metadata.py")
    run("writing metadata", [places.python, script, folder, *setups()], log, clean_environment())


def put_sources_on_path(places: Places) -> None:
    """Make every Python package importable where it lies, and the built interfaces."""
    interfaces = places.colcon("install") / "spca_interfaces" / places.site_packages.relative_to(places.venv)
    folders = [*(setup.parent for setup in setups()), places.metadata, interfaces]
    _write_if_changed(places.site_packages / "spca.pth", "".join(f"{folder}\n" for folder in folders))


def _write_if_changed(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def clean_environment() -> dict[str, str]:
    """This process's environment without what another Python or another ROS has left in it."""
    foreign = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "_ROS_WHEELS_BOOTSTRAP_COMPLETE")
    return {name: value for name, value in os.environ.items() if name not in foreign}
