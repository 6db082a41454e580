"""The calls that a tabletop skill may make through its `ctx`."""

from __future__ import annotations

from spca_core.skill import CtxApi, CtxMethod

_METHODS = (
    (
        "locate",
        "locate(name: str) -> Thing",
        "The object with that name as last seen: .name .kind .colour .x .y .z (centre, metres, world frame) "
        ".yaw (radians) .top (height of its upper face) .size [x, y, z] .visible .confidence. Fails if unknown.",
    ),
    ("scene", "scene() -> list[Thing]", "Every object as last seen."),
    (
        "look",
        "look() -> list[Thing]",
        "Move the arm out of the camera's view, look again, return every object.",
    ),
    (
        "holds",
        "holds(relation: str, *names: str) -> bool",
        'Whether a relation was seen at the last look, for example holds("on", "cube_red", "cube_blue").',
    ),
    (
        "grasps",
        "grasps(name: str) -> list[Grasp]",
        "Tool poses from which the open fingers fit around the object and can be reached, best first: "
        ".pose .gap (how wide to open). Empty if there are none.",
    ),
    (
        "touch_poses",
        "touch_poses(name: str) -> list[Pose]",
        "Tool poses at which the closed fingertips rest on top of the object, best first.",
    ),
    (
        "spots_on",
        "spots_on(name: str) -> list[Pose]",
        "Tool poses at which the held object rests on a plate or a cube, best (most central, free) first.",
    ),
    (
        "spots_next_to",
        "spots_next_to(name: str) -> list[Spot]",
        "Tool poses beside a cube, best first: .pose leaves a small gap between the two, .contact closes it.",
    ),
    (
        "spots_on_table",
        "spots_on_table() -> list[Pose]",
        "Tool poses that put the held object on free table.",
    ),
    (
        "spots_across",
        "spots_across(a: str, b: str) -> list[Pose]",
        "Tool poses that rest the held object on two cubes side by side.",
    ),
    (
        "spots_at_edge",
        "spots_at_edge(name: str) -> list[Pose]",
        "Tool poses that drop it leaning on a plate's rim.",
    ),
    (
        "spots_off_table",
        "spots_off_table() -> list[Pose]",
        "Tool poses from which the held object falls to the ground.",
    ),
    (
        "move_to",
        "move_to(pose: Pose, speed: float = 1.0) -> None",
        "Move the tool (between the fingertips, fingers pointing down) to a pose, around all obstacles.",
    ),
    (
        "move_linear",
        "move_linear(pose: Pose, speed: float = 1.0) -> None",
        "Move the tool in a straight line; use it for the last centimetres to and from things.",
    ),
    ("move_named", "move_named(name: str) -> None", 'Move to a named posture: "home" or "out_of_view".'),
    (
        "open",
        "open(gap: float = 0.085) -> None",
        "Open the gripper to a gap in metres; what was held is let go.",
    ),
    (
        "close",
        "close(gap: float = 0.0) -> float",
        "Close until something resists; returns the gap in metres.",
    ),
    ("is_holding", "is_holding() -> bool", "Whether something is between the fingers."),
    ("wait", "wait(seconds: float) -> None", "Let simulated time pass (at most 5 s a call)."),
    ("time", "time() -> float", "Simulated time in seconds."),
    ("log", "log(message: str) -> None", "Write a line into the run's record."),
)

TABLETOP_API = CtxApi(
    environment="tabletop",
    methods=tuple(CtxMethod(name=n, signature=s, doc=d) for n, s, d in _METHODS),
    helpers=("pose(x, y, z, yaw=0.0) -> Pose: a tool pose, fingers pointing down and closing across `yaw`",),
)
