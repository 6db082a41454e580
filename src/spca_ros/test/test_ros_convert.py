"""Every record survives the way through its message, and through DDS's own encoding."""

from array import array
from types import NoneType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from rclpy.serialization import deserialize_message, serialize_message
from spca_interfaces import msg

from spca_core import plan, result, scene
from spca_core.arms import load_arm
from spca_core.camera import RgbdFrame
from spca_core.layout import Layout
from spca_core.plan import Task
from spca_core.scene import Observation
from spca_core.trajectory import JointState, JointTrajectory
from spca_core.world import load_world
from spca_robot.description.names import OPTICAL_FRAME
from spca_ros.convert.camera import colour_msg, depth_msg, frame, info_msg
from spca_ros.convert.records import clean_text, from_msg, time_msg, to_msg
from spca_ros.convert.robot import joint_state, joint_state_msg, trajectory, trajectory_msg
from spca_testing.drawn import Drawn

JOINT_NAMES = load_arm("ur5").joint_names

pytestmark = pytest.mark.ros

# Stamps cross as whole nanoseconds.
stamps = st.integers(0, 10**13).map(lambda n: round(n / 1e9, 9))
numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40),
    float: numbers,
    int: st.integers(0, 2**32 - 1),
    bool: st.booleans(),
    NoneType: st.none(),
    Observation: st.deferred(lambda: observations),
}
FIELDS = {
    **dict.fromkeys(("stamp", "last_seen"), stamps),
    "seed": st.none() | st.integers(-(2**63), 2**63 - 1),
    "line": st.none() | st.integers(1, 2**32 - 1),
    "detail": st.just({}),
    "judge": st.just("referee"),
    "rehearsed": st.just(False),  # for which a message has no field
}
drawn = Drawn(PLAIN, FIELDS)
observations = drawn.values(scene.Scene).map(Observation.of) | st.builds(
    Observation,
    stamp=stamps,
    objects=drawn.values(dict[str, str]),
    facts=drawn.values(tuple[scene.Fact, ...]),
    sentences=drawn.values(tuple[str, ...]),
)
KINDS = (
    scene.Scene, Observation, Task, plan.Plan, plan.PlanRequest, plan.PlanResult, plan.CodeRequest,
    plan.CodeResult, plan.ActResult, result.Verdict, Layout,
)  # fmt: skip
RECORDS: dict[type, type[BaseModel]] = {getattr(msg, kind.__name__): kind for kind in KINDS}


@pytest.mark.parametrize("message", RECORDS, ids=lambda m: m.__name__)
@settings(max_examples=30)
@given(data=st.data())
def test_a_record_comes_back_from_the_wire_as_it_was(message: type, data: st.DataObject) -> None:
    kind = RECORDS[message]
    record = data.draw(drawn.values(kind))
    wire = serialize_message(to_msg(record, message()))
    assert from_msg(kind, deserialize_message(wire, message)) == record


def test_text_that_cannot_cross_is_mended() -> None:
    draft = plan.Draft(domain="a\0b", problem="\ud800", remark="ü→")
    back = from_msg(
        plan.Draft, deserialize_message(serialize_message(to_msg(draft, msg.PddlDraft())), msg.PddlDraft)
    )
    assert back == plan.Draft(domain="a\ufffdb", problem="?", remark="ü→")
    assert clean_text("plain") == "plain"


@pytest.mark.parametrize("stamp", [-0.1, float("nan")])
def test_impossible_stamps_are_refused(stamp: float) -> None:
    with pytest.raises(ValueError):
        time_msg(stamp)


ARMS = {len(names): names for names in (JOINT_NAMES, load_arm("panda").joint_names)}
joints = st.lists(numbers, min_size=7, max_size=7).map(np.array)
arms = st.sampled_from(sorted(ARMS))


@given(arms, joints, joints, st.floats(0, 0.085), st.floats(-60, 60))
def test_joint_states_come_back(
    count: int, position: np.ndarray, velocity: np.ndarray, gap: float, force: float
) -> None:
    position, velocity = position[:count], velocity[:count]
    sent = joint_state_msg(JointState(1.5, position, velocity, gap, force), ARMS[count])
    state = joint_state(sent, ARMS[count])
    assert state.stamp == 1.5
    assert np.array_equal(state.position, position)
    assert np.array_equal(state.velocity, velocity)
    assert state.gripper_gap == pytest.approx(gap, abs=1e-9)
    assert state.gripper_force == pytest.approx(force, abs=1e-6)


def test_joint_states_are_read_by_name() -> None:
    sent = joint_state_msg(JointState(0.0, np.arange(6.0), np.arange(6.0) / 10, 0.04), JOINT_NAMES)
    order = [6, 3, 0, 5, 1, 4, 2]
    for field in ("name", "position", "velocity", "effort"):
        setattr(sent, field, [getattr(sent, field)[i] for i in order])
    state = joint_state(sent, JOINT_NAMES)
    assert np.array_equal(state.position, np.arange(6.0))
    assert state.gripper_gap == pytest.approx(0.04)
    sent.name = ["other", *sent.name[1:]]
    with pytest.raises(ValueError, match="robotiq"):
        joint_state(sent, JOINT_NAMES)


@given(arms, st.lists(st.tuples(st.integers(1, 10**9), joints, joints), min_size=1, max_size=5))
def test_trajectories_come_back(count: int, points: list[tuple[int, np.ndarray, np.ndarray]]) -> None:
    times = np.round(np.cumsum([0, *(p[0] for p in points[1:])]) / 1e9, 9)
    sent = JointTrajectory(times, *(np.array([p[i][:count] for p in points]) for i in (1, 2)))
    got = trajectory(trajectory_msg(sent, ARMS[count]), ARMS[count])
    assert np.array_equal(got.times, sent.times)
    assert np.array_equal(got.positions, sent.positions)
    assert np.array_equal(got.velocities, sent.velocities)


def test_trajectories_that_lack_something_are_refused() -> None:
    message = trajectory_msg(JointTrajectory(np.zeros(1), np.zeros((1, 6)), np.zeros((1, 6))), JOINT_NAMES)
    message.points[0].velocities = []
    with pytest.raises(ValueError, match="velocity"):
        trajectory(message, JOINT_NAMES)
    message.joint_names = list(JOINT_NAMES[:5])
    with pytest.raises(ValueError, match="shoulder_pan_joint"):
        trajectory(message, JOINT_NAMES)


def test_frames_come_back() -> None:
    camera = load_world().camera
    rng = np.random.default_rng(1)
    shape = (camera.height, camera.width)
    sent = RgbdFrame(
        rng.integers(0, 255, (*shape, 3), dtype=np.uint8),
        rng.random(shape, dtype=np.float32),
        camera.intrinsics,
        camera.pose,
        2.5,
    )
    colour, depth, info = colour_msg(sent), depth_msg(sent), info_msg(sent.intrinsics, sent.stamp)
    got = frame(colour, depth, info, sent.pose)
    assert np.array_equal(got.colour, sent.colour)
    assert np.array_equal(got.depth, sent.depth)
    assert (got.intrinsics, got.pose, got.stamp) == (sent.intrinsics, sent.pose, sent.stamp)
    assert colour.header.frame_id == depth.header.frame_id == info.header.frame_id == OPTICAL_FRAME
    millimetres = np.round(1000 * sent.depth).astype("<u2")
    colour.encoding, colour.data = "bgr8", array("B", sent.colour[..., ::-1].tobytes())
    depth.encoding, depth.step, depth.data = "16UC1", 2 * camera.width, array("B", millimetres.tobytes())
    got = frame(colour, depth, info, sent.pose)
    assert np.array_equal(got.colour, sent.colour)
    assert np.allclose(got.depth, millimetres / 1000, atol=1e-6)
    depth.encoding = "mono16"
    with pytest.raises(
        ValueError, match="expected rgb8 or bgr8 and 32FC1 or 16UC1 images, not bgr8 and mono16"
    ):
        frame(colour, depth, info, sent.pose)
    depth.encoding = "16UC1"
    info.width -= 1
    with pytest.raises(ValueError, match="size"):
        frame(colour, depth, info, sent.pose)
