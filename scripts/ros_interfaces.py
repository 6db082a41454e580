"""Generates the tables of docs/ros-interfaces.md from the nodes themselves.

Usage: `python scripts/ros_interfaces.py [--write]`.

Without --write, its exit status says whether the page is up to date.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import rclpy
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.action import get_action_server_names_and_types_by_node

from spca.kits import kits
from spca.ros.program import program
from spca_ros.domain import own_domain
from spca_ros.node import SpcaNode, close_nodes
from spca_sim.node import SimNode
from spca_tabletop.ros.display_node import DisplayNode

PAGE = Path(__file__).resolve().parents[1] / "docs" / "ros-interfaces.md"
BEGIN, END = "<!-- made by scripts/ros_interfaces.py -->", "<!-- end -->"
EXECUTABLES = {
    "sim": "spca_sim sim",
    "sense": "spca_sense sense",
    "planner": "spca planner",
    "coder": "spca coder",
    "referee": "spca_referee referee",
    "display": "spca_tabletop display",
}
"""`ros2 run` starts a node alone by these; `spca program` starts all that think, in one process."""
NODES = {
    "sim": "simulates robot, camera and contacts, and drives the arm",
    "sense": "detects objects in RGB-D frames and tracks them",
    "planner": "drafts and checks plans",
    "coder": "writes skills that are missing",
    "executor": "has the arm look and plans carried out, and says who drives it",
    "referee": "tells the verdict; alone, judges contacts and places by a level's conditions",
    "supervisor": "has levels run and sentences carried out, and tells what happens",
    "display": "draws a run as markers, for people; `markers:=false` leaves it out of a launch",
}
MEANINGS = {
    "/clock": "simulated time",
    "/joint_states": "the arm's six joints and the gripper's driven joint",
    "/camera/color/image_raw": "picture, when one is taken",
    "/camera/depth/image_raw": "depth in metres, with the picture",
    "/camera/color/camera_info": "calibration of the camera, with the picture",
    "/camera/depth/camera_info": "the same, where viewers of depth look for it",
    "/wrist_camera/color/image_raw": "the same of the wrist camera, where the world has one",
    "/wrist_camera/depth/image_raw": "its depth in metres, with the picture",
    "/wrist_camera/color/camera_info": "its calibration, with the picture",
    "/wrist_camera/depth/camera_info": "the same, where viewers of depth look for it",
    "/contacts": "which models touch: ground truth, for the referee and people only",
    "/places": "where things are: ground truth, for the referee only, while a level asks for it",
    "/supervisor/events": "what happens in a run",
    "/scene": "what was detected and is remembered",
    "/plan": "the plan to be carried out",
    "/plan/behavior_tree": "the plan as a behaviour tree, BehaviorTree.CPP's XML; Groot2 opens it",
    "/verdict": "the referee's judgement",
    "/markers/objects": "detected objects with names; remembered ones are fainter",
    "/markers/plan": "the plan as text, done and present steps marked",
    "/markers/contacts": "pairs of models in contact, as text",
    "/markers/verdict": "the verdict as text, in its colour",
    "/markers/grasps": "bar between the fingertips of each grasp that was considered; the best one is opaque",
    "/markers/path": "way of the tool's centre on the trajectory under way",
    "/executor/grasps": "grasps that a skill was offered, the best first",
    "/executor/trajectory": "the trajectory that was started last",
    "/arm/follow_trajectory": "track a trajectory, in place of any other",
    "/gripper/command": "drive the pads to a gap in metres",
    "/camera/capture": "take a picture now",
    "/wrist_camera/capture": "take a picture with the wrist camera now, where the world has one",
    "/arm/hold": "stop the arm where it is",
    "/sim/let_pass": "let time pass, up to 0.1 s",
    "/sim/save_recording": "write what was recorded into a run's folder, and forget it",
    "/sim/reset": "lay the table again, with the robot at home",
    "/sense/perceive": "take a picture and update the scene",
    "/planner/make_plan": "a plan for an observation and a task",
    "/planner/learned": "keep the domain of a plan that solved its level",
    "/coder/write_skills": "the skills that a plan needs",
    "/executor/execute_plan": "carry out a plan, step by step",
    "/executor/look": "move the arm out of view and perceive",
    "/executor/stop": "stop the arm and end what is under way",
    "/referee/begin_level": "judge a level from now on (of a referee that is started alone)",
    "/referee/judge": "what the referee says now",
    "/supervisor/run_level": "run a level from the first look to the verdict",
    "/supervisor/do": "carry out a sentence on the table as it is",
}
FAMILIES = {"status": "the node is ready, or why not"}
_DISCOVERY_S = 2.0  # wall seconds until the nodes of two contexts have found each other
_STANDARD = ("/rosout", "/parameter_events", "get_type_description", "_action/")
_PARAMETER_SERVICES = ("describe_parameters", "get_parameter_types", "get_parameters", "list_parameters",
                       "set_parameters", "set_parameters_atomically")  # fmt: skip
_HIDDEN_PARAMETERS = ("use_sim_time", "start_type_description_service", "qos_overrides")


@contextmanager
def all_nodes() -> Iterator[list[SpcaNode]]:
    """Every node of the project in this process, with its default parameters."""
    with own_domain():
        rclpy.init()
        nodes: list[SpcaNode] = []
        try:
            nodes += [SimNode(), DisplayNode()]
            with program(kits()[0]) as made:
                time.sleep(_DISCOVERY_S)
                yield [*made.nodes, *nodes]
        finally:
            close_nodes(nodes)
            rclpy.try_shutdown()


def tables(nodes: Iterable[SpcaNode]) -> str:
    """All tables as Markdown."""
    nodes = sorted(nodes, key=lambda n: list(NODES).index(n.get_name()))
    parts = [
        "## Nodes",
        _table(
            ("node", "`ros2 run`", "what it does"),
            [
                (f"`{n}`", f"`{EXECUTABLES.get(n, 'spca program')}`", NODES[n])
                for n in (x.get_name() for x in nodes)
            ],
        ),
    ]
    topics: dict[tuple[str, str], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    services: dict[tuple[str, str], list[str]] = defaultdict(list)
    actions: dict[tuple[str, str], list[str]] = defaultdict(list)
    for node in nodes:
        name = node.get_name()
        for side, found in enumerate(
            (
                node.get_publisher_names_and_types_by_node(name, "/"),
                node.get_subscriber_names_and_types_by_node(name, "/"),
            )
        ):
            for topic, kinds in found:
                topics[topic, kinds[0]][side].append(name)
        for service, kinds in node.get_service_names_and_types_by_node(name, "/"):
            if service.rpartition("/")[2] not in _PARAMETER_SERVICES:
                services[service, kinds[0]].append(name)
        for action, kinds in get_action_server_names_and_types_by_node(node, name, "/"):
            actions[action, kinds[0]].append(name)
    rows = [(t, k, _names(p), _names(s), meaning(t)) for (t, k), (p, s) in sorted(topics.items()) if _own(t)]
    parts += ["## Topics", _table(("topic", "type", "from", "to", "what it says"), rows)]
    for title, found in (("Services", services), ("Actions", actions)):
        rows = [(n, k, _names(by), meaning(n)) for (n, k), by in sorted(found.items()) if _own(n)]
        parts += [f"## {title}", _table((title.lower()[:-1], "type", "of", "what it does"), rows)]
    parts += [
        "## Parameters",
        _table(("node", "parameter", "default", "allowed", "what it is"), _parameters(nodes)),
    ]
    return "\n\n".join(parts)


def meaning(name: str) -> str:
    """The description of a name. Raises KeyError if there is none."""
    return MEANINGS[name] if name in MEANINGS else FAMILIES[name.rpartition("/")[2]]


def _own(name: str) -> bool:
    return not any(part in name for part in _STANDARD)


def _names(nodes: list[str]) -> str:
    return ", ".join(dict.fromkeys(nodes)) or "–"


def _parameters(nodes: Iterable[SpcaNode]) -> list[tuple[str, ...]]:
    rows = []
    for node in nodes:
        for name in sorted(node._parameters):
            if not name.startswith(_HIDDEN_PARAMETERS):
                said, value = node.describe_parameter(name), node.get_parameter(name).value
                shown = str(value).lower() if isinstance(value, bool) else str(value)
                rows.append(
                    (node.get_name(), f"`{name}`", shown or "(empty)", _allowed(said), said.description)
                )
    return rows


def _allowed(said: ParameterDescriptor) -> str:
    ranges = [*said.floating_point_range, *said.integer_range]
    text = said.additional_constraints.removeprefix("one of: ")
    for bounds in ranges:
        low, high = bounds.from_value, bounds.to_value
        text = f"at least {low:g}" if high > 1e15 else f"{low:g} to {high:g}"
    return text + ("" if said.read_only else " (may be changed)")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page(made: str) -> str:
    """The page with its tables replaced."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Compare, or write."""
    with all_nodes() as nodes:
        wanted = page(tables(nodes))
    if "--write" in sys.argv:
        PAGE.write_text(wanted, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != wanted:
        sys.exit(f"{PAGE.name} is out of date: python scripts/ros_interfaces.py --write")


if __name__ == "__main__":
    main()
