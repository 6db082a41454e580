"""By how much what the gripper carries in Gazebo turns and slips, from Gazebo's own poses.

This is a judge's knowledge: nothing of the stack sees it. Metres, degrees, simulated seconds.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

MOST_TURN, MOST_SLIP = 5.0, 0.002
"""Of what is carried (degrees, m); more is a loose grip."""
TIPS = ("left_tip_link", "right_tip_link")
_OPENED = 0.0006  # m by which the pads have opened when what was held is let go; while they hold, by 0.3 mm
_LIFTED = 0.005  # m above where it stood before, and above where it stands afterwards
_NEAR = 0.06  # m between a thing's centre and the middle between the pads
_PAD = 0.0323  # m from the tips' joints to the pads' centres, along the tips' z
_SAMPLES = 3

Vector = tuple[float, ...]


class Frame(NamedTuple):
    """A pose: position, and a unit quaternion (x, y, z, w)."""

    at: Vector
    turn: Vector


class Carry(NamedTuple):
    """A thing that was carried from one time to another, and the most that it turned and slipped."""

    thing: str
    begin: float
    end: float
    turn: float
    slip: float


def carries(lines: Iterable[str], things: Callable[[str], bool] | None = None) -> list[Carry]:
    """What was carried, from the messages on Gazebo's topic of poses, one JSON document a line."""
    wanted = things or _is_thing
    grip: list[tuple[float, dict[str, Frame]]] = []
    closed, found = math.inf, []
    for line in lines:
        moment = _moment(line)
        if moment is None or not set(TIPS) <= set(moment[1]):
            continue
        between = math.dist(moment[1][TIPS[0]].at, moment[1][TIPS[1]].at)
        if grip and (between > closed + _OPENED or moment[0] < grip[-1][0]):
            found += _carried(grip, wanted, let_go=True)
            grip, closed = [], math.inf
        closed = min(closed, between)
        grip.append(moment)
    return found + _carried(grip, wanted, let_go=False)


class GripWatch:
    """Writes down Gazebo's poses while a launch lasts."""

    def __init__(self, gazebo: int, file: Path) -> None:
        """`gazebo` is the process of the server, whose command and environment say where its poses are."""
        command = Path(f"/proc/{gazebo}/cmdline").read_text().split("\0")
        environment = dict(
            e.partition("=")[::2] for e in Path(f"/proc/{gazebo}/environ").read_text().split("\0")
        )
        world = next(Path(word).stem for word in command if word.endswith(".sdf"))
        topic = f"/world/{world}/dynamic_pose/info"
        self._file = file
        with file.open("w") as out:
            self._process = subprocess.Popen(
                ["gz", "topic", "--echo", "--json-output", "--topic", topic],
                stdout=out,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **environment},
            )

    def end(self) -> list[Carry]:
        """Stop; returns what was carried."""
        self._process.kill()
        self._process.wait()
        with self._file.open(errors="replace") as lines:
            return carries(lines)


def _is_thing(name: str) -> bool:
    """Return whether the name is of a model that may be carried: a link's or the robot's is not."""
    return "link" not in name and name not in ("cobot", "gripper_base", "tool0", "world", "camera")


def _moment(line: str) -> tuple[float, dict[str, Frame]] | None:
    try:
        message = json.loads(line)
    except ValueError:  # the last line may be cut off
        return None
    stamp = message.get("header", {}).get("stamp", {})
    seconds = float(stamp.get("sec", 0)) + 1e-9 * float(stamp.get("nsec", 0))
    return seconds, {pose["name"]: _frame(pose) for pose in message.get("pose", ())}


def _frame(pose: Mapping[str, Any]) -> Frame:
    at, turn = pose.get("position", {}), pose.get("orientation", {})
    return Frame(
        tuple(float(at.get(axis, 0)) for axis in "xyz"), tuple(float(turn.get(axis, 0)) for axis in "xyzw")
    )


def _carried(
    grip: Sequence[tuple[float, dict[str, Frame]]], wanted: Callable[[str], bool], let_go: bool
) -> list[Carry]:
    """Of the time until the pads open: what was lifted, from then until it is near where it ends.

    What is not let go is in the air at the end.
    """
    found = []
    for name in filter(wanted, grip[0][1] if grip else ()):
        heights = [poses[name].at[2] if name in poses else -math.inf for _, poses in grip]
        low = max(heights[0], heights[-1]) if let_go else heights[0]
        up = [i for i, height in enumerate(heights) if height > low + _LIFTED]
        held = grip[up[0] : up[-1] + 1] if up else ()
        if len(held) < _SAMPLES:
            continue
        frames = [_in_tool(poses, name) for _, poses in held if name in poses]
        first = frames[0]
        if math.hypot(*first.at) > _NEAR:
            continue
        turn = max(_angle(first.turn, frame.turn) for frame in frames)
        slip = max(math.dist(first.at, frame.at) for frame in frames)
        found.append(Carry(name, held[0][0], held[-1][0], turn, slip))
    return found


def _in_tool(poses: Mapping[str, Frame], name: str) -> Frame:
    """A thing's pose from the middle between the pads, in the axes of the left tip."""
    robot = poses.get("cobot", Frame((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
    left, right = (_times(robot, poses[tip]) for tip in TIPS)
    middle = tuple((a + b) / 2 for a, b in zip(left.at, right.at, strict=True))
    centre = _times(Frame(middle, left.turn), Frame((0.0, 0.0, _PAD), (0.0, 0.0, 0.0, 1.0)))
    back = _conjugate(left.turn)
    thing = poses[name]
    away = tuple(a - b for a, b in zip(thing.at, centre.at, strict=True))
    return Frame(_turned(back, away), _product(back, thing.turn))


def _times(a: Frame, b: Frame) -> Frame:
    at = tuple(x + y for x, y in zip(a.at, _turned(a.turn, b.at), strict=True))
    return Frame(at, _product(a.turn, b.turn))


def _product(a: Vector, b: Vector) -> Vector:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _conjugate(q: Vector) -> Vector:
    return (-q[0], -q[1], -q[2], q[3])


def _turned(q: Vector, v: Vector) -> Vector:
    return _product(_product(q, (*v, 0.0)), _conjugate(q))[:3]


def _angle(a: Vector, b: Vector) -> float:
    """Degrees between two orientations."""
    *axis, w = _product(_conjugate(a), b)
    return math.degrees(2 * math.atan2(math.hypot(*axis), abs(w)))
