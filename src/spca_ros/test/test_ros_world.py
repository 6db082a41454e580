"""The port `TableWorld` over DDS, against the embedded simulator in a process of its own."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from sensor_msgs.msg import JointState as JointStateMsg
from spca_interfaces.msg import Contacts
from spca_interfaces.msg import Layout as LayoutMsg
from spca_interfaces.srv import LetPass, ResetWorld

from spca_core.contacts import ContactSample, pair
from spca_core.errors import Lost
from spca_core.layout import nominal_layout
from spca_core.world import World, load_world
from spca_ros import names
from spca_ros.calls import ServiceCall
from spca_ros.camera import RequestedCamera
from spca_ros.convert.contacts import contacts_msg
from spca_ros.convert.records import to_msg
from spca_ros.node import SpcaNode
from spca_ros.node_process import NodeProcess
from spca_ros.qos import EVERY, SENSOR
from spca_ros.world import RosWorld
from spca_testing.contracts.robot_contract import gentle
from spca_testing.contracts.table_contract import TableContract
from spca_testing.ros import Heard, ask, heeded, running, sim

pytestmark = pytest.mark.ros

Graph = tuple[SpcaNode, dict[str, NodeProcess]]
VARIED = {"seed": 0, "preset": "nominal", "places": True}


@pytest.fixture(scope="module")
def graph() -> Iterator[Graph]:
    with running(sim(), name="client") as found:
        yield found


@pytest.fixture
def table(graph: Graph, world: World) -> Iterator[RosWorld]:
    found = graph[0].loop.run(lambda: RosWorld(graph[0], world, varied=VARIED))
    found.wait_ready(30.0)
    found.reset(nominal_layout(world))
    yield found
    found.close()


class TestSimulatedTable(TableContract):
    """Everything that any table must do."""


def test_a_motion_of_ten_seconds_is_stopped_in_time_while_another_thread_plans(table: RosWorld) -> None:
    """In pure Python, which holds the interpreter: neither the stop waits for it, nor is a contact missed."""
    over = threading.Event()

    def plan() -> None:
        while not over.is_set():
            sum(k * k for k in range(10_000))

    heard: list[ContactSample] = []
    table.on_contacts(heard.append)
    planning = threading.Thread(target=plan)
    planning.start()
    try:
        goal = gentle(table.robot, 1.0, 10.0)
        begun = table.now()
        table.robot.follow(goal)
        table.robot.wait(10.0, lambda state: state.stamp - begun > 5.0)
        table.robot.hold()
        asked = table.now()
        table.wait(0.2)
        assert asked - begun < 5.2
        assert np.abs(table.robot.state().velocity).max() < 0.01
    finally:
        over.set()
        planning.join()
    stamps = np.array([sample.stamp for sample in heard])
    assert np.diff(stamps) == pytest.approx(0.02, abs=1e-6) and table.now() - stamps[-1] < 0.021


_MOVES = """
import sys, time
from spca_core.world import load_world
from spca_ros.node import ros_session
from spca_ros.world import RosWorld
from spca_testing.contracts.robot_contract import gentle
with ros_session("mover") as node:
    table = node.loop.run(lambda: RosWorld(node, load_world()))
    table.wait_ready(60.0)
    table.robot.follow(gentle(table.robot, 0.5, 20.0))
    table.wait(20.0)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_the_arm_stands_as_soon_as_its_client_is_gone(how: signal.Signals) -> None:
    """No time passes but for a client, and what it had begun is over when the next one comes."""
    with running(sim(rate=1.0), name="onlooker") as (node, _):
        seen = Heard.on(node, JointStateMsg, names.JOINT_STATES, SENSOR)
        mover = subprocess.Popen([sys.executable, "-c", _MOVES])
        try:
            seen.until(lambda message: max(map(abs, message.velocity[:6])) > 0.02)
            os.kill(mover.pid, how)
            time.sleep(0.5)
            stood = seen[-1].header.stamp
            time.sleep(0.5)
            assert seen[-1].header.stamp == stood
            after = node.loop.run(lambda: RosWorld(node, load_world()))
            after.wait_ready(30.0)
            after.wait(0.2)
            assert np.abs(after.robot.state().velocity).max() < 0.01
        finally:
            mover.kill()
            mover.wait()


@pytest.mark.parametrize("stamp", [0.0, 1e3])
def test_contacts_of_another_time_are_dropped(stamp: float, graph: Graph, table: RosWorld) -> None:
    """Those of the past, and those of the future."""
    heard: list[ContactSample] = []
    table.on_contacts(heard.append)
    table.wait(0.5)
    message = contacts_msg(
        [ContactSample(0.02 * k, frozenset({pair("cobot", "box_blue")})) for k in range(9)]
    )
    for sample in message.samples:
        sample.stamp.sec = int(stamp)
    publisher = heeded(graph[0], Contacts, names.CONTACTS, EVERY)
    for _ in range(25):
        publisher.publish(message)
    table.wait(0.5)
    assert not any("cobot" in each for sample in heard for each in sample.pairs)
    assert len(heard) == 50


def test_another_node_neither_resets_the_world_nor_lets_time_pass(graph: Graph, table: RosWorld) -> None:
    """While whoever has laid the table is there."""
    before = table.now()
    reset, passing = (
        ServiceCall(graph[0], kind, name)
        for kind, name in ((ResetWorld, names.RESET), (LetPass, names.LET_PASS))
    )
    layout = to_msg(nominal_layout(load_world()), LayoutMsg())
    for call, request in (
        (reset, ResetWorld.Request(client="stranger", layout=layout)),
        (passing, LetPass.Request(client="stranger", seconds=0.1)),
        (passing, LetPass.Request(client="client", seconds=float("nan"))),
        (passing, LetPass.Request(client="client", seconds=1e9)),
    ):
        answer = ask(call, request)
        assert not answer.success and answer.message
    assert table.now() == before


def test_the_camera_at_the_wrist_takes_pictures_where_the_world_has_one() -> None:
    """Where it has none, one line says so."""
    world = load_world("wrist")
    mount = world.wrist_camera
    with running(sim(), name="client") as (node, _):
        with pytest.raises(Lost, match="this world has no camera at the wrist"):
            node.loop.run(lambda: RequestedCamera(node, mount, at=names.WRIST)).capture()
        table = node.loop.run(lambda: RosWorld(node, world, varied={**VARIED, "world": "wrist"}))
        table.wait_ready(30.0)
        table.reset(nominal_layout(world))
        frame = table.wrist_camera.capture()
    assert (frame.pose, frame.intrinsics) == (mount.pose, mount.intrinsics)
    assert frame.depth.shape == (mount.height, mount.width) and frame.depth.max() > mount.near
