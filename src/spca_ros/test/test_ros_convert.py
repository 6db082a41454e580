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
from spca_ros.convert.records import from_msg, to_msg
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


def test_joint_states_come_back_and_are_read_by_name() -> None:
    given = JointState(1.5, np.arange(6.0), np.arange(6.0) / 10, 0.04, 12.5)
    sent = joint_state_msg(given, JOINT_NAMES)
    order = [6, 3, 0, 5, 1, 4, 2]
    for field in ("name", "position", "velocity", "effort"):
        setattr(sent, field, [getattr(sent, field)[i] for i in order])
    state = joint_state(sent, JOINT_NAMES)
    assert state.stamp == 1.5
    assert np.array_equal(state.position, given.position) and np.array_equal(state.velocity, given.velocity)
    assert (state.gripper_gap, state.gripper_force) == pytest.approx((0.04, 12.5), abs=1e-6)
    sent.name = ["other", *sent.name[1:]]
    with pytest.raises(ValueError, match="robotiq"):
        joint_state(sent, JOINT_NAMES)


def test_trajectories_come_back_and_those_that_lack_something_are_refused() -> None:
    names = load_arm("panda").joint_names
    points = np.arange(21.0).reshape(3, -1)
    sent = JointTrajectory(np.array([0.0, 0.5, 2.25]), points / 7, points / 9)
    message = trajectory_msg(sent, names)
    got = trajectory(message, names)
    for field in ("times", "positions", "velocities"):
        assert np.array_equal(getattr(got, field), getattr(sent, field))
    message.points[0].velocities = []
    with pytest.raises(ValueError, match="velocity"):
        trajectory(message, names)
    message.joint_names = list(names[1:])
    with pytest.raises(ValueError, match=names[0]):
        trajectory(message, names)


def test_frames_come_back_also_as_the_drivers_of_real_cameras_send_them() -> None:
    camera = load_world().camera
    rng = np.random.default_rng(1)
    shape = (camera.height, camera.width)
    colours, depths = rng.integers(0, 255, (*shape, 3), dtype=np.uint8), rng.random(shape, dtype=np.float32)
    sent = RgbdFrame(colours, depths, camera.intrinsics, camera.pose, 2.5)
    colour, depth, info = colour_msg(sent), depth_msg(sent), info_msg(sent.intrinsics, sent.stamp)
    got = frame(colour, depth, info, sent.pose)
    assert np.array_equal(got.colour, sent.colour) and np.array_equal(got.depth, sent.depth)
    assert (got.intrinsics, got.pose, got.stamp) == (sent.intrinsics, sent.pose, sent.stamp)
    assert colour.header.frame_id == depth.header.frame_id == info.header.frame_id == OPTICAL_FRAME
    millimetres = np.round(1000 * sent.depth).astype("<u2")
    colour.encoding, colour.data = "bgr8", array("B", sent.colour[..., ::-1].tobytes())
    depth.encoding, depth.step, depth.data = "16UC1", 2 * camera.width, array("B", millimetres.tobytes())
    got = frame(colour, depth, info, sent.pose)
    assert np.array_equal(got.colour, sent.colour)
    assert np.allclose(got.depth, millimetres / 1000, atol=1e-6)
    depth.encoding = "mono16"
    with pytest.raises(ValueError, match="32FC1 or 16UC1 images, not bgr8 and mono16"):
        frame(colour, depth, info, sent.pose)
