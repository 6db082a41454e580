"""The node `display`: listens to a run and draws it. Nothing listens to it but people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import Point, PoseArray, Quaternion, Vector3
from geometry_msgs.msg import Pose as PoseMsg
from rclpy.publisher import Publisher
from spca_interfaces.msg import Contacts, RunEvent
from spca_interfaces.msg import Plan as PlanMsg
from spca_interfaces.msg import Scene as SceneMsg
from spca_interfaces.msg import Verdict as VerdictMsg
from std_msgs.msg import ColorRGBA, String
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import Marker, MarkerArray

from spca_core.contacts import Pair
from spca_core.plan import Step, behaviour_tree
from spca_core.processes.leaving import leave
from spca_core.scene import Scene
from spca_core.verdict import Verdict
from spca_core.world import load_world
from spca_motion.tool import NOMINAL_GAP, ToolKinematics
from spca_ros import names
from spca_ros.convert.contacts import contact_samples
from spca_ros.convert.records import WORLD_FRAME, from_msg, pose_from_msg
from spca_ros.convert.robot import trajectory
from spca_ros.node import SpcaNode, run_nodes
from spca_ros.qos import EVERY, STATE
from spca_tabletop.ros.display.pictures import (
    MarkerShape,
    contact_pictures,
    grasp_pictures,
    path_pictures,
    plan_pictures,
    scene_pictures,
    verdict_pictures,
)

OBJECTS, PLAN, CONTACTS, VERDICT, GRASPS, PATH = (
    f"markers/{kind}" for kind in ("objects", "plan", "contacts", "verdict", "grasps", "path")
)
BEHAVIOUR_TREE = "plan/behavior_tree"
_PATH_POINTS = 60  # at most; a trajectory may have many more
_KINDS = {"cube": Marker.CUBE, "cylinder": Marker.CYLINDER, "text": Marker.TEXT_VIEW_FACING,
          "line": Marker.LINE_STRIP}  # fmt: skip


class DisplayNode(SpcaNode):
    """Node whose topics each hold the newest complete picture, also for those who come late."""

    def __init__(self) -> None:
        super().__init__(names.DISPLAY)
        self._world = load_world(self.parameter("world", "tabletop", "a world in worlds/ or a path"))
        self._steps: tuple[Step, ...] = ()
        self._touching: frozenset[Pair] | None = None
        self._tool = ToolKinematics(self._world)
        self._objects, self._plan, self._contacts, self._verdict, self._grasps, self._path = (
            self.create_publisher(MarkerArray, topic, STATE)
            for topic in (OBJECTS, PLAN, CONTACTS, VERDICT, GRASPS, PATH)
        )
        self._tree = self.create_publisher(String, BEHAVIOUR_TREE, STATE)
        nothing = Scene(stamp=0.0, objects=(), relations=(), sentences=())
        self._show(self._objects, scene_pictures(nothing, self._world))  # the table, until something is seen
        self.create_subscription(PoseArray, names.GRASPS, self._on_grasps, STATE)
        self.create_subscription(JointTrajectory, names.TRAJECTORY, self._on_trajectory, STATE)
        self.create_subscription(SceneMsg, names.SCENE, self._on_scene, STATE)
        self.create_subscription(PlanMsg, names.PLAN, self._on_plan, STATE)
        self.create_subscription(VerdictMsg, names.VERDICT, self._on_verdict, STATE)
        self.create_subscription(Contacts, names.CONTACTS, self._on_contacts, EVERY)
        self.create_subscription(RunEvent, names.EVENTS, self._on_event, EVERY)

    def _on_scene(self, message: SceneMsg) -> None:
        self._show(self._objects, scene_pictures(from_msg(Scene, message), self._world))

    def _on_plan(self, message: PlanMsg) -> None:
        self._steps = tuple(Step(action=s.action, args=tuple(s.args)) for s in message.steps)
        self._show(self._plan, plan_pictures(self._steps, 0, self._world))
        parameters = {schema.name: [p.name for p in schema.parameters] for schema in message.schemas}
        self._tree.publish(String(data=behaviour_tree(self._steps, parameters)))

    def _on_event(self, event: RunEvent) -> None:
        for step in event.step:
            self._show(self._plan, plan_pictures(self._steps, step.index + 1, self._world))

    def _on_grasps(self, message: PoseArray) -> None:
        self._show(self._grasps, grasp_pictures([pose_from_msg(pose) for pose in message.poses]))

    def _on_trajectory(self, message: JointTrajectory) -> None:
        joints = trajectory(message, self._world.robot.arm.joint_names).positions
        chosen = np.unique(np.linspace(0, len(joints) - 1, _PATH_POINTS).round().astype(int))
        tools = self._tool.tool(joints[chosen], NOMINAL_GAP)
        self._show(self._path, path_pictures([(x, y, z) for x, y, z in tools[:, :3, 3].tolist()]))

    def _on_contacts(self, message: Contacts) -> None:
        touching = contact_samples(message)[-1].pairs
        if touching != self._touching:
            self._touching = touching
            self._show(self._contacts, contact_pictures(touching, self._world))

    def _on_verdict(self, message: VerdictMsg) -> None:
        self._show(self._verdict, verdict_pictures(from_msg(Verdict, message), self._world))

    @staticmethod
    def _show(publisher: Publisher, pictures: Sequence[MarkerShape]) -> None:
        clear = Marker(action=Marker.DELETEALL)
        clear.header.frame_id = WORLD_FRAME
        publisher.publish(MarkerArray(markers=[clear, *(_marker(i, p) for i, p in enumerate(pictures, 1))]))


def _marker(number: int, picture: MarkerShape) -> Marker:
    (px, py, pz), (x, y, z, w) = picture.pose.position, picture.pose.quaternion
    r, g, b, a = picture.colour
    sx, sy, sz = picture.size
    marker = Marker(
        id=number,
        type=_KINDS[picture.kind],
        pose=PoseMsg(position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w)),
        scale=Vector3(x=sx, y=sy, z=sz),
        color=ColorRGBA(r=r, g=g, b=b, a=a),
        points=[Point(x=x, y=y, z=z) for x, y, z in picture.points],
        text=picture.text,
    )
    marker.header.frame_id = WORLD_FRAME
    return marker


def main() -> None:
    """Run the node, and end the process with its exit status."""
    leave(run_nodes(lambda: [DisplayNode()]))


if __name__ == "__main__":
    main()
