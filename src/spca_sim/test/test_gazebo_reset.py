from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
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
from spca_sim.gazebo.reset import ask, parking, placement, untouched, watched_models

WORLD = load_world()


def test_parked_objects_lie_apart_on_the_ground_away_from_the_table():
    places = parking(WORLD)
    assert set(places) == {o.model for o in WORLD.objects}
    for name, pose in places.items():
        assert pose.position[2] == pytest.approx(WORLD.object(name).size[2] / 2)
        assert not WORLD.table.contains(*pose.position[:2], margin=-0.3)
    for a, b in itertools.combinations(places.values(), 2):
        assert math.dist(a.position, b.position) > 0.2


def test_every_object_goes_somewhere():
    layout = nominal_layout(WORLD)
    poses = {n: p for n, p in layout.poses.items() if n != "box_red"}
    places = placement(WORLD, layout.model_copy(update={"poses": poses}))
    assert places["box_red"] == parking(WORLD)["box_red"]
    assert places["box_blue"] == layout.poses["box_blue"]
    assert set(places) == {o.model for o in WORLD.objects}


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


def test_gazebo_is_asked_by_its_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """That a busy one is asked again, test_gazebo_node.py shows."""
    program = tmp_path / "gz"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\necho "data: true"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert ask("/world/w/set_pose_vector", "Pose_V", "pose {}") == ""
    asked = (tmp_path / "asked").read_text()
    assert "service -s /world/w/set_pose_vector --reqtype gz.msgs.Pose_V" in asked and "pose {}" in asked
    program.unlink()
    assert "cannot be asked" in ask("/world/w/set_pose_vector", "Pose_V", "pose {}")


def played(goal: float, until: float, blocked: Callable[[float], float], begin: float = 0.0) -> Played:
    """A finger under its controller's law, with a servo that reaches a speed unless something is in the way.

    `blocked(time)` is the angle at which something is.
    """
    names = GENERATED
    gains = yaml.safe_load(controllers(names, ()))[GRIPPER_CONTROLLER]["ros__parameters"]["gains"][
        names.commanded
    ]
    finger, angle, duration, step = Finger(), begin, ramp_time(begin, goal), 1 / UPDATE_RATE
    finger.goal, states = goal, []
    for i in range(round(until / step)):
        share = min(i * step / duration, 1.0)
        desired = begin + (goal - begin) * share * share * (3 - 2 * share)
        forward = (goal - begin) / duration * 6 * share * (1 - share)
        speed = gains["ff_velocity_scale"] * forward + gains["p"] * (desired - angle)
        angle = min(blocked(i * step), angle + speed * step)
        states.append(finger.felt(JointState(i * step, np.zeros(6), np.zeros(6), 0.0), angle))
    return Played(angle, states)


def steps(seconds: float) -> int:
    """Cycles of the controllers in so many seconds."""
    return round(seconds * UPDATE_RATE)


@dataclass
class Played:
    angle: float
    states: list[JointState]


def test_finger_command_is_within_limits_and_a_free_finger_gets_there_without_force():
    assert command(-0.1) == pytest.approx(CLOSED_ANGLE) and command(1.0) == pytest.approx(0.0, abs=1e-9)
    assert command(0.0, upper=0.8) == 0.8
    for begin, gap in ((0.0, 0.04), (0.0, 0.0), (command(0.03), 0.085), (command(0.03), 0.035)):
        finger = played(command(gap), 1.5, lambda _: math.inf, begin)
        assert finger.states[-1].gripper_gap == pytest.approx(gap, abs=5e-4)
        assert all(state.gripper_force == 0.0 for state in finger.states[steps(0.12) :])


def test_a_held_back_finger_presses_with_all_its_force():
    cube, closed = command(0.04), command(0.01)
    finger = played(closed, 2.0, lambda _: cube)
    assert all(
        state.gripper_force == pytest.approx(46, abs=3) for state in finger.states[-steps(0.8) :]
    )  # as embedded


def test_a_finger_whose_contact_was_lost_for_a_moment_is_back_soon():
    """What it holds turns and slides meanwhile (decision 11)."""
    cube, closed, away = command(0.04), command(0.01), command(0.0395)
    finger = played(closed, 2.0, lambda time: away if 1.0 < time < 1.1 else cube if time <= 1.0 else math.inf)
    begun = steps(1.0) + 1
    reached = next(i for i, state in enumerate(finger.states[begun:]) if state.gripper_gap <= 0.0395 + 1e-6)
    assert reached / UPDATE_RATE <= 0.012


def test_a_finger_keeps_pressing_when_what_it_holds_gives_way_a_little():
    cube, closed = command(0.04), command(0.01)
    finger = played(closed, 3.0, lambda time: cube + 0.004 * math.sin(20 * time) ** 2 * (time > 1.0))
    assert all(state.gripper_force > 40 for state in finger.states[steps(0.8) :])


def test_a_finger_that_has_lost_what_it_held_is_noticed():
    cube, closed = command(0.04), command(0.01)
    finger = played(closed, 1.2, lambda time: cube if time < 1.0 else math.inf)
    assert finger.states[steps(1.0) - 1].gripper_force > 40
    assert finger.states[-steps(0.08)].gripper_force == 0.0
