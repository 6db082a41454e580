"""A node that comes back so quickly that DDS never tells of its loss."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from builtin_interfaces.msg import Time
from spca_interfaces.msg import NodeStatus
from std_srvs.srv import Trigger

from spca_ros import names
from spca_ros.calls import ServiceCall
from spca_ros.domain import own_domain
from spca_ros.node import SpcaNode
from spca_ros.peer import NodeLost, Peer
from spca_ros.qos import ALIVE
from spca_ros.session import RosSession

pytestmark = pytest.mark.ros


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Iterator[SpcaNode]:
    with own_domain() as domain, RosSession("onlooker") as node:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
        yield node


def test_who_waits_for_a_node_learns_that_it_was_started_again(node: SpcaNode) -> None:
    """The first one still counts as alive while the second says that it is ready."""
    ready, lost = threading.Semaphore(0), threading.Event()
    peer = Peer(node, "server", on_lost=lost.set, on_ready=ready.release)
    status = names.status("server")
    first, second = (node.create_publisher(NodeStatus, status, ALIVE) for _ in range(2))
    first.publish(NodeStatus(state=NodeStatus.READY, since=Time(sec=1)))
    assert ready.acquire(timeout=60.0)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ServiceCall(node, Trigger, "slow", peer), Trigger.Request(), 60.0)
        second.publish(NodeStatus(state=NodeStatus.READY, since=Time(sec=2)))
        with pytest.raises(NodeLost, match="started again"):
            answer.result(30.0)
    assert lost.is_set() and peer.starts == 2
    peer.check()  # whoever asks from now on asks the second one


def test_the_loss_of_a_node_that_was_replaced_is_not_the_loss_of_the_new_one(
    node: SpcaNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DDS may count nobody alive when the old one is lost and the new one has only just been found."""
    monkeypatch.setattr("spca_ros.peer.LEASE_S", 1000.0)  # however busy this machine is
    ready, lost = threading.Semaphore(0), threading.Event()
    peer = Peer(node, "server", on_lost=lost.set, on_ready=ready.release)
    server = node.create_publisher(NodeStatus, names.status("server"), ALIVE)
    server.publish(NodeStatus(state=NodeStatus.READY, since=Time(sec=1)))
    assert ready.acquire(timeout=60.0)
    node.loop.run(lambda: _liveliness(peer, 1, 0, 1))
    assert not lost.is_set() and not peer._doubt.is_canceled()
    server.publish(NodeStatus(state=NodeStatus.READY, since=Time(sec=1)))  # the new one repeats its status
    end = time.monotonic() + 60.0
    while not peer._doubt.is_canceled():
        assert time.monotonic() < end, "its status takes away the doubt"
        time.sleep(0.01)
    assert not lost.is_set()
    peer._doubt.timer_period_ns = 1_000_000
    node.loop.run(lambda: _liveliness(peer, 0))
    assert lost.wait(60.0), "nobody lives, and it says nothing any more"
    node.loop.run(lambda: _liveliness(peer, 1))
    with pytest.raises(NodeLost):
        peer.check()  # that somebody lives is not enough: it has to say that it is ready
    server.publish(NodeStatus(state=NodeStatus.READY, since=Time(sec=2)))
    assert ready.acquire(timeout=60.0)
    peer.check()
    assert peer.starts == 2


def _liveliness(peer: Peer, *counts: int) -> None:
    for count in counts:
        peer._on_liveliness(SimpleNamespace(alive_count=count))  # type: ignore[arg-type]
