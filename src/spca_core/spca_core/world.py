"""The description of a workspace: its objects and their places, the camera and the robot base."""

from __future__ import annotations

import math
import os
from glob import glob
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from spca_core.arms import ArmDescription, Joints, load_arm
from spca_core.camera import CameraIntrinsics
from spca_core.errors import InputError, did_you_mean, one_of
from spca_core.geometry import Pose, Quat, Vec3
from spca_core.kinds import KINDS, ObjectKind, deck, problem_with, radius
from spca_core.model import Interval, Part
from spca_core.names import symbol_of
from spca_core.paths import WORLDS
from spca_core.validation import YAML_FILES, expecting, read_yaml


def _positive(values: Vec3) -> Vec3:
    if min(values) <= 0:
        raise ValueError("every size must be positive")
    return values


def _shares(values: Vec3) -> Vec3:
    if min(values) < 0 or max(values) > 1:
        raise ValueError("red, green and blue each lie between 0 and 1")
    return values


def _turning(values: Quat) -> Quat:
    if not 0.99 < (length := math.hypot(*values)) < 1.01:
        raise ValueError(f"a quaternion (x, y, z, w) has length 1, not {length:.2f}")
    x, y, z, w = (v / length for v in values)
    return x, y, z, w


Size3 = Annotated[Vec3, AfterValidator(_positive)]
Colour = Annotated[Vec3, AfterValidator(_shares)]


class Ground(Part):
    """The floor at z = 0."""

    model: str = "ground_plane"


class Table(Part):
    """The table's slab: `centre` (x, y) and `top` (z) of its surface, `size` of the slab, in metres."""

    model: str
    centre: tuple[float, float]
    size: Size3
    top: float = Field(gt=0)
    colour: Colour
    friction: float = Field(gt=0)

    def contains(self, x: float, y: float, margin: float = 0.0) -> bool:
        """Return whether (x, y) lies on the surface, at least `margin` metres from its edge."""
        return (
            abs(x - self.centre[0]) <= self.size[0] / 2 - margin
            and abs(y - self.centre[1]) <= self.size[1] / 2 - margin
        )


class PlanarPose(Part):
    """A pose of the robot's base: position in metres, yaw in radians."""

    position: Vec3
    yaw: float = 0.0


class WristSensor(Part):
    """A force-torque sensor between the arm's flange and the gripper: a cylinder.

    It moves the gripper out by `length` (m), and turns it by `turn` (rad) about the flange's axis.
    """

    length: float = Field(gt=0)
    radius: float = Field(gt=0)
    turn: float = 0.0


class RobotMount(Part):
    """The arm's model, its base's pose, what is at its wrist, and its named configurations (radians).

    A world's file gives the arm's name or the path of its file; configurations that it leaves out are
    the arm's.
    """

    model: str
    arm: ArmDescription
    base: PlanarPose
    home: Joints
    out_of_view: Joints
    wrist_sensor: WristSensor | None = None

    @model_validator(mode="after")
    def _fits(self) -> RobotMount:
        count = len(self.arm.joints)
        for name in ("home", "out_of_view"):
            if (given := len(getattr(self, name))) != count:
                raise ValueError(f"{name} needs {count} angles for the {self.arm.title}, not {given}")
        return self

    @property
    def arm_links(self) -> frozenset[str]:
        """All that is no gripper, as simulators call it."""
        return frozenset((self.model, "base_link", "base_link_inertia", *(j.link for j in self.arm.joints)))


class WorkArea(Part):
    """The rectangle of the table where things may lie, in `world`, metres."""

    x: Interval
    y: Interval

    def contains(self, x: float, y: float, beyond: float = 0.0) -> bool:
        """Return whether (x, y) lies in it, or at most so many metres `beyond`."""
        return max(self.x[0] - x, x - self.x[1], self.y[0] - y, y - self.y[1]) <= beyond

    def __str__(self) -> str:
        (x0, x1), (y0, y1) = ([round(1000 * v) for v in interval] for interval in (self.x, self.y))
        return f"at x {x0} to {x1} mm, y {y0} to {y1} mm"


class CameraNoise(Part):
    """Sensor noise.

    `depth_sigma` is metres at one metre and grows with distance squared (structured light).
    """

    colour_sigma: float = Field(0.0, ge=0)
    depth_sigma: float = Field(0.0, ge=0)
    depth_dropout: float = Field(0.0, ge=0, le=1)
    depth_edge_dropout: float = Field(0.0, ge=0, le=1)


_SIDE = 4096  # pixels; a look at 16 million of them needs some 2 GB of memory


class CameraMount(Part):
    """An RGB-D camera: `position` of its optical centre in the frame that it is fixed in, metres.

    That is `world` for the one above the table, and for one at the wrist `tool0`, in which the gripper is
    mounted. `quaternion` turns the optical frame (x right, y down in the image, z forward) in it. By default
    the camera looks straight down, and image up is +x: x = -y of the world, y = -x, z = -z.
    """

    name: str
    width: int = Field(gt=0, le=_SIDE)
    height: int = Field(gt=0, le=_SIDE)
    fx: float = Field(gt=0)
    fy: float = Field(gt=0)
    cx: float
    cy: float
    position: Vec3
    quaternion: Annotated[Quat, AfterValidator(_turning)] = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)
    rate_hz: float = Field(gt=0)
    near: float = Field(gt=0)
    far: float = Field(gt=0)
    noise: CameraNoise = CameraNoise()

    @property
    def intrinsics(self) -> CameraIntrinsics:
        """The pinhole parameters, in pixels."""
        return CameraIntrinsics.model_validate(self, from_attributes=True)

    @property
    def pose(self) -> Pose:
        """Pose of the optical frame in the frame that the camera is fixed in."""
        return Pose(position=self.position, quaternion=self.quaternion)


class Light(Part):
    """A directional light; ambient + diffuse is what a surface facing it reflects."""

    direction: Vec3
    ambient: float = Field(ge=0)
    diffuse: float = Field(ge=0)


class WorldObject(Part):
    """A movable thing.

    `size` in metres (round things: diameter, diameter, height); it lies on the table at (x, y). The kinds are
    described in `spca_core.kinds`.

    `text` is printed on a sign's upper face, to be read with the sign's own +x up: as the camera sees it at
    yaw 0.
    """

    model: str
    kind: ObjectKind
    colour: Colour
    size: Size3
    mass: float = Field(gt=0)
    friction: float = Field(gt=0)
    position: tuple[float, float]
    yaw: float = 0.0
    text: str = Field("", max_length=200)

    @property
    def radius(self) -> float:
        """Radius in metres of the circle around the object, seen from above."""
        return radius(self.kind, self.size)

    @property
    def deck(self) -> float:
        """Height in metres above the object's centre at which others rest on it, or in it."""
        return deck(self.kind, self.size[2]) - self.size[2] / 2


class World(Part):
    """A whole workspace. Build one with `load_world`; a `wrist_camera` looks where the `camera` cannot."""

    name: str
    ground: Ground
    table: Table
    robot: RobotMount
    work_area: WorkArea
    camera: CameraMount
    wrist_camera: CameraMount | None = None
    light: Light
    objects: tuple[WorldObject, ...]

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of all models that a level may mention."""
        return (self.robot.model, self.table.model, self.ground.model, *(o.model for o in self.objects))

    def object(self, model: str) -> WorldObject:
        """Return the movable object of that name. Raises KeyError if there is none."""
        return {candidate.model: candidate for candidate in self.objects}[model]

    def problems(self) -> list[str]:
        """List what is physically wrong with the description, a sentence each."""
        found = []
        names = self.model_names
        found += [f"model name '{n}' is used twice" for n in sorted({n for n in names if names.count(n) > 1})]
        by_symbol = {symbol_of(n): n for n in names}
        found += [
            f"'{n}' and '{other}' have one symbol, '{symbol_of(n)}'"
            for n in names
            if (other := by_symbol[symbol_of(n)]) != n
        ]
        if not all(self.table.contains(x, y) for x in self.work_area.x for y in self.work_area.y):
            found.append("the work area reaches beyond the table")
        if self.camera.position[2] <= self.table.top:
            found.append("the camera is not above the table")
        if any(camera and camera.near >= camera.far for camera in (self.camera, self.wrist_camera)):
            found.append("the camera's far limit is not beyond its near one")
        if self.wrist_camera and self.wrist_camera.pose.matrix()[2, 2] <= 0:
            found.append("the wrist camera looks away from the fingers: give it a quaternion in `tool0`")
        for i, a in enumerate(self.objects):
            if a.text and not KINDS[a.kind].printed:
                found.append(f"'{a.model}' has a text but is no sign")
            if wrong := problem_with(a.kind, a.size):
                found.append(f"'{a.model}' {wrong}")
            if not self.table.contains(*a.position):
                found.append(f"'{a.model}' at {a.position} does not lie on the table")
            for b in self.objects[i + 1 :]:
                gap = math.dist(a.position, b.position) - a.radius - b.radius
                if gap < 0:
                    found.append(f"'{a.model}' and '{b.model}' overlap by {-gap * 1000:.0f} mm")
        return found


def load_world(name_or_path: str | Path = "tabletop") -> World:
    """Read and check a world by name (in `worlds/`) or by path. Raises InputError with one clear line.

    `NAME@ARM` is that world with another arm, by the arm's name or the path of its file.
    """
    name, _, arm = str(name_or_path).rpartition("@")
    if not name or os.path.isfile(name_or_path):
        name, arm = str(name_or_path), ""
    path = Path(name)
    if path.suffix not in YAML_FILES:
        path = WORLDS / f"{name}.yaml"
    if not os.path.isfile(path):  # unlike `Path.is_file`, returns False for a name that is too long
        known = sorted(p.stem for p in WORLDS.glob("*.yaml"))
        near = known if path.parent == WORLDS else glob("*.y*ml", root_dir=path.parent)
        hint = did_you_mean(Path(name).name, near, least=0.8) or f"known worlds: {', '.join(known) or 'none'}"
        what = "no such file" if Path(name).suffix in YAML_FILES else f"unknown world '{name}'"
        raise InputError(what, where=str(path), hint=hint)
    content = _extended(read_yaml(path, "the world"))
    with expecting("a world", path, ("extends",)):
        if isinstance(content, dict) and isinstance(content.get("robot"), dict):
            content["robot"] = _equipped(content["robot"], arm)
        world = World.model_validate(content)
    if problems := world.problems():
        raise InputError("impossible world", where=str(path), hint="; ".join(problems))
    return world


def _equipped(robot: dict[str, Any], arm: str) -> dict[str, Any]:
    """Complete a world's robot with the arm's description and, unless it has own ones, configurations.

    Those of a world are for the arm that it names; with another `arm` they are left out.
    """
    named = ("home", "out_of_view")
    described = load_arm(arm or robot.get("arm", "ur5"))
    own = {key: value for key, value in robot.items() if not (arm and key in named)}
    return {**{key: getattr(described, key) for key in named}, **own, "arm": described}


def _extended(content: Any) -> Any:
    """Return a world's content, completed by that of the world which it `extends`, if there is one."""
    if not isinstance(content, dict) or "extends" not in content:
        return content
    name, known = str(content.pop("extends")), sorted(path.stem for path in WORLDS.glob("*.yaml"))
    if name not in known:
        raise InputError(f"unknown world '{name}'", "extends", one_of(name, known))
    return {**_extended(read_yaml(WORLDS / f"{name}.yaml", "the world it extends")), **content}
