"""The display node over real DDS: what a run publishes becomes markers, also for late subscribers."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from geometry_msgs.msg import PoseArray
from spca_interfaces.msg import Plan, PlanStep, RunEvent, StepReport
from spca_interfaces.msg import Scene as SceneMsg
from spca_interfaces.msg import Verdict as VerdictMsg
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from spca_core.contacts import ContactSample
from spca_core.geometry import Pose
from spca_core.result import Outcome, Verdict
from spca_core.scene import Scene
from spca_core.trajectory import JointTrajectory
from spca_core.world import load_world
from spca_ros import names
from spca_ros.convert.contacts import contacts_msg
from spca_ros.convert.records import pose_msg, to_msg
from spca_ros.convert.robot import trajectory_msg
from spca_ros.qos import EVERY, STATE
from spca_tabletop.ros.display_node import BEHAVIOUR_TREE
from spca_testing.observations import thing
from spca_testing.ros import Heard, NodeSpec, heeded, running

WORLD = load_world()
RVIZ = Path(__file__).resolve().parents[3] / "launch" / "rviz" / "spca.rviz"


RED = thing("cube_red", Pose(position=(0.5, 0.0, 0.42)))
BLUE = thing("cube_blue", Pose(position=(0.5, 0.2, 0.42)), visible=False)
SCENE = Scene(stamp=1.0, objects=(RED, BLUE), relations=(), sentences=())


def topics_of_rviz() -> set[str]:
    displays = yaml.safe_load(RVIZ.read_text())["Visualization Manager"]["Displays"]
    return {d["Topic"]["Value"] for d in displays if d["Class"].endswith("MarkerArray")}


@pytest.mark.ros
def test_what_a_run_publishes_becomes_markers_on_the_topics_that_rviz_shows() -> None:
    """Also for those who begin to listen when all has been said."""
    with running(NodeSpec("spca_tabletop.ros.display_node", names.DISPLAY, {})) as (node, _):

        def tell(topic: str, message: object, quality: object = STATE) -> None:
            heeded(node, type(message), topic, quality).publish(message)

        tell(names.SCENE, to_msg(SCENE, SceneMsg()))
        steps = [("pick_up", ["cube_red"]), ("place_on", ["cube_red", "plate_red"])]
        tell(names.PLAN, Plan(steps=[PlanStep(action=a, args=args) for a, args in steps]))
        verdict = Verdict(outcome=Outcome.SUCCESS, score=1.0, stamp=9.0, reason="all hold")
        tell(names.VERDICT, to_msg(verdict, VerdictMsg()))
        tell(names.CONTACTS, contacts_msg([ContactSample(1.0, frozenset({("box_red", "cobot")}))]), EVERY)
        tell(names.GRASPS, PoseArray(poses=[pose_msg(Pose(position=(0.5, 0.1, z))) for z in (0.45, 0.46)]))
        home = np.array(WORLD.robot.home)
        moved = JointTrajectory(np.array([0.0, 1.0]), np.stack([home, home + 0.2]), np.zeros((2, 6)))
        tell(names.TRAJECTORY, trajectory_msg(moved, WORLD.robot.arm.joint_names))
        shown: dict[str, Heard] = {}

        def until(topic: str, *words: str) -> list[Marker]:
            """What is shown on a topic once it says all of that."""
            if topic not in shown:
                shown[topic] = Heard.on(node, MarkerArray, topic, STATE)
            newest = shown[topic].until(lambda m: all(w in str([k.text for k in m.markers]) for w in words))
            return list(newest.markers)

        until("/markers/plan", "pick_up")
        tell(names.EVENTS, RunEvent(kind="step", step=[StepReport(index=0)]), EVERY)
        until("/markers/plan", "[x] pick_up", "[>] place_on")
        objects = until("/markers/objects", "red cube", "blue cube (remembered)")
        until("/markers/verdict", "success")
        until("/markers/contacts", "box_red", "cobot")
        assert len(until("/markers/grasps")) == 3 and len(until("/markers/path")) == 2
        assert shown.keys() == topics_of_rviz()
        for heard in shown.values():
            numbers = [marker.id for marker in heard[-1].markers[1:]]
            assert len({*numbers}) == len(numbers) and all(numbers)
        tree = ElementTree.fromstring(Heard.on(node, String, BEHAVIOUR_TREE, STATE).until().data)
    seen, hidden = (next(m for m in objects if m.pose.position.y == y and m.scale.x > 0) for y in (0.0, 0.2))
    assert seen.color.a > hidden.color.a
    # Groot2 and BehaviorTree.CPP refuse a node that is not declared, and a port that its node has not.
    assert tree.get("BTCPP_format") == "4"
    used = {a.get("ID"): {*a.attrib} - {"ID", "name"} for a in tree.findall("BehaviorTree/Sequence/Action")}
    assert used == {"pick_up": {"arg1"}, "place_on": {"arg1", "arg2"}}
    assert {a.get("ID"): {p.get("name") for p in a} for a in tree.find("TreeNodesModel")} == used
    assert tree.get("main_tree_to_execute") == tree.find("BehaviorTree").get("ID")
