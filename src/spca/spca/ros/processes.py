"""The processes of a graph, whatever starts them: `spca run`, `spca up` or a launch file."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import replace
from typing import Literal

from spca.kits import kit_of
from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.options import RunOptions
from spca_core.paths import data
from spca_ros import names
from spca_ros.kit import RosSide
from spca_ros.process_spec import ProcessSpec, Value

GAZEBO_LAG = 0.4
"""Simulated seconds that the arm may be behind its path over Gazebo, as in config/gazebo.yaml."""


class Backends(Record):
    """Backends that simulate and that plan motions."""

    sim: Literal["mujoco", "gazebo"] = "mujoco"
    arm: Literal["embedded", "moveit"] = "embedded"
    robot: Literal["generated", "vendor"] = "generated"
    """The robot's description in Gazebo."""


def parameters(options: RunOptions) -> dict[str, str]:
    """Return what a graph is made for: the environment's name, and the parameters that its nodes share."""
    kit = kit_of(options.level)
    side: RosSide | None = kit.ros()
    if side is None:
        raise InputError(
            f"the environment '{kit.name}' runs in one process only", hint="use --transport inproc"
        )
    return {"environment": kit.name, **side.parameters(options)}


def processes(options: RunOptions, choice: Backends | None = None) -> list[ProcessSpec]:
    """The processes of a graph: those of the environment, and the one that thinks.

    A graph that is to stay up (`choice`) has what ROS users look at as well, where the project's workspace is
    sourced. Raises InputError for an unknown level, before anything starts.
    """
    shared, chosen = parameters(options), choice or Backends()
    side: RosSide = kit_of(options.level).ros()
    thinking = (names.SUPERVISOR, names.PLANNER, names.CODER, *side.thinking)
    brain = ProcessSpec("spca.ros.brain", thinking, shared, needs_keys=True)
    shown = [] if choice is None or "world" not in shared else _shown(shared["world"], choice.sim)
    return [*(_chosen(spec, chosen, options) for spec in side.processes(options)), brain, *shown]


def _shown(world: str, sim: str) -> list[ProcessSpec]:
    """Markers, and with MuJoCo frames and the robot's description, which Gazebo's launch file has."""
    from spca_gazebo.requirements import installed  # only where the graph stays up

    # The Python that `ros2` runs with knows the project where its workspace is sourced.
    if shutil.which("ros2") is None or not installed("spca"):
        return []
    described = sim == "mujoco" and installed("robot_state_publisher")
    launch = str(data("launch", "spca") / "rviz.launch.py")
    arguments = ("rviz:=false", f"world:={world}", f"robot_state_publisher:={str(described).lower()}")
    command = ("ros2", "launch", launch, *arguments)
    return [ProcessSpec("spca_tabletop.ros.display.node", (names.DISPLAY,), command=command)]


def _chosen(spec: ProcessSpec, choice: Backends, options: RunOptions) -> ProcessSpec:
    if names.EXECUTOR in spec.nodes:
        given: dict[str, Value] = {"arm": choice.arm}
        if choice.sim == "gazebo":
            given["tracking_lag"] = GAZEBO_LAG
        return replace(spec, parameters={**spec.parameters, **given})
    if names.SIM in spec.nodes and choice.sim == "gazebo":
        drawn = {
            "world": spec.parameters["world"],
            "robot": choice.robot,
            "headless": str(not options.view).lower(),
            "rests": "true",
        }
        if options.rate:
            drawn["rate"] = options.rate
        launch = str(data("launch", "spca") / "gazebo.launch.py")
        arguments = (f"{name}:={value}" for name, value in drawn.items())
        return replace(spec, command=("ros2", "launch", launch, *arguments))
    return spec


def check_installed(choice: Backends) -> None:
    """Raise InputError, naming what is missing for that simulator and that arm."""
    docs = "docs/full-stack.md says how"
    if choice.arm == "moveit" and importlib.util.find_spec("moveit") is None:
        raise InputError("not installed: moveit_py", "--arm moveit", f"{docs}, or use --arm embedded")
    if choice.sim == "gazebo":
        from spca_gazebo.requirements import missing

        if lacking := missing(choice.robot):
            raise InputError(f"not installed: {', '.join(lacking)}", "--sim gazebo", docs)
