"""Planning scene, as the planner believes it: obstacles as perceived, and what the gripper holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spca_core.errors import MotionError
from spca_core.geometry import Array, Vec3, about_z
from spca_core.kinds import MESHES, Primitive, primitives
from spca_core.scene import Scene


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


@dataclass(frozen=True)
class PlanningScene:
    """An immutable scene; every change makes a new one.

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
