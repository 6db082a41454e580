"""Reads MotionBenchMaker's requests and scenes for the UR5 with an FT300 sensor and a 2F-85.

A family is a folder with pairs `request0001.yaml`, `scene0001.yaml` in MoveIt's messages. Metres, radians.
"""

from __future__ import annotations

import math
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from spca_core.errors import InputError
from spca_core.geometry import Array, Pose
from spca_core.validation import expecting, parse_yaml
from spca_core.world import PlanarPose, World, WristSensor, load_world
from spca_motion.collision import Obstacle, PlanningScene

_BASE = PlanarPose(position=(0.0, 0.0, 0.9144), yaw=1.57)
"""Where the data set's description of the robot puts the base."""
_SENSOR = WristSensor(length=0.0319, radius=0.0379, turn=np.pi / 2)
"""The FT300 with its couplings, such that the fingers are where the data set's description has them."""
_LOWERED = 0.001
"""The data set has no floor: the table of our world becomes one, out of the way of all scenes."""


@dataclass(frozen=True)
class Problem:
    """One request: from joints (6,) to joints (6,) in a scene."""

    name: str
    start: Array
    goal: Array
    scene: PlanningScene


@lru_cache(maxsize=1)
def ur5_world() -> World:
    """The robot of the data set: where it stands and what is at its wrist."""
    world = load_world()
    robot = world.robot.model_copy(update={"base": _BASE, "wrist_sensor": _SENSOR})
    return world.model_copy(
        update={"robot": robot, "table": world.table.model_copy(update={"top": _LOWERED}), "objects": ()}
    )


def problem_names(path: Path) -> list[str]:
    """`family/number` of every problem below a folder or in a tar archive. Raises InputError for none."""
    names = [
        f"{folder}/{file.removeprefix('request').removesuffix('.yaml')}" for folder, file in _requests(path)
    ]
    if not names:
        raise InputError(f"{path} has no FAMILY/request0001.yaml", hint="the folder or archive of problems")
    return sorted(names)


def read_problem(path: Path, name: str) -> Problem:
    """The problem of that name. Raises InputError, which names the file and what is wrong with it."""
    family, _, number = name.rpartition("/")
    with expecting("a MoveIt request and scene", f"{path}: {name}"):
        request, scene = (_load(path, f"{family}/{kind}{number}.yaml") for kind in ("request", "scene"))
        state = request["start_state"]["joint_state"]
        start = dict(zip(state["name"], state["position"], strict=True))
        limits = request["goal_constraints"][0]["joint_constraints"]
        goal = {limit["joint_name"]: limit["position"] for limit in limits}
        obstacles = [o for thing in scene["world"]["collision_objects"] for o in _obstacles(thing)]
        return Problem(name, _joints(start), _joints(goal), PlanningScene(tuple(obstacles)))


def _joints(values: Mapping[str, float]) -> Array:
    return np.array([float(values[name]) for name in ur5_world().robot.arm.joint_names])


def _obstacles(thing: Mapping[str, Any]) -> Iterator[Obstacle]:
    """A collision object's primitives; their poses are in its own, which is often left out."""
    own = _pose(thing["pose"]) if "pose" in thing else np.eye(4)
    for i, (shape, pose) in enumerate(zip(thing["primitives"], thing["primitive_poses"], strict=True)):
        kind, sizes = shape["type"], [float(v) for v in shape["dimensions"]]
        if kind == "box":
            size, ours = tuple(sizes), "unknown"
        elif kind == "cylinder":  # height, radius
            size, ours = (2 * sizes[1], 2 * sizes[1], sizes[0]), "cylinder"
        else:
            raise ValueError(f"a {kind}: only boxes and cylinders are known")
        yield Obstacle(f"{thing['id']}_{i}", own @ _pose(pose), size, ours)  # type: ignore[arg-type]


def _pose(values: Mapping[str, Sequence[float]]) -> Array:
    x, y, z, w = (float(v) for v in values["orientation"])
    position = tuple(float(v) for v in values["position"])
    if not 0.5 < math.hypot(x, y, z, w) < 2.0:
        raise ValueError(f"({x:g}, {y:g}, {z:g}, {w:g}) is no unit quaternion")
    return Pose(position=position, quaternion=(x, y, z, w)).matrix()


def _requests(path: Path) -> Iterator[tuple[str, str]]:
    below = (str(file.relative_to(path)) for file in path.rglob("*.yaml"))
    for name in _archive(path) if path.is_file() else below:
        folder, _, file = name.rpartition("/")
        if file.startswith("request"):
            yield folder, file


def _load(path: Path, name: str) -> Any:
    if path.is_file():
        text = _archive(path).get(name)
    else:
        text = (path / name).read_text(encoding="utf-8") if (path / name).is_file() else None
    if text is None:
        raise InputError(f"{path} has no {name}")
    return parse_yaml(text)


@lru_cache(maxsize=2)
def _archive(path: Path) -> dict[str, str]:
    """Text by name of every YAML file in a tar archive. Raises InputError if it is none."""
    with expecting("a folder or a tar archive of problems", path), tarfile.open(path) as archive:
        files = ((m.name, archive.extractfile(m)) for m in archive if m.name.endswith(".yaml"))
        return {name: file.read().decode() for name, file in files if file is not None}
