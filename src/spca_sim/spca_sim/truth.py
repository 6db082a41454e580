"""Ground truth that disturbances need: what is held, what carries something, where there is room."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from spca_core.geometry import Array
from spca_core.world import World
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import WorkspaceIndex

_MOVING = 0.1  # rad/s of any joint
_LIFTED = 0.03  # m between a held object's lower face and the table
_IN_HAND = 0.04  # m between the tips' middle and a held object
_ROOM = (0.045, 0.02)  # m free between an object and its neighbours: wanted, and the least
_CLEAR_OF_TOOL = 0.11  # m
_TRIES = 300


class Truth:
    """The state of a simulation, as far as disturbances look at it."""

    def __init__(self, world: World, index: WorkspaceIndex, data: mujoco.MjData, away: Iterable[str]) -> None:
        self._world, self.index, self.data = world, index, data
        self.names = [n for n in index.item_qpos if n not in set(away)]

    def at(self, name: str) -> Array:
        """Return the position (3,) of an object's centre in `world`."""
        return np.array(self.index.item_pose(self.data, name).position)

    def yaw(self, name: str) -> float:
        """Return an object's yaw in `world`, radians."""
        return self.index.item_pose(self.data, name).yaw

    def rest_height(self, name: str) -> float:
        """Return the height of an object's centre when it stands on the table."""
        return self._world.table.top + self._world.object(name).size[2] / 2

    @property
    def arm_moves(self) -> bool:
        """Some joint of the arm turns."""
        return bool(np.abs(self.data.qvel[self.index.arm_qvel]).max() > _MOVING)

    @property
    def tips(self) -> tuple[Array, Array]:
        """Positions (3,) of the left and the right fingertip in `world`."""
        robot = self._world.robot.model
        left, right = (self.data.body(f"{robot}/{side}_tip").xpos for side in ("left", "right"))
        return np.array(left), np.array(right)

    @property
    def tool(self) -> Array:
        """Position (3,) in `world` of the middle between the fingertips."""
        left, right = self.tips
        return np.asarray((left + right) / 2)

    def held(self) -> str | None:
        """Return the object that the gripper has lifted, or None."""
        tool = self.tool
        for name in self.names:
            lifted = self.at(name)[2] - self.rest_height(name) > _LIFTED
            if lifted and math.dist(self.at(name), tool) < _IN_HAND:
                return name
        return None

    def free(self, names: Iterable[str]) -> list[str]:
        """Return those that carry nothing, stand on the table or a plate, and are not near the gripper."""
        tool, held = self.tool, self.held()
        return [n for n in names if n in self.names and n != held and self._movable(n, tool)]

    def _movable(self, name: str, tool: Array) -> bool:
        x, y, z = self.at(name)
        low = abs(z - self.rest_height(name)) < 0.012
        near = math.dist((x, y), tool[:2]) < _CLEAR_OF_TOOL + self._radius(name)
        carries = any(
            self.at(o)[2] > z + 0.005 and math.dist(self.at(o)[:2], (x, y)) < 0.05 + 0.5 * self._radius(name)
            for o in self.names
            if o != name
        )
        return low and not near and not carries

    def room(
        self, name: str, rng: np.random.Generator, near: Array | None = None,
        distance: tuple[float, float] = (0.0, 1.0), straight: bool = False,
    ) -> tuple[float, float] | None:  # fmt: skip
        """Return a free place on the table for an object, between two distances (m) from `near`.

        With `straight`, the object can be pushed there along a straight line. None if no place was found.
        """
        area, r = self._world.work_area, self._radius(name)
        others = [(self.at(o)[:2], self._radius(o)) for o in self.names if o != name]
        tool = self.tool[:2]
        for space in _ROOM:
            for _ in range(_TRIES):
                x = float(rng.uniform(area.x[0] + r, area.x[1] - r))
                y = float(rng.uniform(area.y[0] + r, area.y[1] - r))
                if near is not None and not distance[0] <= math.dist((x, y), near[:2]) <= distance[1]:
                    continue
                if math.dist((x, y), tool) < _CLEAR_OF_TOOL + r:
                    continue
                way = [np.array((x, y))]
                if straight and near is not None:
                    way += [near[:2] + s * (np.array((x, y)) - near[:2]) for s in (0.25, 0.5, 0.75)]
                fits = math.inf if not others else min(math.dist(way[0], p) - q for p, q in others) - r
                passes = min((math.dist(w, p) - q - r for w in way[1:] for p, q in others), default=1.0)
                if fits >= space and passes >= 0.004:
                    return x, y
        return None

    def _radius(self, name: str) -> float:
        return self._world.object(name).radius
