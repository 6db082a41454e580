"""`moveit_py` as a planning backend.

The only module of the project that imports MoveIt; runs in the planning process.

Written against MoveIt 2 for Jazzy (2.12): it uses its own `PlanningScene` for checks and plans, so that
neither depends on what other nodes have published. It does not execute, because moveit_py's execution does
not stop for a new obstacle.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose as PoseMsg
from moveit.core import World as MoveItWorld
from moveit.core.planning_scene import PlanningScene as MoveItScene
from moveit.core.robot_state import RobotState
from moveit.planning import MoveItPy, PlanRequestParameters
from moveit_msgs.msg import AttachedCollisionObject, CollisionObject, Constraints, PositionConstraint
from numpy.typing import NDArray
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive

from spca_core.errors import SpcaError
from spca_core.geometry import Array, Pose
from spca_core.names import TABLE_SYMBOL
from spca_motion.collision import Obstacle
from spca_motion.limits import WorkspaceBox
from spca_motion.moveit.process import Geometry, PathRequest, Setup
from spca_robot.description.moveit_config import moveit_config, solid_links
from spca_robot.description.names import ARM_GROUP, GRIPPERS
from spca_robot.description.urdf import build_urdf, build_vendor_urdf
from spca_robot.gripper_2f85 import STROKE, driver_angle

_NODE = "moveit_py"
# The namespace before `plan_request_params`, which PlanRequestParameters appends by itself.
_NAMESPACE = ""
_FLANGE = "tool0"
_TABLE_SIZE = (4.0, 4.0, 0.1)  # m: endless for all the arm can reach
_BASES = ("base_link", "base_link_inertia")
_GRIPPER = ("gripper", "robotiq", "left_", "right_")  # how its links' names begin


class MoveItBackend:
    """Checks and paths by MoveIt. Joints are (n,) in radians, the gap between the pads in metres."""

    def __init__(self, setup: Setup) -> None:
        self._gripper, self._described = GRIPPERS[setup.source], setup.world.robot.arm
        if setup.source == "vendor":
            urdf = build_vendor_urdf(setup.world, Path(tempfile.mkdtemp(prefix="spca_moveit_")))
        else:
            urdf = build_urdf(setup.world)
        solid = solid_links(urdf)
        self._touch_links = [link for link in solid if link.startswith(_GRIPPER)]
        self._on_table = [link for link in (*_BASES, self._described.joints[0].link) if link in solid]
        # Nothing here depends on simulated time; `moveit_config` explains what `use_sim_time` does at the
        # start.
        config = moveit_config(urdf, setup.world, self._gripper, use_sim_time=False, pipeline=setup.pipeline)
        self._moveit = MoveItPy(node_name=_NODE, config_dict=config, provide_planning_service=False)
        self._model = self._moveit.get_robot_model()
        self._arm = self._moveit.get_planning_component(ARM_GROUP)
        self._check_arrays()
        self.load(Geometry())

    def load(self, geometry: Geometry) -> None:
        """Check against these bodies from now on, in a planning scene of their own."""
        # The scene gets its own world, because the binding's default argument is one world shared by all
        # scenes.
        scene = MoveItScene(self._model, MoveItWorld())
        for thing in geometry.obstacles:
            scene.apply_collision_object(_body(thing, "world", thing.pose))
        if geometry.table is not None:
            scene.apply_collision_object(_table(geometry.table))
            matrix = scene.allowed_collision_matrix
            for link in self._on_table:
                matrix.set_entry(TABLE_SYMBOL, link, True)
        if geometry.held is not None:
            held = AttachedCollisionObject()
            held.link_name = _FLANGE
            held.object = _body(geometry.held.thing, _FLANGE, geometry.held.in_tool0)
            held.touch_links = self._touch_links
            scene.process_attached_collision_object(held)
        self._scene = scene
        # RViz shows what MoveIt's monitor publishes.
        self._moveit.get_planning_scene_monitor().new_planning_scene_message(scene.planning_scene_message)

    def colliding(self, states: Array, gap: float) -> NDArray[np.bool_]:
        """Return whether each configuration (m, n) touches itself or a body: (m,)."""
        found = []
        for joints in states:
            # Attached bodies belong to the scene's own state, so that state is moved and not a copy of it.
            self._place(self._scene.current_state, joints, gap)
            found.append(self._scene.is_state_colliding(joint_model_group_name="", verbose=False))
        return np.array(found, dtype=bool)

    def plan(self, wanted: PathRequest) -> Array | None:
        """Return a path through this scene by the chosen pipeline, or None if it found none.

        Its waypoints are (m ≥ 2, n), with straight lines in joint space between them.
        """
        self._place(self._scene.current_state, wanted.start, wanted.gap)
        begin, end = (RobotState(self._model) for _ in range(2))
        self._place(begin, wanted.start, wanted.gap)
        self._place(end, wanted.goal, wanted.gap)
        self._arm.set_start_state(robot_state=begin)
        self._arm.set_goal_state(robot_state=end)
        self._arm.set_path_constraints(path_constraints=_constraints(wanted.box, wanted.reach))
        parameters = PlanRequestParameters(self._moveit, _NAMESPACE)
        parameters.planning_time = wanted.seconds
        response = self._arm.plan(single_plan_parameters=parameters, planning_scene=self._scene)
        if not response or response.trajectory is None:
            return None
        # Iterating a RobotTrajectory gives pairs of a state and the time since the one before.
        return np.array([state.get_joint_group_positions(ARM_GROUP) for state, _ in response.trajectory])

    def _check_arrays(self) -> None:
        """Check that moveit_py's arrays are compatible with this numpy. Raises SpcaError with advice.

        Bindings made with a pybind11 older than 2.12 read numpy 2's arrays by numpy 1's layout, with
        unpredictable results. The advice is printed first, because the process may crash here.
        """
        advice = (
            f"moveit_py does not work with numpy {np.__version__} if it was built with a pybind11 "
            "older than 2.12 (Ubuntu 24.04 has 2.11): install numpy<2 into the environment that runs spca "
            "(pip install 'numpy<2')"
        )
        print(f"checking arrays: {advice}", file=sys.stderr, flush=True)
        state = RobotState(self._model)
        expected = 0.1 * np.arange(1.0, len(self._described.joints) + 1)
        self._place(state, expected, STROKE)
        try:
            got = np.asarray(state.get_joint_group_positions(ARM_GROUP), dtype=float)
        except Exception as error:
            raise SpcaError(f"{advice} ({error})") from error
        if got.shape != expected.shape or not np.allclose(got, expected):
            raise SpcaError(f"{advice} (joint angles came back as {got.tolist()})")
        print("checking arrays: they are as expected", file=sys.stderr, flush=True)

    def _place(self, state: Any, joints: Array, gap: float) -> None:
        angle = driver_angle(gap)
        fingers = {name: ratio * angle for name, ratio in self._gripper.followers.items()}
        arm = dict(zip(self._described.joint_names, joints.tolist(), strict=True))
        state.joint_positions = {**arm, self._gripper.commanded: angle, **fingers}
        state.update(True, "all")


def _constraints(box: WorkspaceBox | None, reach: float) -> Constraints:
    """Return the constraint that the point `reach` metres ahead of the flange stays in the box."""
    constraints = Constraints()
    if box is None:
        return constraints
    shape = SolidPrimitive()
    shape.type = SolidPrimitive.BOX
    shape.dimensions = (box.high - box.low).tolist()
    inside = PositionConstraint()
    inside.header.frame_id, inside.link_name = "world", _FLANGE
    inside.target_point_offset.z = reach
    inside.constraint_region.primitives = [shape]
    inside.constraint_region.primitive_poses = [
        _pose_message(Pose(position=tuple((box.low + box.high) / 2)).matrix())
    ]
    inside.weight = 1.0
    constraints.position_constraints = [inside]
    return constraints


def _body(thing: Obstacle, frame: str, pose: Array) -> CollisionObject:
    body = CollisionObject()
    body.id, body.operation = thing.id, CollisionObject.ADD
    body.header.frame_id = frame
    for part in thing.parts:
        at = _pose_message(pose @ Pose.from_xyz_yaw(*part.at, part.yaw).matrix())
        if part.shape == "hull":
            corners = [Point(x=x, y=y, z=z) for x, y, z in part.corners]
            faces = [MeshTriangle(vertex_indices=face) for face in part.faces]
            body.meshes.append(Mesh(vertices=corners, triangles=faces))
            body.mesh_poses.append(at)
            continue
        shape = SolidPrimitive()
        a, b, c = part.size
        shape.type, shape.dimensions = {
            "box": (SolidPrimitive.BOX, [a, b, c]),
            "cylinder": (SolidPrimitive.CYLINDER, [c, a / 2]),
            "sphere": (SolidPrimitive.SPHERE, [a / 2]),
        }[part.shape]
        body.primitives.append(shape)
        body.primitive_poses.append(at)
    body.pose.orientation.w = 1.0
    return body


def _table(top: float) -> CollisionObject:
    pose = Pose(position=(0.0, 0.0, top - _TABLE_SIZE[2] / 2)).matrix()
    return _body(Obstacle(TABLE_SYMBOL, pose, _TABLE_SIZE, "table"), "world", pose)


def _pose_message(matrix: Array) -> PoseMsg:
    pose, message = Pose.from_matrix(matrix), PoseMsg()
    position, orientation = message.position, message.orientation
    position.x, position.y, position.z = pose.position
    orientation.x, orientation.y, orientation.z, orientation.w = pose.quaternion
    return message
