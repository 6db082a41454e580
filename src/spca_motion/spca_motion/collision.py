"""The planning scene as perceived, and collision checks of the arm's configurations in it with MuJoCo.

The model is the one that the simulator's is built from, without its physics: table as an endless plane,
perceived obstacles as fixed bodies, what is held as a part of the gripper. About 10 µs a configuration.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from spca_core.errors import MotionError
from spca_core.geometry import Array, Vec3, about_z, wxyz_of_matrix
from spca_core.kinds import MESHES, Primitive, primitives
from spca_core.names import TABLE_SYMBOL
from spca_core.scene import Scene
from spca_core.world import World
from spca_robot.gripper_model import BODIES
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import ITEM_BIT, ROBOT_BIT, WorkspaceIndex, add_primitive, build_spec

if TYPE_CHECKING:
    from spca_motion.kernel import Kernel


@dataclass(frozen=True)
class Obstacle:
    """A perceived thing.

    `pose` is a 4×4 matrix in `world`; `size` in metres; the kind tells its shape.
    """

    id: str
    pose: Array
    size: Vec3
    kind: str = "unknown"

    @property
    def parts(self) -> tuple[Primitive, ...]:
        """Convex parts that the thing is made of, in its own frame."""
        return primitives(self.kind, self.size)


@dataclass(frozen=True)
class Held:
    """A thing in the gripper: `in_tool0` is its pose (4×4) in the flange's frame."""

    thing: Obstacle
    in_tool0: Array


@dataclass(frozen=True, eq=False)
class PlanningScene:
    """An immutable scene; every change makes a new one, which equals no other.

    The table is not an obstacle but a plane of its own.
    """

    obstacles: tuple[Obstacle, ...] = ()
    held: Held | None = None

    def perceived(self, scene: Scene) -> PlanningScene:
        """Return a scene with the same held thing among newly perceived obstacles."""
        held = self.held.thing.id if self.held else None
        things = (Obstacle(o.id, o.pose.matrix(), o.size, o.kind) for o in scene.objects if o.id != held)
        return replace(self, obstacles=tuple(things))

    def attached(self, object_id: str, tool0: Array, tcp: Array) -> PlanningScene:
        """Return a scene with the obstacle of that id in the gripper, whose flange and TCP are given (4×4).

        The pads have centred it between them and squared it to themselves, whatever perception said.
        Raises MotionError('gripper') when there is no such obstacle or the gripper is not empty.
        """
        if self.held is not None:
            other = self.held.thing.id
            raise MotionError("gripper", f"cannot attach {object_id}: {other} is attached already")
        thing = next((o for o in self.obstacles if o.id == object_id), None)
        if thing is None:
            known = ", ".join(sorted(o.id for o in self.obstacles)) or "nothing"
            raise MotionError("gripper", f"cannot attach {object_id}: the planning scene holds {known}")
        in_tcp = np.linalg.inv(tcp) @ thing.pose
        if thing.kind not in MESHES:  # whose faces need not lie alike on both sides of the middle
            in_tcp = _between_pads(in_tcp)
        in_tool0 = np.linalg.inv(tool0) @ tcp @ in_tcp
        rest = tuple(o for o in self.obstacles if o.id != object_id)
        return replace(self, obstacles=rest, held=Held(thing, in_tool0))

    def detached(self, tool0: Array) -> PlanningScene:
        """Return a scene with the held object as an obstacle in its place; `tool0` (4×4) is in `world`."""
        if self.held is None:
            return self
        left = replace(self.held.thing, pose=tool0 @ self.held.in_tool0)
        return replace(self, obstacles=(*self.obstacles, left), held=None)


def _between_pads(in_tcp: Array) -> Array:
    """Return a pose in the tool frame as centred between the pads (y = 0) and aligned with them about z."""
    heading = np.arctan2(in_tcp[1, 0], in_tcp[0, 0])
    off = heading - np.round(heading / (np.pi / 2)) * (np.pi / 2)
    square = np.array(in_tcp)
    square[:3, :3] = about_z(-off) @ in_tcp[:3, :3]
    square[1, 3] = 0.0
    return square


# Least distances in metres. Objects are perceived to about 3 mm, the table's height is known, the arm tracks
# to 1 mm.
OBJECT_CLEARANCE = 0.003
TABLE_CLEARANCE = 0.001
SELF_CLEARANCE = 0.002
# Allowed penetration depth of an allowed contact: it covers errors of perception, but no motion through
# objects.
MAX_PRESS = 0.006
# A contact at the start of a motion may persist, and deepen by this much because of rounding.
START_SLACK = 0.0005

_HELD = "held"
_OBSTACLE = "obstacle/"
_Shape = tuple[str, str, Vec3]
"""Id, kind and size of a thing."""
_OF_GRIPPER = {**{body: f"{body.split('_')[0]} finger" for body in BODIES}, "gripper_base": "gripper"}


@dataclass(frozen=True)
class Hit:
    """Two bodies closer than allowed.

    `part` belongs to the robot or to what it holds, `other` is the other body, `depth` is in metres. What is
    known to be `of_tool` hits it in every configuration that has the tool there.
    """

    part: str
    other: str
    depth: float
    of_tool: bool = False

    def __str__(self) -> str:
        return f"{self.part} would hit {self.other}"


class CollisionChecker:
    """Checks configurations against one planning scene. Not for use from several threads at once."""

    def __init__(self, world: World, scene: PlanningScene) -> None:
        self._robot = world.robot.model
        self._model = _model_of(world, scene)
        self._data = mujoco.MjData(self._model)
        self._index = WorkspaceIndex(self._model)
        self._arm = slice(int(self._index.arm_qpos[0]), int(self._index.arm_qpos[-1]) + 1)
        site = self._model.site("tool0").id
        self._tool0, self._tool0_axes = self._data.site_xpos[site], self._data.site_xmat[site]
        self._gap = float("nan")
        self._parts, self._others = self._names(world, scene)
        grips = {*_OF_GRIPPER.values(), f"the held {scene.held.thing.id}" if scene.held else None}
        self._gripper = [geom for geom, part in enumerate(self._parts) if part in grips]
        self._default = self._clearances()
        self._least = self._default
        self._motion: tuple[bytes, float, frozenset[str]] | None = None  # that the rules are for
        self._kernel: Kernel | None = None
        self._kernel_gap = float("nan")

    def begin(self, joints: Array, gap: float, allowed: Iterable[str] = ()) -> None:
        """See `spca_motion.search.Checker`."""
        self._update(joints, gap)
        if (motion := (joints.tobytes(), gap, frozenset(allowed))) == self._motion:
            return
        self._motion, self._least = motion, self._default.copy()
        touchable = [i for i, other in enumerate(self._others) if other in motion[2]]
        self._least[np.ix_(self._gripper, touchable)] = -MAX_PRESS
        self._least[np.ix_(touchable, self._gripper)] = -MAX_PRESS
        for (a, b), distance in self._touching():
            self._least[a, b] = self._least[b, a] = min(self._least[a, b], distance - START_SLACK)

    def valid(self, joints: Array, gap: float) -> bool:
        """See `spca_motion.search.Checker`."""
        self._update(joints, gap)
        data = self._data
        if data.ncon == 0:
            return True
        pairs = data.contact.geom
        return bool((data.contact.dist >= self._least[pairs[:, 0], pairs[:, 1]]).all())

    def first_invalid(self, path: Array, gap: float, inside: Callable[[], bool]) -> int | None:
        """See `spca_motion.search.Checker`."""
        return next((i for i, q in enumerate(path) if not (self.valid(q, gap) and inside())), None)

    def hits(self, joints: Array, gap: float) -> list[Hit]:
        """Return the violated clearances, deepest first, each pair once; empty for a valid configuration."""
        self._update(joints, gap)
        depths: dict[tuple[str, str, bool], float] = {}
        for (a, b), distance in self._touching(self._least):
            one, two = (a, b) if self._parts[a] else (b, a)
            of_tool = bool(self._others[two]) and one in self._gripper
            pair = self._parts[one], self._others[two] or self._parts[two], of_tool
            depths[pair] = max(depths.get(pair, 0.0), float(self._default[a, b]) - distance)
        hits = (Hit(part, other, depth, of_tool) for (part, other, of_tool), depth in depths.items())
        return sorted(hits, key=lambda hit: -hit.depth)

    def kernel(self, gap: float, box: Array | None, reach: float, needed: bool = False) -> Kernel | None:
        """See `spca_motion.search.Checker`."""
        if not needed and "spca_motion.kernel" not in sys.modules:  # most paths are straight
            return None
        from spca_motion.kernel import Kernel, library

        if (compiled := library()) is None:
            return None
        if self._kernel is None or self._kernel_gap != gap:
            self._update(self._data.qpos[self._arm].copy(), gap)
            arm = self._model.jnt_bodyid[self._model.dof_jntid[self._index.arm_qvel]].tolist()
            self._kernel = Kernel(self._model, self._data, arm, compiled)
            self._kernel_gap = gap
        self._kernel.rule(self._least, box, reach)
        return self._kernel

    def flange(self) -> tuple[list[float], list[float]]:
        """Return the position of `tool0` in `world` and its z axis, at the configuration checked last."""
        return self._tool0.tolist(), self._tool0_axes[2::3].tolist()

    def _update(self, joints: Array, gap: float) -> None:
        data = self._data
        if gap != self._gap:
            self._index.set_gap(data, gap)
            self._gap = gap
        data.qpos[self._arm] = joints
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_collision(self._model, data)

    def _touching(self, least: Array | float = np.inf) -> list[tuple[tuple[int, int], float]]:
        """Return pairs of geoms in contact that are nearer than `least`, and their distances in metres."""
        pairs, distances = self._data.contact.geom, self._data.contact.dist
        near = distances < (least if isinstance(least, float) else least[pairs[:, 0], pairs[:, 1]])
        return [((a, b), d) for (a, b), d in zip(pairs[near].tolist(), distances[near].tolist(), strict=True)]

    def _names(self, world: World, scene: PlanningScene) -> tuple[list[str], list[str]]:
        """Return, for each geom, its name as a part of the robot and its name as an obstacle.

        One of the two is empty.
        """
        links = {j.link: j.link.removesuffix("_link").replace("_", " ") for j in world.robot.arm.joints}
        parts = {f"{self._robot}/{body}": part for body, part in (links | _OF_GRIPPER).items()}
        parts |= {self._robot: "base", _HELD: f"the held {scene.held.thing.id}" if scene.held else ""}
        others = {_OBSTACLE + o.id: o.id for o in scene.obstacles} | {world.table.model: TABLE_SYMBOL}
        bodies = [self._model.body(body).name for body in self._model.geom_bodyid]
        return [parts.get(body, "") for body in bodies], [others.get(body, "") for body in bodies]

    def _clearances(self) -> Array:
        """Return the least distance in metres of every pair of geoms, a square matrix."""
        own = {"": SELF_CLEARANCE, TABLE_SYMBOL: TABLE_CLEARANCE}
        least = np.array([own.get(other, OBJECT_CLEARANCE) for other in self._others])
        return np.where(np.array(self._others) != "", least, least[:, None])


def _model_of(world: World, scene: PlanningScene) -> mujoco.MjModel:
    """Return the model of a scene: that of things of the same shapes, with each put where it is."""
    held = scene.held
    shapes = tuple((o.id, o.kind, o.size) for o in scene.obstacles)
    model = copy(_compiled(world, shapes, held and (held.thing.id, held.thing.kind, held.thing.size)))
    poses = {_OBSTACLE + o.id: o.pose for o in scene.obstacles} | ({_HELD: held.in_tool0} if held else {})
    for name, pose in poses.items():
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        model.body_pos[body], model.body_quat[body] = pose[:3, 3], wxyz_of_matrix(pose[:3, :3])
    return model


@lru_cache(maxsize=8)
def _compiled(world: World, shapes: tuple[_Shape, ...], held: _Shape | None) -> mujoco.MjModel:
    """Return the robot, the table and things of these shapes, which are nowhere in particular."""
    spec, robot = _without_obstacles(world).copy(), world.robot.model
    for shape in shapes:
        _add(spec, spec.worldbody, _OBSTACLE + shape[0], shape, ITEM_BIT)
    if held is not None:
        _add(spec, spec.body(f"{robot}/gripper_base"), _HELD, held, ROBOT_BIT)
        for body in BODIES:
            spec.add_exclude(bodyname1=_HELD, bodyname2=f"{robot}/{body}")
    return spec.compile()


@lru_cache(maxsize=4)
def _without_obstacles(world: World) -> mujoco.MjSpec:
    """Return the robot and the table, set up for checking collisions."""
    spec = build_spec(world, table="plane")
    robot = world.robot.model
    for geom in spec.geoms:
        _set_contact(geom)
    for geom in spec.body(world.ground.model).geoms:  # below the endless table
        geom.contype = geom.conaffinity = 0
    for name in (robot, f"{robot}/{world.robot.arm.joints[0].link}"):  # these stand on the table
        spec.add_exclude(bodyname1=name, bodyname2=world.table.model)
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_MIDPHASE
    return spec


def _set_contact(geom: mujoco.MjsGeom) -> None:
    geom.conaffinity = ROBOT_BIT
    geom.margin = OBJECT_CLEARANCE / 2  # contacts are reported up to the sum of the two margins


def _add(spec: mujoco.MjSpec, parent: mujoco.MjsBody, name: str, shape: _Shape, bit: int) -> None:
    body = parent.add_body(name=name)
    for part in primitives(*shape[1:]):
        _set_contact(geom := add_primitive(spec, body, part))
        geom.contype = bit
