from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from spca_core.errors import InputError
from spca_core.layout import nominal_layout
from spca_core.trajectory import JointState
from spca_core.world import load_world
from spca_robot.description.moveit_config import UPDATE_RATE, controllers
from spca_robot.description.names import GENERATED, GRIPPER_CONTROLLER
from spca_robot.gripper_2f85 import CLOSED_ANGLE
from spca_sim.gazebo.controller import Finger, command, ramp_time
from spca_sim.gazebo.reset import ask, placement, untouched, watched_models

WORLD = load_world()


def test_objects_without_a_place_are_parked_apart_on_the_ground_away_from_the_table():
    layout = nominal_layout(WORLD)
    places = placement(WORLD, layout.model_copy(update={"poses": {"box_blue": layout.poses["box_blue"]}}))
    assert set(places) == {o.model for o in WORLD.objects}
    assert places.pop("box_blue") == layout.poses["box_blue"]
    for name, pose in places.items():
        assert pose.position[2] == pytest.approx(WORLD.object(name).size[2] / 2)
        assert not WORLD.table.contains(*pose.position[:2], margin=-0.3)
    for a, b in itertools.combinations(places.values(), 2):
        assert math.dist(a.position, b.position) > 0.2


def test_silent_contacts_after_a_reset_are_noticed():
    layout = nominal_layout(WORLD)
    table = WORLD.table.model
    resting = [(name, table) for name in layout.poses]
    everything = watched_models("", WORLD)
    assert untouched(layout, resting, everything) == []
    assert untouched(layout, resting[1:], everything) == [resting[0][0]]
    assert untouched(layout, [], everything) == sorted(layout.poses)
    assert untouched(layout, [], ["box_red"]) == ["box_red"]  # the others' contacts are not reported
    assert watched_models("box_blue, box_red", WORLD) == ("box_blue", "box_red")
    with pytest.raises(InputError, match="no object 'box_rad'"):
        watched_models("box_rad", WORLD)


@pytest.mark.parametrize(
    ("says", "told", "times"),
    [
        ("data: true", "", 1),
        ("Service call timed out", "Gazebo refuses: Service call timed out", 3),
        ("data: false", "Gazebo refuses: data: false", 1),
    ],
)
def test_gazebo_is_asked_by_its_program_and_again_when_it_is_too_busy_to_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: str, told: str, times: int
) -> None:
    program = tmp_path / "gz"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\necho "{says}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert ask("/world/w/set_pose_vector", "Pose_V", "pose {}", lambda _: None) == told
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == times
    assert (
        "service -s /world/w/set_pose_vector --reqtype gz.msgs.Pose_V" in asked[0] and "pose {}" in asked[0]
    )
    program.unlink()
    assert "cannot be asked" in ask("/world/w/set_pose_vector", "Pose_V", "pose {}")


def felt(goal: float, blocked: Callable[[float], float], begin: float = 0.0) -> list[JointState]:
    """Two seconds of a finger under its controller's law, with a servo that reaches a speed unless blocked.

    `blocked(time)` is the angle at which something is in its way.
    """
    names = GENERATED
    gains = yaml.safe_load(controllers(names, ()))[GRIPPER_CONTROLLER]["ros__parameters"]["gains"][
        names.commanded
    ]
    finger, angle, duration, step = Finger(), begin, ramp_time(begin, goal), 1 / UPDATE_RATE
    finger.goal, states = goal, []
    for time in np.arange(0.0, 2.0, step):
        share = min(time / duration, 1.0)
        desired = begin + (goal - begin) * share * share * (3 - 2 * share)
        forward = (goal - begin) / duration * 6 * share * (1 - share)
        speed = gains["ff_velocity_scale"] * forward + gains["p"] * (desired - angle)
        angle = min(blocked(time), angle + speed * step)
        states.append(finger.felt(JointState(time, np.zeros(6), np.zeros(6), 0.0), angle))
    return states


CUBE, CLOSED = command(0.04), command(0.01)


@pytest.mark.parametrize(
    ("begin", "gap"), [(0.0, 0.04), (0.0, 0.0), (command(0.03), 0.085), (command(0.03), 0.035)]
)
def test_a_free_finger_gets_there_without_force(begin: float, gap: float):
    states = felt(command(gap), lambda _: math.inf, begin)
    assert states[-1].gripper_gap == pytest.approx(gap, abs=5e-4)
    assert all(state.gripper_force == 0.0 for state in states if state.stamp > 0.12)


def test_a_finger_command_is_within_limits():
    assert command(-0.1) == pytest.approx(CLOSED_ANGLE) and command(1.0) == pytest.approx(0.0, abs=1e-9)
    assert command(0.0, upper=0.8) == 0.8


def test_a_held_back_finger_presses_with_all_its_force_and_the_loss_of_what_it_held_is_noticed():
    states = felt(CLOSED, lambda time: CUBE if time < 1.8 else math.inf)
    pressing = [state for state in states if 1.0 < state.stamp < 1.79]
    assert all(state.gripper_force == pytest.approx(46, abs=3) for state in pressing)  # as embedded
    assert states[-1].gripper_force == 0.0
