"""The processes of a graph, whatever starts them: `spca run`, `spca up` or a launch file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.options import RunOptions
from spca_core.paths import data
from spca_ros import names
from spca_ros.graph import ProcessSpec

GAZEBO_LAG = 0.4
"""Simulated seconds that the arm may be behind its path over Gazebo, as in config/gazebo.yaml."""


class Choice(Record):
    """Who simulates, and who plans motions."""

    sim: Literal["mujoco", "gazebo"] = "mujoco"
    arm: Literal["embedded", "moveit"] = "embedded"
    robot: Literal["generated", "vendor"] = "generated"
    """The robot's description in Gazebo."""


def chosen(specs: Sequence[ProcessSpec], choice: Choice, options: RunOptions) -> list[ProcessSpec]:
    """The same processes with that simulator and that arm."""
    return [_chosen(spec, choice, options) for spec in specs]


def _chosen(spec: ProcessSpec, choice: Choice, options: RunOptions) -> ProcessSpec:
    if names.EXECUTOR in spec.nodes:
        lag = {"tracking_lag": GAZEBO_LAG} if choice.sim == "gazebo" else {}
        return replace(spec, parameters={**spec.parameters, "arm": choice.arm, **lag})
    if names.SIM in spec.nodes and choice.sim == "gazebo":
        given = {
            "world": spec.parameters["world"],
            "robot": choice.robot,
            "headless": str(not options.view).lower(),
            "rate": options.rate or 0.0,
        }
        launch = str(data("launch", "spca") / "gazebo.launch.py")
        arguments = (f"{name}:={value}" for name, value in given.items())
        return replace(spec, command=("ros2", "launch", launch, *arguments))
    return spec


def check_installed(choice: Choice) -> None:
    """Raise InputError, naming what is missing for that simulator and that arm."""
    import importlib.util

    docs = "docs/full-stack.md says how"
    if choice.arm == "moveit" and importlib.util.find_spec("moveit") is None:
        raise InputError("not installed: moveit_py", "--arm moveit", f"{docs}, or use --arm embedded")
    if choice.sim == "gazebo":
        from spca_gazebo.requirements import missing

        if lacking := missing(choice.robot):
            raise InputError(f"not installed: {', '.join(lacking)}", "--sim gazebo", docs)
