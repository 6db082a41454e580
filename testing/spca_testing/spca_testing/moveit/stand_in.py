"""A stand-in for `moveit_py` and `moveit_msgs`.

With it, `moveit_backend` itself runs where MoveIt is not installed.

What it does is the embedded planner's (MuJoCo's collision check, OMPL's search); how it is called, and where
it fails, is as MoveIt 2.12.4 does it:

* `MoveItPy` raises when it has to wait for joint states, because none arrive here, and aborts the process
  with `use_sim_time` (the real one does so in about one start of ten).
* Iterating a `RobotTrajectory` gives pairs of a state and a duration.
* `PlanRequestParameters(moveit, namespace)` appends `plan_request_params` to the namespace by itself; a
  parameter that is not found takes its default, with a warning on standard error.
* A state must be updated before it is used; an attribute that a message does not have cannot be set.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from spca_core.geometry import Array, Pose
from spca_core.names import TABLE_SYMBOL
from spca_core.world import World
from spca_motion.collision import OBJECT_CLEARANCE, CollisionChecker, Held, Obstacle, PlanningScene
from spca_motion.moveit.process import Setup
from spca_motion.moveit.search import grown
from spca_motion.search import Effort, box_of, edge, find_path
from spca_robot.description.names import ARM_GROUP
from spca_robot.gripper_2f85 import STROKE, driver_angle
from spca_robot.kinematics import ToolKinematics

_FINGER = "robotiq_85_left_knuckle_joint"
_GAPS = np.linspace(0.0, STROKE, 400)
_ANGLES = np.array([driver_angle(float(gap)) for gap in _GAPS])


def backend(setup: Setup) -> Any:
    """`MoveItBackend` on the stand-in."""
    install(setup.world)
    from spca_motion.moveit.moveit_backend import MoveItBackend

    return MoveItBackend(setup)


def reckless(setup: Setup) -> Any:
    """`MoveItBackend` on the stand-in, with a planner that goes straight through whatever is in the way."""
    made = backend(setup)
    vars(made)["plan"] = lambda request: edge(request.start, request.goal)
    return made


def misread(setup: Setup) -> Any:
    """`MoveItBackend` on the stand-in, with bindings that hand over arrays that numpy misreads."""
    true = State.get_joint_group_positions

    def every_other(self: State, joint_model_group_name: str) -> Array:
        return true(self, joint_model_group_name)[::2]

    State.get_joint_group_positions = every_other  # type: ignore[method-assign]
    return backend(setup)


def install(world: World) -> None:
    """Put the stand-in in place of the modules that `moveit_backend` imports, in this process."""
    modules: dict[str, dict[str, Any]] = {
        "moveit": {},
        "moveit.core": {"World": types.SimpleNamespace},
        "moveit.core.planning_scene": {"PlanningScene": Scene},
        "moveit.core.robot_state": {"RobotState": State},
        "moveit.planning": {
            "MoveItPy": lambda **given: MoveItPy(world, **given),
            "PlanRequestParameters": Parameters,
        },
        "moveit_msgs": {},
        "moveit_msgs.msg": {
            kind.__name__: kind
            for kind in (CollisionObject, AttachedCollisionObject, PositionConstraint, Constraints)
        },
    }
    for name, members in modules.items():
        module = types.ModuleType(name)
        vars(module).update(members)
        sys.modules[name] = module


class MoveItPy:
    """Starts with a configuration, or fails as MoveItCpp does."""

    def __init__(
        self, world: World, node_name: str, config_dict: dict[str, Any], provide_planning_service: bool
    ) -> None:
        if config_dict["use_sim_time"]:
            print("InvalidParameterValueException: qos_overrides./clock could not be set", file=sys.stderr)
            os.abort()
        if config_dict["planning_scene_monitor_options"]["wait_for_initial_state_timeout"] > 0.0:
            raise RuntimeError("Unable to configure planning scene monitor")
        self.config, self.world = config_dict, world

    def get_robot_model(self) -> World:
        """The model that scenes and states are made of."""
        return self.world

    def get_planning_scene_monitor(self) -> types.SimpleNamespace:
        """What shows a scene to RViz."""
        return types.SimpleNamespace(new_planning_scene_message=lambda scene: scene.current_state)

    def get_planning_component(self, joint_model_group_name: str) -> PlanningComponent:
        """The planner of one group."""
        assert joint_model_group_name == ARM_GROUP
        return PlanningComponent(self)


class Parameters:
    """`PlanRequestParameters`."""

    def __init__(self, moveit: MoveItPy, namespace: str) -> None:
        path = [*filter(None, namespace.split(".")), "plan_request_params"]
        values: Any = moveit.config
        for name in path:
            values = values.get(name, {})

        def value(name: str, default: Any) -> Any:
            if name not in values:
                print(f"Parameter '{'.'.join(path)}.{name}' not found in config", file=sys.stderr, flush=True)
            return values.get(name, default)

        self.planner_id = value("planner_id", "")
        self.planning_pipeline = value("planning_pipeline", "")
        self.planning_time = value("planning_time", 1.0)
        self.planning_attempts = value("planning_attempts", 5)
        self.max_velocity_scaling_factor = value("max_velocity_scaling_factor", 1.0)
        self.max_acceleration_scaling_factor = value("max_acceleration_scaling_factor", 1.0)


class State:
    """`RobotState`."""

    def __init__(self, robot_model: World) -> None:
        self._values: dict[str, float] = {}
        self._arm = robot_model.robot.arm.joint_names
        self._updated = False

    @property
    def joint_positions(self) -> dict[str, float]:
        """By joint."""
        return dict(self._values)

    @joint_positions.setter
    def joint_positions(self, values: dict[str, float]) -> None:
        self._values.update(values)
        self._updated = False

    def update(self, force: bool, type: str) -> None:
        """Compute the transforms."""
        self._updated = True

    def get_joint_group_positions(self, joint_model_group_name: str) -> Array:
        """The joints of a group (n,), rad."""
        assert self._updated, "the state was not updated"
        assert joint_model_group_name == ARM_GROUP
        return np.array([self._values[name] for name in self._arm])

    @property
    def gap(self) -> float:
        """Metres between the pads."""
        order = np.argsort(_ANGLES)
        return float(np.interp(self._values[_FINGER], _ANGLES[order], _GAPS[order]))


class _Matrix:
    def set_entry(self, one: str, other: str, allowed: bool) -> None:
        """Allow two things to touch."""


class Scene:
    """`PlanningScene`."""

    def __init__(self, robot_model: World, world: object) -> None:
        self._world = robot_model
        self.current_state = State(robot_model)
        self.allowed_collision_matrix = _Matrix()
        self._bodies: list[Obstacle] = []
        self._held: Held | None = None
        self._table = -np.inf
        self._checker: CollisionChecker | None = None
        self.planning_scene_message = self

    def apply_collision_object(self, collision_object_msg: CollisionObject) -> bool:
        """Add a body."""
        body = _body(collision_object_msg)
        if body.id == TABLE_SYMBOL:
            self._table = float(body.pose[2, 3]) + body.size[2] / 2
        else:
            self._bodies.append(grown(body, -OBJECT_CLEARANCE))  # the check adds it again
        self._checker = None
        return True

    def process_attached_collision_object(self, object: AttachedCollisionObject) -> bool:
        """Put a body into the gripper."""
        assert object.object.header.frame_id == object.link_name == "tool0" and object.touch_links
        body = _body(object.object)
        self._held, self._checker = Held(body, body.pose), None
        return True

    def is_state_colliding(self, joint_model_group_name: str, verbose: bool = False) -> bool:
        """Return whether the scene's own state touches anything."""
        state = self.current_state
        return not self.free(state.get_joint_group_positions(ARM_GROUP), state.gap)

    def free(self, joints: Array, gap: float) -> bool:
        """Return whether a configuration touches nothing."""
        if self._checker is None:
            self._checker = CollisionChecker(self._world, PlanningScene(tuple(self._bodies), self._held))
        hits = self._checker.hits(joints, gap)
        table = self._table >= self._world.table.top
        return not [hit for hit in hits if table or hit.other != TABLE_SYMBOL]


class Trajectory:
    """`RobotTrajectory`."""

    def __init__(self, world: World, path: Array) -> None:
        self._states = []
        for joints in path:
            state = State(world)
            state.joint_positions = dict(zip(world.robot.arm.joint_names, map(float, joints), strict=True))
            state.update(True, "all")
            self._states.append(state)

    def __iter__(self) -> Iterator[tuple[State, float]]:
        return iter([(state, 0.1) for state in self._states])


class Response:
    """`MotionPlanResponse`: true if planning succeeded."""

    def __init__(self, trajectory: Trajectory | None) -> None:
        self.trajectory = trajectory

    def __bool__(self) -> bool:
        return self.trajectory is not None


class PlanningComponent:
    """Plans from a start to a goal state, under path constraints."""

    def __init__(self, moveit: MoveItPy) -> None:
        self._moveit, self._tools = moveit, ToolKinematics(moveit.world)
        self._constraints = Constraints()

    def set_start_state(self, *, robot_state: State) -> bool:
        """Set where the path begins."""
        self._start = robot_state
        return True

    def set_goal_state(self, *, robot_state: State) -> bool:
        """Set where the path ends."""
        self._goal = robot_state
        return True

    def set_path_constraints(self, path_constraints: Constraints) -> bool:
        """Set what must hold on the path."""
        self._constraints = path_constraints
        return True

    def plan(self, *, single_plan_parameters: Parameters, planning_scene: Scene) -> Response:
        """A dense path, or a response that is false."""
        parameters, config = single_plan_parameters, self._moveit.config
        if parameters.planning_pipeline not in config["planning_pipelines"]["pipeline_names"]:
            print(f"No planning pipeline '{parameters.planning_pipeline}'", file=sys.stderr, flush=True)
            return Response(None)
        start, goal = (s.get_joint_group_positions(ARM_GROUP) for s in (self._start, self._goal))
        gap = self._start.gap

        def valid(joints: Array) -> bool:
            return planning_scene.free(joints, gap) and self._constrained(joints)

        if not self._constrained(start):
            return Response(None)
        box = box_of(start, goal[None], Effort(np.pi, 60_000), self._tools.arm.range)
        path = find_path(start, goal[None], box, (0.5, 0.02, 60_000, 30, 1), valid, lambda: False)
        if path is None:
            return Response(None)
        dense = [edge(a, b) for a, b in pairwise(path)]
        return Response(Trajectory(self._moveit.world, np.vstack(dense)))

    def _constrained(self, joints: Array) -> bool:
        flange = self._tools.flange(joints)
        for constraint in self._constraints.position_constraints:
            assert (constraint.header.frame_id, constraint.link_name) == ("world", "tool0")
            offset = constraint.target_point_offset
            point = flange @ np.array([offset.x, offset.y, offset.z, 1.0])
            (shape,), (pose,) = (
                constraint.constraint_region.primitives,
                constraint.constraint_region.primitive_poses,
            )
            centre = np.array([pose.position.x, pose.position.y, pose.position.z])
            if (np.abs(point[:3] - centre) > np.array(shape.dimensions) / 2).any():
                return False
        return True


class _Message:
    """Like a ROS message: only the fields that it has can be set."""

    FIELDS: dict[str, Any] = {}

    def __init__(self) -> None:
        for name, default in self.FIELDS.items():
            object.__setattr__(self, name, default())

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.FIELDS:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__} has no field {name!r}")


def _header() -> Any:
    from std_msgs.msg import Header

    return Header()


def _pose() -> Any:
    from geometry_msgs.msg import Pose as PoseMsg

    return PoseMsg()


def _vector() -> Any:
    from geometry_msgs.msg import Vector3

    return Vector3()


class CollisionObject(_Message):
    """`moveit_msgs/CollisionObject`."""

    ADD = b"\x00"
    FIELDS = {
        "header": _header,
        "pose": _pose,
        "id": str,
        "primitives": list,
        "primitive_poses": list,
        "operation": bytes,
    }


class AttachedCollisionObject(_Message):
    """`moveit_msgs/AttachedCollisionObject`."""

    FIELDS = {"link_name": str, "object": CollisionObject, "touch_links": list}


class BoundingVolume(_Message):
    """`moveit_msgs/BoundingVolume`."""

    FIELDS = {"primitives": list, "primitive_poses": list}


class PositionConstraint(_Message):
    """`moveit_msgs/PositionConstraint`."""

    FIELDS = {
        "header": _header,
        "link_name": str,
        "target_point_offset": _vector,
        "constraint_region": BoundingVolume,
        "weight": float,
    }


class Constraints(_Message):
    """`moveit_msgs/Constraints`."""

    FIELDS = {"name": str, "position_constraints": list}


def _body(message: CollisionObject) -> Obstacle:
    assert message.operation == CollisionObject.ADD
    (shape,), (pose,) = message.primitives, message.primitive_poses
    p, q = pose.position, pose.orientation
    matrix = Pose(position=(p.x, p.y, p.z), quaternion=(q.x, q.y, q.z, q.w)).matrix()
    if shape.type == shape.CYLINDER:
        height, radius = shape.dimensions
        return Obstacle(message.id, matrix, (2 * radius, 2 * radius, height), kind="cylinder")
    x, y, z = shape.dimensions
    return Obstacle(message.id, matrix, (x, y, z))
