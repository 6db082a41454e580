"""What this machine can run, and what to install for the rest; and the plugins of installed packages.

There is a row in the table of checks for each thing that a way to run may need.

Probes find what is installed by its metadata: nothing heavy is imported in this process.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Literal

from spca.commands import Command
from spca.kits import GROUP, faults_of, faults_of_skill, kit_named
from spca_core.arms import GROUP as ARMS
from spca_core.arms import load_arm
from spca_core.errors import InputError, SpcaError
from spca_core.extensions import GROUPS, Plugin, installed, singular
from spca_core.kinds import GROUP as KINDS
from spca_core.kinds import load_kind
from spca_core.options import distribution
from spca_core.paths import CHECKOUT, share
from spca_core.skill_package import SkillPackage, library_source

Found = dict[str, str | None]
"""Version of each part that is there, "" where it has none, and None of each that is lacking."""
Probe = Callable[[], Found]
"""Function that looks for the parts of a component; its errors are reported, too."""
_TIMEOUT = 30.0


def modules(names: str) -> Probe:
    """Return a probe for Python modules, which does not count a mere folder of that name."""
    return lambda: {n: (distribution(n) or "") if _importable(n) else None for n in names.split()}


def packages(tried: str) -> Probe:
    """Return a probe for ROS packages, given with the versions that were tried, told beside others."""
    rows = [row.partition(" ") for row in tried.split(", ")]
    return lambda: {name: _beside(package(name), version) for name, _, version in rows}


def runs(code: str, found: str) -> Probe:
    """Return a probe that runs Python code in its own process; its last words say what is lacking."""

    def probe() -> Found:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        if raised := re.match(r"[\w.]*Error: (.+)", said[-1]):
            raise SpcaError(raised[1])
        return {said[-1]: None} if done.returncode else {found: ""}

    return probe


def program(what: str, command: str, wanted: str = ".", tried: str = "") -> Probe:
    """Return a probe for a program whose first line must begin with pattern `wanted`; see `packages`."""

    def probe() -> Found:
        try:
            done = subprocess.run(
                command.split(), capture_output=True, text=True, timeout=_TIMEOUT, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return {what: None}
        said = "" if done.returncode else next(iter(done.stdout.strip().splitlines()), "").strip()
        if re.match(wanted, said):
            return {what: _beside(said, tried)}
        return {f"{what} (there is {said})" if re.match(r"\d+\.\d", said) else what: None}

    return probe


def every(*probes: Probe) -> Probe:
    """Return a probe that joins the results of all these probes."""
    return lambda: reduce(or_, (probe() for probe in probes))


def package(name: str) -> str | None:
    """Return the version in an installed ROS package's manifest, or None."""
    folder = share(name)
    if folder is None or not (folder / "package.xml").is_file():
        return None
    return ET.parse(folder / "package.xml").getroot().findtext("version") or "unknown version"


def _beside(there: str | None, tried: str) -> str | None:
    return f"{there} (tried: {tried})" if there is not None and tried not in ("", there) else there


def _importable(module: str) -> bool:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None


State = Literal["ready", "partly", "missing", "off"]
"""State of what was checked; `off`: nothing is wrong, it is just not configured or not wanted."""


@dataclass(frozen=True)
class Finding:
    """Result of a check: the component, whether it can be used, what was found, and a remedy if needed."""

    what: str
    state: State
    found: str
    remedy: str = ""


@dataclass(frozen=True)
class Check:
    """One check of the doctor, a row of its table."""

    what: str
    probe: Probe
    remedy: str
    optional: bool = False
    """Nothing is wrong where the component is missing."""

    def finding(self) -> Finding:
        """Carry out the check and return its result; a probe that breaks makes it `missing`."""
        try:
            parts = self.probe()
        except SpcaError as error:
            return Finding(self.what, "missing", str(error), self.remedy)
        except Exception as error:
            said = f"the check failed: {type(error).__name__}: {error}"
            return Finding(self.what, "missing", said, self.remedy)
        found = ", ".join(f"{part} {said}".strip() for part, said in parts.items() if said is not None)
        lacking = ", ".join(part for part, said in parts.items() if said is None)
        if not lacking:
            return Finding(self.what, "ready", found)
        state: State = "off" if self.optional else "partly" if found else "missing"
        words = f"lacking {lacking}" + (f"; have {found}" if found else "")
        return Finding(self.what, state, words, self.remedy)


def _python() -> Found:
    there = f"{platform.python_implementation()} {platform.python_version()}"
    fits = (3, 10) <= sys.version_info[:2] <= (3, 13)
    return {there: ""} if fits else {f"CPython 3.10 to 3.13 (this is {there})": None}


def _sandbox() -> Found:
    from spca_sandbox.limits import SandboxLevel
    from spca_sandbox.process import probe

    report = probe()
    found: Found = {} if report.level == SandboxLevel.NONE else {str(report): ""}
    return found if report.level == SandboxLevel.STRICT else {**found, "strict confinement": None}


def _display() -> Found:
    return {"a display": "" if any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))) else None}


def _models() -> Found:
    """Ask the servers of the models that are configured whether they answer. No tokens are spent."""
    from spca_llm import is_configured
    from spca_llm.chat import open_chat
    from spca_llm.config import load_config

    config = load_config() if is_configured() else None
    if config is None or not config.roles:
        return {"a configured model, which the built-in proposer does not need": None}
    with tempfile.TemporaryDirectory() as folder:
        open_chat("", Path(folder), config).preflight(list(config.roles))
    return {f"{role}: {model.model} at {model.base_url}": "" for role, model in config.roles.items()}


def unsourced(root: Path = Path("/opt/ros")) -> str:
    """Return the remedy for a ROS that is installed and not sourced; empty where there is none such."""
    there = [] if "ROS_DISTRO" in os.environ else sorted(root.glob("*/setup.bash"))
    return f"source {there[-1]} and ask again: it may bring what is lacking below" if there else ""


def _sourced() -> Found:
    there = os.environ.get("ROS_DISTRO", "none is installed, which wheels make up for")
    return {"the one in /opt/ros": None} if unsourced() else {there: ""}


_SET_UP = (
    "run bin/spca in the checkout: it installs what is locked in scripts/requirements/"
    if CHECKOUT
    else "python -m pip install -U spca; for ROS, source a workspace that has spca_interfaces"
)
_SET_UP_ROS = "bin/spca run LEVEL --ros sets it up at its first use" if CHECKOUT else _SET_UP
_FULL = "(docs/full-stack.md)"
CHECKS = (
    Check("Python", _python, "use CPython 3.10 to 3.13 (a checkout takes it from SPCA_PYTHON=python3.12)"),
    Check(
        "embedded run",
        modules("mujoco ompl ruckig unified_planning up_fast_downward up_tamer cv2"),
        _SET_UP,
    ),
    Check("sandbox", _sandbox, "a kernel with user namespaces, Landlock, seccomp (Linux 5.13 or newer)"),
    Check(
        "motion kernel",
        runs("from spca_motion.kernel import library; library() or exit('a C++ compiler')", "it is built"),
        "motions are planned without it, too, in ten times the time; apt install g++",
        optional=True,
    ),
    Check("sourced ROS", _sourced, unsourced(), optional=True),
    Check("ROS 2", runs("import rclpy.node", "rclpy"), _SET_UP_ROS),
    Check(
        "spca_interfaces",
        runs("import spca_ros, spca_interfaces.msg; spca_interfaces.msg.Scene()", "they load"),
        _SET_UP_ROS,
    ),
    Check(
        "ros2 launch",
        modules("launch launch_ros ros2launch"),
        "`spca run --ros` needs none; apt install ros-jazzy-launch-ros ros-jazzy-ros2launch",
        optional=True,
    ),
    Check(
        "Gazebo Harmonic",
        every(
            program("gz-sim 8", "gz sim --versions", r"8\.\d", tried="8.14.0"),
            packages(
                "ros_gz_sim 1.0.5, ros_gz_bridge 1.0.5, ros_gz_interfaces 1.0.5, gz_ros2_control 1.2.7, "
                "controller_manager 4.18.0, joint_trajectory_controller 4.15.0"
            ),
        ),
        f"apt install ros-jazzy-ros-gz ros-jazzy-gz-ros2-control ros-jazzy-ros2-controllers {_FULL}",
    ),
    Check(
        "MoveIt 2",
        packages("moveit_py 2.12.4, moveit_planners_ompl 2.12.4, moveit_kinematics 2.12.4"),
        f"apt install ros-jazzy-moveit ros-jazzy-moveit-py {_FULL}",
    ),
    Check(
        "robot descriptions",
        packages("ur_description, robotiq_description, xacro"),
        "robot:=generated needs none; apt install ros-jazzy-ur-description, build robotiq_description from "
        f"main {_FULL}",
        optional=True,
    ),
    Check(
        "RViz 2",
        packages("rviz2 14.1.5, rviz_default_plugins 14.1.5"),
        f"apt install ros-jazzy-rviz2; or `spca mcap` a run for Foxglove {_FULL}",
    ),
    Check("display", _display, "set DISPLAY, for `--view` and RViz; `--view web` needs none", optional=True),
    Check(
        "Docker",
        every(
            program("client", "docker version --format {{.Client.Version}}"),
            program("an engine that answers", "docker version --format {{.Server.Version}}"),
            program("compose", "docker compose version --short"),
        ),
        "install Docker Engine with the compose plugin, and start it (systemctl start docker)",
    ),
    Check(
        "model server",
        _models,
        "set SPCA_LLM_MODEL and SPCA_LLM_BASE_URL or OPENAI_API_KEY (src/spca_llm/README.md)",
        optional=True,
    ),
)
_HERE = ("Python", "embedded run")
_ROS = (*_HERE, "ROS 2", "spca_interfaces")
_LAUNCH = (*_ROS, "ros2 launch")
WAYS = {
    "spca run LEVEL": _HERE,
    "spca run LEVEL --ros": _ROS,
    "ros2 launch spca bringup.launch.py level:=LEVEL sim:=mujoco arm:=embedded": _LAUNCH,
    "ros2 launch spca bringup.launch.py level:=LEVEL": (*_LAUNCH, "Gazebo Harmonic", "MoveIt 2"),
    "docker compose run spca LEVEL": ("Docker",),
}
"""Ways to run, each with what it needs."""


def examine(checks: Iterable[Check] = CHECKS) -> list[Finding]:
    """Carry out the checks and return their findings."""
    return [check.finding() for check in checks]


def ways(findings: Iterable[Finding]) -> list[tuple[str, list[str]]]:
    """Return each way to run with what it still lacks; one that lacks nothing can be used."""
    ready = {finding.what for finding in findings if finding.state == "ready"}
    return [(command, [what for what in needs if what not in ready]) for command, needs in WAYS.items()]


def examine_plugins() -> list[Finding]:
    """Load every plugin; return a finding for each: where it comes from, or why it does not load."""
    found = []
    try:
        for plugin in (plugin for group in GROUPS for plugin in installed(group).values()):
            what = f"{singular(plugin.group)} {plugin.name}"
            hint = f"mend {plugin.target} of {plugin.package}; wanted: {GROUPS[plugin.group]}"
            try:
                faults = _faults(plugin)
            except Exception as error:
                if lacks := _lacking(plugin, error.__cause__ or error):
                    found.append(Finding(what, "off", f"lacks {lacks}"))
                    continue
                faults = [f"{type(error).__name__}: {error}"]
                if isinstance(error, InputError):
                    faults, hint = [error.what], error.hint
            ready = Finding(what, "ready", f"from {plugin.package}: {plugin.target}")
            found.append(Finding(what, "missing", "; ".join(faults[:3]), hint) if faults else ready)
    except InputError as error:
        found.append(Finding("plugins", "missing", error.what, error.hint))
    return found


def _lacking(plugin: Plugin, error: BaseException) -> str:
    """Return the other package that a plugin could not import; empty for any other error."""
    name = ((isinstance(error, ModuleNotFoundError) and error.name) or "").partition(".")[0]
    return name if name != plugin.target.partition(":")[0].partition(".")[0] else ""


def _faults(plugin: Plugin) -> list[str]:
    """Load a plugin and list what it lacks, before anything uses it. Errors of loading are passed on."""
    loaded = plugin.load()
    if plugin.group == GROUP:
        return faults_of(kit_named(plugin.name))
    if plugin.group in (ARMS, KINDS):
        load_arm(plugin.name) if plugin.group == ARMS else load_kind(plugin.name)
        return []
    if plugin.group == "spca.skills":
        package = SkillPackage.read(plugin.name, Path(loaded.__file__).parent)
        library_source(package.environment, kit_named(package.environment).builtin_skills)
        return faults_of_skill(package)
    if plugin.group == "spca.benches":
        if not all(hasattr(loaded, part) for part in ("bench", "options", "examples", "load", "run")):
            return [f"is a {type(loaded).__name__}"]
        return [f"{loaded.bench} lacks {part}" for part in ("trials", "run_trial", "table")
                if not hasattr(loaded.load(), part)]  # fmt: skip
    if plugin.group == "spca.commands":
        return [] if isinstance(loaded, Command) else [f"is a {type(loaded).__name__}"]
    if plugin.group in {"spca.detectors", "spca.engines", "spca.proposers"} and not callable(loaded):
        return [f"is a {type(loaded).__name__}, which cannot be called"]
    wanted = {"spca.detectors": ("detect",), "spca.engines": ("warm", "start")}.get(plugin.group, ())
    return [f"lacks {part}" for part in wanted if isinstance(loaded, type) and not hasattr(loaded, part)]
