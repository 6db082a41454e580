from __future__ import annotations

import itertools
import math

import pytest
import yaml

from spca_core.layout import nominal_layout, random_layout
from spca_core.world import load_world
from spca_gazebo.bridge import bridge_config
from spca_gazebo.finger import Press, command, finger_state
from spca_gazebo.reset import accepted, parking, placement, pose_request, pose_service, untouched
from spca_gazebo.write import write_all
from spca_robot.gripper_2f85 import CLOSED_ANGLE

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


def test_the_request_moves_all_models_at_once():
    layout = random_layout(WORLD, 3)
    request = pose_request(placement(WORLD, layout))
    assert pose_service(WORLD) == "/world/tabletop/set_pose_vector"
    assert request.count("pose {") == len(WORLD.objects)
    x = layout.poses["box_red"].position[0]
    assert f'name: "box_red" position {{x: {x:.9g}' in request


def test_the_answer_of_the_service():
    assert accepted("data: true\n")
    assert not accepted("Service call timed out") and not accepted("data: false")


def test_silent_contacts_after_a_reset_are_noticed():
    layout = nominal_layout(WORLD)
    table = WORLD.table.model
    resting = [(name, table) for name in layout.poses]
    assert untouched(layout, resting) == []
    assert untouched(layout, resting[1:]) == [resting[0][0]]
    assert untouched(layout, []) == sorted(layout.poses)


def test_finger_command_and_gap_are_inverse_and_within_limits():
    for gap in (0.0, 0.01, 0.04, 0.085):
        assert finger_state(command(gap), 0.0, command(gap)).gap == pytest.approx(gap, abs=1e-9)
    assert command(-0.1) == pytest.approx(CLOSED_ANGLE) and command(1.0) == pytest.approx(0.0, abs=1e-9)
    assert command(0.0, upper=0.8) == 0.8


def test_only_a_finger_that_rests_short_of_its_command_presses():
    cube, closed = command(0.04), command(0.01)
    assert finger_state(cube, 0.0, closed).force == pytest.approx(46, abs=3)  # as the embedded gripper
    assert finger_state(cube, 1.0, closed).force == 0.0  # still moving
    assert finger_state(cube, 0.0, cube).force == 0.0
    assert finger_state(cube, 0.0, 0.0).force == 0.0  # opening


def pressed_on(angle: float, goal: float, until: float = 0.6) -> tuple[Press, list[tuple[float, float]]]:
    """A finger sent to `goal` at time 0 that rests at `angle` from 0.3 s on, and where it was sent when."""
    press, sent = Press(), []
    press.command(goal, 0.0)
    for i in range(round(until / 0.004)):
        stamp = i * 0.004
        moving = stamp < 0.3
        target = press.update(stamp, angle * min(stamp / 0.3, 1.0), angle / 0.3 if moving else 0.0)
        if target is not None:
            sent.append((stamp, target))
    return press, sent


def test_a_blocked_finger_is_sent_just_beyond_where_it_is_and_still_counts_as_pressing():
    cube, closed = command(0.04), command(0.0)
    press, sent = pressed_on(cube, closed)
    assert len(sent) == 1
    stamp, target = sent[0]
    assert 0.3 < stamp < 0.4 and cube < target < cube + 0.005
    assert finger_state(cube, 0.0, press.goal).force > 40


def test_when_what_it_held_gives_way_the_finger_goes_on_to_where_it_was_sent():
    cube, closed = command(0.04), command(0.0)
    press, sent = pressed_on(cube, closed)
    assert press.update(0.7, sent[0][1], 0.0) == closed


def test_a_finger_that_gets_where_it_is_sent_or_opens_is_left_alone():
    assert pressed_on(command(0.04), command(0.04))[1] == []
    assert pressed_on(command(0.04), command(0.085))[1] == []


def test_written_bridge_file_lists_what_the_node_needs(tmp_path):
    files = write_all(WORLD, tmp_path)
    entries = yaml.safe_load(files.bridge.read_text())
    assert entries == bridge_config()
    kinds = {e["gz_type_name"] for e in entries}
    assert {"gz.msgs.Clock", "gz.msgs.Image", "gz.msgs.Contacts"} <= kinds
    assert all(e["direction"] == "GZ_TO_ROS" for e in entries)
