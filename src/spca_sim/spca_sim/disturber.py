"""Carries out disturbances in a simulation: waits for each one's occasion, then makes it happen.

Everything here is ground truth. The robot's side sees only the consequences: joint states, the pads, images.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from spca_core.geometry import Array, Pose, Vec3
from spca_core.kinds import KINDS
from spca_core.world import World
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import WorkspaceIndex
from spca_sim.variation import Disturbance, Happened

_PUSH = 0.25  # m/s
_CARRY = 0.5  # m/s
_OUT_OF_FINGERS = 0.075  # m
_ENCODER = (0.008, 0.003, 0.003, 0.006, 0.006, 0.012)
"""Largest encoder offset by joint, radians: 2 to 5 mm at the fingertips. One more is as the second."""
_DROPPED = 0.7  # share of frames that are lost while the camera drops them
_FASTEST = 1.2  # m/s at which a lagging object catches up
_SPIN = 6.0  # rad/s, the same for its yaw
_MOVING = 0.1  # rad/s of any joint
_LIFTED = 0.03  # m between a held object's lower face and the table
_IN_HAND = 0.04  # m between the tips' middle and a held object
_ROOM = (0.045, 0.02)  # m free between an object and its neighbours: wanted, and the least
_CLEAR_OF_TOOL = 0.11  # m
_TRIES = 300
_LIMBO = (40.0, 0.0, 5.0)
"""Place of objects that are not in the workspace: behind every camera, above nothing."""

Waypoint = tuple[float, float, float, float]
"""Position x, y, z (m) and yaw (rad) in `world`."""


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


@dataclass
class Drag:
    """An object on its way through `waypoints` at `speed` (m/s, or rad/s where it only turns).

    Something `carried` keeps to the waypoints' heights; something pushed stays on what it stands on.
    """

    name: str
    waypoints: list[Waypoint]
    speed: float
    carried: bool
    at: Waypoint
    left: float = 4.0
    """Simulated seconds after which the drag is given up."""

    def advance(self, index: WorkspaceIndex, data: mujoco.MjData, dt: float) -> bool:
        """Set the object's velocity for the next physics step; return False when it has arrived."""
        self.left -= dt
        target = self.waypoints[0]
        rest = math.dist(self.at[:3], target[:3])
        turn = target[3] - self.at[3]
        share = min(1.0, self.speed * dt / max(rest, abs(turn) if rest < 1e-6 else 0.0, 1e-9))
        x, y, z, yaw = (a + share * (b - a) for a, b in zip(self.at, target, strict=True))
        self.at = (x, y, z, yaw)
        pose, v = index.item_qpos[self.name], index.item_qvel[self.name]
        if self.carried:  # the pads' friction would stop it within one step
            index.set_item(data, self.name, Pose.from_xyz_yaw(*self.at))
        else:
            want = (np.array((x, y)) - data.qpos[pose : pose + 2]) / dt
            data.qvel[v : v + 2] = np.clip(want, -_FASTEST, _FASTEST)
            off = math.remainder(yaw - index.item_pose(data, self.name).yaw, 2 * math.pi)
            data.qvel[v + 5] = float(np.clip(off / dt, -_SPIN, _SPIN))
        if share >= 1.0:
            self.waypoints.pop(0)
        if self.waypoints and self.left > 0:
            return True
        data.qvel[v : v + 6] = 0.0
        return False


@dataclass
class Disturbed:
    """Progress of the disturbances, and what lasts of them. Times are simulated seconds."""

    begun: list[int] = field(default_factory=list)
    drags: list[Drag] = field(default_factory=list)
    away: list[str] = field(default_factory=list)
    returns: list[tuple[float, str, int]] = field(default_factory=list)
    """Objects that were taken away: when each comes back, its name, and the seed of its place."""
    held_since: float | None = None
    """Time at which something was lifted that a disturbance waits for; None if nothing was."""
    encoder: list[float] = field(default_factory=list)
    """Offset of each joint's encoder, in radians."""
    friction: float = 1.0
    light: float = 1.0
    hand: tuple[float, float, float, float] | None = None
    """Hand in view: until when, where over the table (x, y), and its heading."""
    frozen_until: float = 0.0
    dropping: tuple[float, int] = (0.0, 0)
    """Time until which the camera drops frames, and the seed of which frames."""
    shift: Vec3 = (0.0, 0.0, 0.0)
    turn: Vec3 = (0.0, 0.0, 0.0)
    """Rotation vector (rad) by which the camera has been knocked; see `SimVariation.camera_turn`."""


class Disturber:
    """The disturbances of one simulator. `listener` hears of each one that has happened."""

    def __init__(self, world: World, planned: Sequence[Disturbance]) -> None:
        self._world, self._planned = world, tuple(planned)
        self._joints = len(world.robot.arm.joints)
        self.now = Disturbed(encoder=[0.0] * self._joints)
        self.listener: Callable[[Happened], None] = lambda happened: None

    @property
    def has_plans(self) -> bool:
        """Some disturbance is planned: without one, no physics step need ask for what there is to do."""
        return bool(self._planned)

    def reset(self, objects: Sequence[str]) -> None:
        """Begin again, with these objects; those that will be added are kept away until then."""
        self.now = Disturbed(encoder=[0.0] * self._joints)
        for one in self._planned:
            if one.kind == "add":
                present = [n for n in one.spare if n in objects]
                if present:
                    rng = np.random.default_rng(one.seed)
                    self.now.away.append(present[int(rng.integers(len(present)))])

    def save(self) -> Disturbed:
        """Return the disturber's state for a snapshot."""
        return copy.deepcopy(self.now)

    def load(self, saved: Disturbed) -> None:
        """Restore what `save` returned."""
        self.now = copy.deepcopy(saved)

    def advance(self, index: WorkspaceIndex, data: mujoco.MjData, dt: float) -> None:
        """Move what is being moved, before a physics step."""
        for slot, name in enumerate(self.now.away):
            index.set_item(data, name, Pose.from_xyz_yaw(_LIMBO[0], _LIMBO[1] + slot, _LIMBO[2]))
        self.now.drags = [d for d in self.now.drags if d.advance(index, data, dt)]

    def watch(self, time: float, index: WorkspaceIndex, data: mujoco.MjData) -> None:
        """Begin what is due and has its occasion; to be called at every sample."""
        due = [(i, d) for i, d in enumerate(self._planned) if i not in self.now.begun and time >= d.at - 1e-9]
        back = [r for r in self.now.returns if r[0] <= time]
        if not due and not back:
            return
        truth = Truth(self._world, index, data, self.now.away)
        for one in back:
            if self._put_back(truth, one[1], one[2]):
                self.now.returns.remove(one)
                self._tell("remove", time, f"{one[1]} is put back", truth.at(one[1]))
        for number, disturbance in due:
            rng = np.random.default_rng(disturbance.seed)
            begin = getattr(self, f"_{disturbance.kind}")
            before, dragged = truth.held(), len(self.now.drags)
            text = begin(truth, disturbance, rng, time)
            if text is not None:
                self.now.begun.append(number)
                moved = before if len(self.now.drags) == dragged else self.now.drags[-1].name
                moved = self.now.away[-1] if disturbance.kind == "remove" else moved
                self._tell(disturbance.kind, time, text, truth.at(moved) if moved else None)

    # --- what lasts, for the simulator ----------------------------------------------------------------------

    def loses_frame(self, time: float) -> bool:
        """Return whether a frame that is taken now gets lost."""
        if time < self.now.frozen_until:
            return True
        until, seed = self.now.dropping
        return time < until and np.random.default_rng([seed, int(time * 1000)]).random() < _DROPPED

    # --- the kinds: each returns what happened, or None while it has no occasion ----------------------------

    def _push(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        cubes = [n for n in one.names if KINDS[self._world.object(n).kind].cubic]
        return self._slide(truth, cubes, rng) if truth.arm_moves else None

    def _target(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        if not self._carrying(truth, time, float(rng.uniform(0.0, 1.0))):
            return None
        return self._slide(truth, [n for n in one.names if n not in one.spare], rng, (0.05, 0.16))

    def _turn(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        cubes = truth.free(n for n in one.names if KINDS[self._world.object(n).kind].cubic)
        if not truth.arm_moves or not cubes:
            return None
        name = cubes[int(rng.integers(len(cubes)))]
        angle = float(rng.uniform(0.5, 1.0)) * float(rng.choice((-1, 1)))
        x, y, z = map(float, truth.at(name))
        self._drag(truth, name, [(x, y, z, truth.yaw(name) + angle)], 2.0)
        return f"{name} is turned by {math.degrees(angle):.0f}°"

    def _pull_out(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        carrying, name = self._carrying(truth, time, float(rng.uniform(0.0, 1.5))), truth.held()
        if not carrying or name is None or name not in one.names:
            return None
        start = truth.at(name)
        place = truth.room(name, rng, start, (0.0, 0.25)) or truth.room(name, rng)
        if place is None:
            return None
        left, right = truth.tips
        out = np.cross(right - left, (0.0, 0.0, 1.0))[:2]
        out /= max(float(np.linalg.norm(out)), 1e-9)
        out *= math.copysign(_OUT_OF_FINGERS, float(out @ (np.array(place) - start[:2])) or 1.0)
        x, y, z = map(float, start)
        yaw = truth.yaw(name)
        low = truth.rest_height(name) + 0.001
        clear = (x + float(out[0]), y + float(out[1]), z, yaw)
        self._drag(truth, name, [clear, (*place, z, yaw), (*place, low, yaw)], _CARRY, carried=True)
        return f"{name} is pulled out of the gripper"

    def _remove(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        for_good = bool(one.spare) and rng.random() < 0.5
        free = truth.free(one.spare if for_good else [n for n in one.names if n not in one.spare])
        if not free:
            return None
        name = free[int(rng.integers(len(free)))]
        self.now.away.append(name)
        if for_good:
            return f"{name} is taken away"
        self.now.returns.append((time + float(rng.uniform(2.0, 4.0)), name, int(rng.integers(2**31))))
        return f"{name} is taken away for a while"

    def _add(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        name = next((n for n in one.spare if n in self.now.away), None)
        if name is None or not self._put_back(truth, name, one.seed):
            return None
        return f"{name} is put on the table"

    def _hand(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        names = [n for n in one.names if n in truth.names]
        x, y, _ = truth.at(names[int(rng.integers(len(names)))])
        seconds = float(rng.uniform(2.0, 5.0))
        self.now.hand = (time + seconds, float(x), float(y), float(rng.uniform(-0.6, 0.6)))
        return f"a hand hides part of the table for {seconds:.1f} s"

    def _freeze(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        seconds = float(rng.uniform(2.0, 5.0))
        self.now.frozen_until = time + seconds
        return f"the camera freezes for {seconds:.1f} s"

    def _drop(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        seconds = float(rng.uniform(3.0, 8.0))
        self.now.dropping = (time + seconds, one.seed)
        return f"the camera drops frames for {seconds:.1f} s"

    def _knock(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        shift, turn = rng.normal(0.0, 0.003, 3), rng.normal(0.0, np.radians(0.6), 3)
        self.now.shift = (float(shift[0]), float(shift[1]), float(shift[2]))
        self.now.turn = (float(turn[0]), float(turn[1]), float(turn[2]))
        return (
            f"the camera is knocked by {1000 * float(np.linalg.norm(shift)):.1f} mm "
            f"and {math.degrees(float(np.linalg.norm(turn))):.1f}°"
        )

    def _encoder(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        largest = (*_ENCODER[:2], *_ENCODER[1:2] * (self._joints - 6), *_ENCODER[2:])
        joint = int(rng.integers(self._joints))
        offset = float(rng.uniform(0.5, 1.0) * rng.choice((-1, 1))) * largest[joint]
        self.now.encoder[joint] = offset
        return f"the encoder of joint {joint + 1} is {math.degrees(offset):+.2f}° off from now on"

    def _friction(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        self.now.friction = float(rng.choice((rng.uniform(0.45, 0.7), rng.uniform(1.3, 1.6))))
        return f"friction is {self.now.friction:.2f} times what it was from now on"

    def _dim(self, truth: Truth, one: Disturbance, rng: np.random.Generator, time: float) -> str | None:
        self.now.light = float(rng.uniform(0.35, 0.65))
        return f"the light goes down to {100 * self.now.light:.0f} % from now on"

    def _carrying(self, truth: Truth, time: float, delay: float) -> bool:
        """Return whether the arm is on its way with something that it has held for `delay` seconds."""
        if truth.held() is None:
            self.now.held_since = None
            return False
        if self.now.held_since is None:
            self.now.held_since = time
        return time - self.now.held_since >= delay and truth.arm_moves

    def _slide(
        self, truth: Truth, names: Sequence[str], rng: np.random.Generator,
        distance: tuple[float, float] = (0.03, 0.12),
    ) -> str | None:  # fmt: skip
        """Push one of the objects to a free place."""
        free = truth.free(names)
        if not free:
            return None
        name = free[int(rng.integers(len(free)))]
        start = truth.at(name)
        place = truth.room(name, rng, start, distance, straight=True)
        if place is None:
            return None
        yaw = truth.yaw(name) + float(rng.uniform(-0.3, 0.3))
        self._drag(truth, name, [(*place, float(start[2]), yaw)], _PUSH)
        return f"{name} is pushed by {1000 * math.dist(place, start[:2]):.0f} mm"

    def _drag(
        self, truth: Truth, name: str, waypoints: list[Waypoint], speed: float, carried: bool = False
    ) -> None:
        x, y, z = map(float, truth.at(name))
        self.now.drags.append(Drag(name, waypoints, speed, carried, (x, y, z, truth.yaw(name))))

    def _put_back(self, truth: Truth, name: str, seed: int) -> bool:
        """Put an object that is away on a free place of the table; return False if there is none now."""
        rng = np.random.default_rng(seed)
        place = truth.room(name, rng)
        if place is None:
            return False
        self.now.away.remove(name)
        truth.names.append(name)
        yaw = float(rng.uniform(-math.pi, math.pi))
        pose = Pose.from_xyz_yaw(*place, truth.rest_height(name) + 0.0005, yaw)
        truth.index.set_item(truth.data, name, pose)
        return True

    def _tell(self, kind: str, time: float, text: str, position: Array | None) -> None:
        where = None if position is None else tuple(map(float, position))
        self.listener(Happened(kind=kind, stamp=time, text=text, position=where))


DISTURBED_KINDS = (Disturbed, Drag, Disturbance)
"""Classes of which a disturber's state consists, for `spca_core.checkpoint`."""
