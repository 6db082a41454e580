"""The table of docs/full-stack.md, which scripts/full_stack_check writes, and the figures of its runs."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
from full_stack_grip import Carry, carries
from full_stack_launch import Figures, judged, launched
from full_stack_table import rows_of

from spca_core.errors import InputError
from spca_ros.domain import claim

ROOT = Path(__file__).resolve().parents[1]


def test_nobody_else_takes_the_domain_of_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other runs on this machine draw theirs; one of them was met in a launch's, which was refused."""
    monkeypatch.setattr("full_stack_launch.LINE", ("true",))
    with launched(), pytest.raises(InputError, match=f"process {os.getpid()} of "):
        claim(int(os.environ["ROS_DOMAIN_ID"]), "graph")


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The script as on a machine that has none of the real parts."""
    command = [sys.executable, str(ROOT / "scripts" / "full_stack_check"), *arguments]
    return subprocess.run(
        command, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_a_machine_without_the_real_parts_says_what_is_missing_and_keeps_what_was_run(tmp_path: Path) -> None:
    table = tmp_path / "table.md"
    done = check("--table", str(table), "Gazebo", "killed", "MoveIt")
    assert done.returncode == 0, done.stderr
    shown, now = rows_of((ROOT / "docs" / "full-stack.md").read_text()), rows_of(table.read_text())
    assert [row for row in shown if row.ran] == [row for row in now if row.ran]
    fresh = [row for row in now if row not in shown or not row.ran]
    assert "missing: " in done.stdout and all(row.outcome.startswith("missing: ") for row in fresh)
    assert shown and {row.what for row in shown} <= set(check("--list").stdout.splitlines())


def test_before_a_change_lands_a_machine_without_the_real_parts_says_so_in_one_line() -> None:
    done = subprocess.run(
        [str(ROOT / "scripts" / "full_stack_landing")],
        env={**os.environ, "SPCA_ROS": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.count("\n") == 1 and not done.stderr
    assert "at /nowhere (SPCA_ROS) there is no ros_gz_sim" in done.stdout
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith("scripts/full_stack_landing")


def judge(carried: list[Carry], failure: str = "") -> Figures:
    """The figures of a success in which these were carried."""
    data = {"failure": {"kind": failure} if failure else None}
    step = {"kind": "step", "wall": 15, "sim": 15, "stage": "act", "data": data}
    return judged({"outcome": "success", "rounds": 1}, 0, [step], {"verdict": 24.6}, carried)


OPEN, HELD = 0.12, 0.075  # m between the tips' joints
PAD = 0.0323
DOWN = Rotation.from_euler("x", 180, degrees=True)


def pose(name: str, at: np.ndarray, turn: Rotation) -> dict[str, object]:
    """As protobuf writes it: what is zero is left out."""
    place = {axis: float(v) for axis, v in zip("xyz", at, strict=True) if v}
    x, y, z, w = turn.as_quat()
    parts = {axis: float(v) for axis, v in zip("xyzw", (x, y, z, w), strict=True) if v}
    return {"name": name, "id": 1, "position": place, "orientation": parts}


def pick_and_place(turn: float = 0.0, slip: float = 0.0) -> Iterator[str]:
    """A cube is gripped, lifted, carried by a tool that turns, put down and let go."""
    for step in range(300):
        time = step / 30
        lift = 0.1 * float(np.interp(time, [2, 3, 7, 8], [0, 1, 1, 0]))
        share = float(np.interp(time, [3, 7], [0, 1]))
        between = float(np.interp(time, [0.5, 1, 8.5, 9], [OPEN, HELD, HELD, OPEN]))
        done = float(np.interp(time, [4, 5], [0, 1]))  # it slips and turns on the way
        tool = Rotation.from_euler("z", math.radians(60) * share) * DOWN
        centre = np.array([0.4 + 0.2 * share, 0.1, 0.42 + lift])
        middle = centre - tool.apply([0.0, 0.0, PAD])
        tips = [
            pose(f"{side}_tip_link", middle + tool.apply([0.0, out * between / 2, 0.0]), tool)
            for side, out in (("left", 1), ("right", -1))
        ]
        held = Rotation.from_euler("y", done * turn, degrees=True)
        thing = pose("box_red", centre + tool.apply([0.0, 0.0, done * slip]), tool * held * DOWN.inv())
        stamp = {"sec": str(int(time)), "nsec": round((time % 1) * 1e9)}
        yield json.dumps({"header": {"stamp": stamp}, "pose": [*tips, thing]})


@pytest.mark.parametrize(("turn", "slip"), [(0.3, 0.0015), (25.0, 0.0), (2.0, 0.012)])
def test_a_grip_that_lets_a_thing_turn_or_slip_is_a_failure(turn: float, slip: float) -> None:
    [carry] = carries(pick_and_place(turn, slip))
    assert (carry.thing, carry.turn) == ("box_red", pytest.approx(turn, abs=0.01))
    assert carry.slip == pytest.approx(slip, abs=1e-5)
    assert 2 < carry.begin < 2.2 and 7.7 < carry.end < 8
    came = judge([carry])
    assert came.firm is came.well is (turn <= 5 and slip <= 0.002) and f"turned {turn:.1f}°" in came.words


def test_a_line_that_was_cut_off_says_nothing_and_what_is_dropped_is_said() -> None:
    lines = list(pick_and_place())
    assert len(carries([*lines, lines[0][:40]])) == 1
    assert carries(lines[:50]) == [] and judge([]).well
    assert "**dropped 1 times**" in judge([], failure="lost").words
