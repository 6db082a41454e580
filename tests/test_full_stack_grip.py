"""Turn and slip of what is carried, from poses as Gazebo sends them."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
from full_stack_grip import Carry, carries
from full_stack_launch import Figures, judged


def judge(carried: list[Carry]) -> Figures:
    """The figures of a success in which these were carried."""
    return judged({"outcome": "success", "rounds": 1}, 0, [], {}, carried)


OPEN, HELD = 0.12, 0.075  # m between the tips' joints
PAD = 0.0323
DOWN = Rotation.from_euler("x", 180, degrees=True)


def pose(name: str, at: np.ndarray, turn: Rotation) -> dict[str, object]:
    """As protobuf writes it: what is zero is left out."""
    place = {axis: float(v) for axis, v in zip("xyz", at, strict=True) if v}
    x, y, z, w = turn.as_quat()
    parts = {axis: float(v) for axis, v in zip("xyzw", (x, y, z, w), strict=True) if v}
    return {"name": name, "id": 1, "position": place, "orientation": parts}


def pick_and_place(turn: float = 0.0, slip: float = 0.0, dropped: bool = False) -> Iterator[str]:
    """A cube is gripped, lifted, carried by a tool that turns, put down and let go; another one stands by."""
    cube, yaw = np.array([0.4, 0.1, 0.42]), 0.0
    for step in range(300):
        time = step / 30
        lift = 0.1 * float(np.interp(time, [2, 3, 7, 8], [0, 1, 1, 0]))
        along = 0.2 * float(np.interp(time, [3, 7], [0, 1]))
        yaw = math.radians(60) * float(np.interp(time, [3, 7], [0, 1]))
        between = float(np.interp(time, [0.5, 1, 8.5, 9], [OPEN, HELD, HELD, OPEN]))
        done = float(np.interp(time, [4, 5], [0, 1]))  # it slips and turns on the way
        tool = Rotation.from_euler("z", yaw) * DOWN
        centre = cube + np.array([along, 0.0, lift])
        lost = dropped and time > 5
        held = Rotation.from_euler("y", done * turn, degrees=True)
        fallen = np.array([0.5, 0.1, max(0.52 - 4.9 * (time - 5) ** 2, 0.42)])
        at = fallen if lost else centre + tool.apply([0.0, 0.0, done * slip])
        if lost:
            between = 0.04
        middle = centre - tool.apply([0.0, 0.0, PAD])
        tips = [
            pose(f"{side}_tip_link", middle + tool.apply([0.0, out * between / 2, 0.0]), tool)
            for side, out in (("left", 1), ("right", -1))
        ]
        thing = pose("box_red", at, tool * held * DOWN.inv())
        other = pose("box_blue", np.array([0.41, 0.15, 0.42]), Rotation.identity())
        stamp = {"sec": str(int(time)), "nsec": round((time % 1) * 1e9)}
        robot = pose("cobot", np.zeros(3), Rotation.identity())
        yield json.dumps({"header": {"stamp": stamp}, "pose": [robot, *tips, thing, other]})


@pytest.mark.parametrize(("turn", "slip"), [(0.0, 0.0), (0.3, 0.0), (25.0, 0.0), (0.0, 0.0015), (2.0, 0.012)])
def test_turn_and_slip_are_those_of_the_way(turn: float, slip: float) -> None:
    [carry] = carries(pick_and_place(turn, slip))
    assert (carry.thing, carry.turn) == ("box_red", pytest.approx(turn, abs=0.01))
    assert carry.slip == pytest.approx(slip, abs=1e-5)
    assert 2 < carry.begin < 2.2 and 7.7 < carry.end < 8
    assert judge([carry]).firm is (turn <= 5 and slip <= 0.002)


def test_what_is_dropped_has_slipped() -> None:
    assert not judge(carries(pick_and_place(dropped=True))).well


def test_a_line_that_was_cut_off_and_a_robot_that_moves_nothing_say_nothing() -> None:
    lines = list(pick_and_place())
    assert len(carries([*lines, lines[0][:40]])) == 1
    assert carries(lines[:50]) == []
    assert judge([]).well and judge([]).words.endswith("nothing carried")
    firm = judge([Carry("box", 0, 1, 0.3, 0.0004)])
    assert firm.well and firm.words.endswith("turned 0.3° and slipped 0.4 mm in the grip")
