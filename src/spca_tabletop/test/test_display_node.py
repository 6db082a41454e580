"""The display node over real DDS: what a run publishes becomes markers, also for late subscribers."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from spca_core.geometry import Pose
from spca_core.result import Outcome, Verdict
from spca_core.scene import Scene, SceneObject
from spca_core.world import load_world
from spca_tabletop.ros.display_node import scene_pictures

WORLD = load_world()
RVIZ = Path(__file__).resolve().parents[3] / "launch" / "rviz" / "spca.rviz"


def cube(name: str, visible: bool = True, y: float = 0.0, z: float = 0.42) -> SceneObject:
    return SceneObject(
        id=name,
        kind="cube",
        colour=name.split("_")[1],
        pose=Pose(position=(0.5, y, z)),
        size=(0.04, 0.04, 0.04),
        confidence=1.0,
        visible=visible,
    )


SCENE = Scene(
    stamp=1.0, objects=(cube("cube_red"), cube("cube_blue", visible=False, y=0.2)), relations=(), sentences=()
)


def test_objects_are_named_and_those_out_of_sight_fainter() -> None:
    table, seen, hidden, name, hidden_name = scene_pictures(SCENE, WORLD)
    assert name.text == "red cube" and hidden_name.text == "blue cube (remembered)"
    assert seen.color.a > hidden.color.a and seen.color.r > seen.color.b
    assert seen.scale.x > 0.04 and name.pose.position.z > 0.44
    assert (table.scale.x, table.scale.y, table.scale.z) == WORLD.table.size
    assert table.pose.position.z < WORLD.table.top


def topics_of_rviz() -> set[str]:
    displays = yaml.safe_load(RVIZ.read_text())["Visualization Manager"]["Displays"]
    return {d["Topic"]["Value"] for d in displays if d["Class"].endswith("MarkerArray")}


@pytest.mark.ros
def test_what_a_run_publishes_becomes_markers_on_the_topics_that_rviz_shows() -> None:
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        _watch_a_run()
    finally:
        rclpy.try_shutdown()


def _watch_a_run() -> None:  # noqa: PLR0915 (one run, from its messages to its markers)
    from geometry_msgs.msg import PoseArray
    from rclpy.event_handler import PublisherEventCallbacks
    from spca_interfaces.msg import (
        ActionSchema,
        Contacts,
        Plan,
        PlanStep,
        RunEvent,
        StepReport,
        TypedParameter,
    )
    from spca_interfaces.msg import Scene as SceneMsg
    from spca_interfaces.msg import Verdict as VerdictMsg
    from std_msgs.msg import String
    from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg
    from visualization_msgs.msg import Marker, MarkerArray

    from spca_core.contacts import ContactSample
    from spca_core.trajectory import JointTrajectory
    from spca_motion.tool import NOMINAL_GAP, ToolKinematics
    from spca_ros import names
    from spca_ros.convert.contacts import contacts_msg
    from spca_ros.convert.records import pose_msg, to_msg
    from spca_ros.convert.robot import trajectory_msg
    from spca_ros.node import SpcaNode
    from spca_ros.qos import EVERY, STATE
    from spca_tabletop.ros.display_node import BEHAVIOUR_TREE, DisplayNode

    node = DisplayNode()
    client = SpcaNode("run", node.loop)
    heard: set[str] = set()
    sent = [
        client.create_publisher(
            kind,
            topic,
            quality,
            event_callbacks=PublisherEventCallbacks(matched=lambda _, topic=topic: heard.add(topic)),
        )
        for kind, topic, quality in (
            (SceneMsg, names.SCENE, STATE),
            (Plan, names.PLAN, STATE),
            (VerdictMsg, names.VERDICT, STATE),
            (Contacts, names.CONTACTS, EVERY),
            (PoseArray, names.GRASPS, STATE),
            (JointTrajectoryMsg, names.TRAJECTORY, STATE),
            (RunEvent, names.EVENTS, EVERY),
        )
    ]
    scene, plan, verdict, contacts, grasps, trajectory, events = sent

    def turn_until(condition) -> bool:
        while not condition():
            node.loop.turn(60.0)  # until something comes
        return True

    assert turn_until(lambda: len(heard) == len(sent))
    scene.publish(to_msg(SCENE, SceneMsg()))
    steps = [
        PlanStep(action="pick_up", args=["cube_red"]),
        PlanStep(action="place_on", args=["cube_red", "plate_red"]),
    ]
    schema = ActionSchema(name="place_on", parameters=[TypedParameter(name=n) for n in ("what", "where")])
    plan.publish(Plan(steps=steps, schemas=[schema]))
    verdict.publish(
        to_msg(Verdict(outcome=Outcome.SUCCESS, score=1.0, stamp=9.0, reason="all hold"), VerdictMsg())
    )
    contacts.publish(contacts_msg([ContactSample(1.0, frozenset({("box_red", "cobot")}))]))
    best = Pose(position=(0.5, 0.1, 0.45))
    grasps.publish(PoseArray(poses=[pose_msg(best), pose_msg(Pose(position=(0.5, 0.1, 0.46)))]))
    home = np.array(WORLD.robot.home)
    moved = JointTrajectory(np.array([0.0, 1.0]), np.stack([home, home + 0.2]), np.zeros((2, 6)))
    trajectory.publish(trajectory_msg(moved, WORLD.robot.arm.joint_names))
    shown: list[str] = []
    client.create_subscription(
        MarkerArray, "/markers/plan", lambda m: shown.append("".join(k.text for k in m.markers)), STATE
    )
    assert turn_until(lambda: shown and "pick_up" in shown[-1])
    events.publish(RunEvent(kind="step", step=[StepReport(index=0)]))
    assert turn_until(lambda: "[x] pick_up" in shown[-1])

    texts: dict[str, list[str]] = {}
    markers: dict[str, list[Marker]] = {}
    for topic in topics_of_rviz():  # a late listener
        client.create_subscription(
            MarkerArray,
            topic,
            lambda m, topic=topic: (
                texts.__setitem__(topic, [k.text for k in m.markers]),
                markers.__setitem__(topic, list(m.markers)[1:]),
            ),
            STATE,
        )
    assert turn_until(lambda: len(texts) == 6), texts
    assert turn_until(lambda: "red cube" in texts["/markers/objects"]), texts  # first the table
    assert all(len({k.id for k in ms}) == len(ms) and all(k.id for k in ms) for ms in markers.values())
    assert turn_until(lambda: any("[x] pick_up" in t for t in texts["/markers/plan"])), texts
    assert any("[>] place_on" in t for t in texts["/markers/plan"])
    trees: list[ElementTree.Element] = []
    client.create_subscription(
        String, BEHAVIOUR_TREE, lambda m: trees.append(ElementTree.fromstring(m.data)), STATE
    )
    assert turn_until(lambda: bool(trees))
    done = [(a.get("ID"), a.get("what") or a.get("arg1"), a.get("where")) for a in trees[0].iter("Action")]
    assert done[:2] == [("pick_up", "cube_red", None), ("place_on", "cube_red", "plate_red")]
    model = {a.get("ID"): [p.get("name") for p in a] for a in trees[0].find("TreeNodesModel")}
    assert model == {"pick_up": ["arg1"], "place_on": ["what", "where"]}
    assert trees[0].get("main_tree_to_execute") == trees[0].find("BehaviorTree").get("ID")
    assert turn_until(lambda: any("success" in t for t in texts["/markers/verdict"]))
    assert turn_until(lambda: any("box_red" in t and "cobot" in t for t in texts["/markers/contacts"]))
    assert turn_until(lambda: len(markers["/markers/grasps"]) == 2 and markers["/markers/path"])
    chosen, other = markers["/markers/grasps"]
    assert chosen.color.a > other.color.a
    assert (chosen.pose.position.x, chosen.pose.position.y) == (0.5, 0.1)
    [line] = markers["/markers/path"]
    tool = ToolKinematics(WORLD)
    start, end = line.points[0], line.points[-1]
    np.testing.assert_allclose([start.x, start.y, start.z], tool.tool(home, NOMINAL_GAP)[:3, 3], atol=1e-6)
    np.testing.assert_allclose([end.x, end.y, end.z], tool.tool(home + 0.2, NOMINAL_GAP)[:3, 3], atol=1e-6)
    for each in (node, client):
        each.destroy_node()
