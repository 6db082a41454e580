"""The node `display`: listens to a run and draws it. Nothing listens to it but people.

Texts are plain ASCII, as RViz draws no other letter. A column is one text of several lines, as RViz centres
every text on its place.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence

import numpy as np
from geometry_msgs.msg import Point, PoseArray, Vector3
from rclpy.publisher import Publisher
from spca_interfaces.msg import Contacts, RunEvent
from spca_interfaces.msg import Plan as PlanMsg
from spca_interfaces.msg import Scene as SceneMsg
from spca_interfaces.msg import Verdict as VerdictMsg
from std_msgs.msg import ColorRGBA, String
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import Marker, MarkerArray

from spca_core.contacts import Pair
from spca_core.geometry import Pose, Vec3
from spca_core.kinds import is_round
from spca_core.names import words_of
from spca_core.plan import Step, behaviour_tree
from spca_core.result import Outcome, Verdict
from spca_core.scene import Scene, SceneObject
from spca_core.world import World, load_world
from spca_robot.gripper_2f85 import STROKE
from spca_robot.kinematics import NOMINAL_GAP, ToolKinematics
from spca_ros import names
from spca_ros.convert.contacts import contact_samples
from spca_ros.convert.records import WORLD_FRAME, from_msg, pose_from_msg, pose_msg
from spca_ros.convert.robot import trajectory
from spca_ros.node import SpcaNode, main_of
from spca_ros.qos import EVERY, STATE
from spca_sense.catalogue import PALETTE

Colour = tuple[float, float, float, float]

_COLOURS = {colour.name: colour.rgb for colour in PALETTE}
_GREY: Vec3 = (0.6, 0.6, 0.6)
_WHITE: Colour = (1.0, 1.0, 1.0, 1.0)
_OUTCOMES: dict[Outcome, Colour] = {
    Outcome.RUNNING: _WHITE,
    Outcome.SUCCESS: (0.3, 1.0, 0.4, 1.0),
    Outcome.FAIL: (1.0, 0.35, 0.3, 1.0),
    Outcome.TIMEOUT: (1.0, 0.7, 0.2, 1.0),
}
_SEEN, _REMEMBERED = 0.8, 0.25  # opacity
_BLACK: Colour = (0.0, 0.0, 0.0, 1.0)
_LETTER, _SMALL = 0.03, 0.022  # m: height of the letters in columns, and in names
_LARGE = 2 * _SMALL  # of those of the verdict
_SLOPE = 0.55  # tangent of the angle at which the camera in launch/rviz/spca.rviz looks down
_WIDTH = 60  # letters on a line of the verdict
_ORIGIN = Pose(position=(0.0, 0.0, 0.0))
_GROW = 0.002  # m: drawn around an object, not in its faces


def _marker(
    kind: int, pose: Pose, size: Vec3, colour: Colour, text: str = "", points: Iterable[Vec3] = ()
) -> Marker:
    """Return a box, a cylinder, a text or a line.

    A cylinder's size is diameter, diameter, height. A text's `size[2]` is the height of its letters and its
    `size[0]` the width of a space; without it RViz takes the space of letters of 0.1 m. A line goes through
    `points`, which are in the frame `world`, and size[0] is its width.
    """
    r, g, b, a = colour
    sx, sy, sz = size
    marker = Marker(
        type=kind,
        pose=pose_msg(pose),
        scale=Vector3(x=sx, y=sy, z=sz),
        color=ColorRGBA(r=r, g=g, b=b, a=a),
        points=[Point(x=x, y=y, z=z) for x, y, z in points],
        text=text,
    )
    marker.header.frame_id = WORLD_FRAME
    return marker


def scene_pictures(scene: Scene, world: World) -> list[Marker]:
    """Draw the table, and every detected object with its name; those only remembered are fainter.

    Names stand above a stack, the uppermost first: a name of its own above each would be in the next one.
    """
    pictures = [_table(world)]
    for thing in scene.objects:
        r, g, b = _COLOURS.get(thing.colour, _GREY)
        look = (r, g, b, _SEEN if thing.visible else _REMEMBERED)
        x, y, z = (edge + 2 * _GROW for edge in thing.size)
        shape = Marker.CYLINDER if is_round(thing.kind) else Marker.CUBE
        pictures.append(_marker(shape, thing.pose, (x, y, z), look))
    for stack in _stacks(scene.objects):
        lines = [words_of(t.id) + ("" if t.visible else " (remembered)") for t in reversed(stack)]
        x, y, z = stack[-1].pose.position
        behind = _SLOPE * max(stack[-1].size[:2]) / 2  # in a slanting view, behind its top and not before it
        # (RViz's lines are two letters high.)
        middle = z + stack[-1].size[2] / 2 + behind + len(lines) * _SMALL
        pictures.append(_text(Pose(position=(x, y, middle)), "\n".join(lines), _BLACK, _SMALL))
    return pictures


def plan_pictures(steps: Sequence[Step], done: int, world: World) -> list[Marker]:
    """Draw the plan as a column of text by the table; `done` steps have ended, the next is under way."""
    marks = ("[x]" if i < done else "[>]" if i == done else "[  ]" for i in range(len(steps)))
    return _column([f"{mark} {step}" for mark, step in zip(marks, steps, strict=True)], _WHITE, world)


def contact_pictures(pairs: Iterable[Pair], world: World) -> list[Marker]:
    """Draw the contacts as a column of text on the table's other side. Ground truth: for people only."""
    return _column([f"{a} - {b}" for a, b in sorted(pairs)], (0.7, 0.85, 1.0, 1.0), world, left=False)


def grasp_pictures(poses: Sequence[Pose]) -> list[Marker]:
    """Draw candidate grasps, each as the bar between its two fingertips.

    The best one is opaque and comes first.
    """
    return [
        _marker(Marker.CUBE, pose, (0.006, STROKE, 0.006), (0.3, 1.0, 0.5, 0.9 if i == 0 else _REMEMBERED))
        for i, pose in enumerate(poses)
    ]


def path_pictures(points: Sequence[Vec3]) -> list[Marker]:
    """Draw the path of the tool centre point on a trajectory."""
    if len(points) < 2:
        return []
    return [_marker(Marker.LINE_STRIP, _ORIGIN, (0.004, 0.0, 0.0), (1.0, 0.75, 0.2, 0.9), points=points)]


def verdict_pictures(verdict: Verdict, world: World) -> list[Marker]:
    """Draw the verdict above the table, in the colour of its outcome."""
    words = f"{verdict.outcome.value}  {verdict.score:.2f}\n{textwrap.fill(verdict.reason, _WIDTH)}".strip()
    x, y = world.table.centre
    pose = Pose(position=(x, y, world.table.top + 0.75))
    return [_text(pose, words, _OUTCOMES[verdict.outcome], _LARGE)]


def _table(world: World) -> Marker:
    """Draw the slab a little lower than it is, so that a cloud of depths on it is seen."""
    table = world.table
    x, y = table.centre
    pose = Pose(position=(x, y, table.top - table.size[2] / 2 - 2 * _GROW))
    return _marker(Marker.CUBE, pose, table.size, (*table.colour, 1.0))


def _stacks(things: Iterable[SceneObject]) -> list[list[SceneObject]]:
    """Return the stacks of things that lie on one another, each from below."""
    stacks: list[list[SceneObject]] = []
    for thing in sorted(things, key=lambda t: t.pose.position[2]):
        x, y, _ = thing.pose.position
        for stack in stacks:
            below_x, below_y, _ = stack[-1].pose.position
            if math.hypot(x - below_x, y - below_y) < max(stack[-1].size[:2]) / 2:
                stack.append(thing)
                break
        else:
            stacks.append([thing])
    return stacks


def _column(lines: Sequence[str], colour: Colour, world: World, left: bool = True) -> list[Marker]:
    """Draw lines of text next to the table."""
    if not lines:
        return []
    table = world.table
    side = table.size[1] / 2 + 0.15
    x, y = table.centre
    pose = Pose(position=(x, y + (side if left else -side), table.top + 0.4))
    return [_text(pose, "\n".join(lines), colour)]


def _text(pose: Pose, words: str, colour: Colour, letter: float = _LETTER) -> Marker:
    plain = words.encode("ascii", "replace").decode()
    return _marker(Marker.TEXT_VIEW_FACING, pose, (0.5 * letter, 0.0, letter), colour, plain)


OBJECTS, PLAN, CONTACTS, VERDICT, GRASPS, PATH = (
    f"markers/{kind}" for kind in ("objects", "plan", "contacts", "verdict", "grasps", "path")
)
BEHAVIOUR_TREE = "plan/behavior_tree"
_PATH_POINTS = 60  # at most; a trajectory may have many more


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
    def _show(publisher: Publisher, pictures: Sequence[Marker]) -> None:
        clear = Marker(action=Marker.DELETEALL)
        clear.header.frame_id = WORLD_FRAME
        for number, picture in enumerate(pictures, 1):
            picture.id = number
        publisher.publish(MarkerArray(markers=[clear, *pictures]))


main = main_of(DisplayNode)

if __name__ == "__main__":
    main()
