"""Calls of other nodes' actions."""

from __future__ import annotations

import threading

import pytest
from rclpy.task import Future
from spca_interfaces.action import RunLevel
from std_srvs.srv import Trigger

from spca_ros import calls
from spca_ros.action_server import Job, LongAction
from spca_ros.calls import ActionCall, NodeLost, ServiceCall
from spca_ros.node import ros_session

pytestmark = pytest.mark.ros


def test_a_goal_that_is_accepted_after_its_client_gave_up_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else it keeps its server busy for nobody."""
    monkeypatch.setattr(calls, "_ANSWERED", 0.1)
    with ros_session("server") as server, ros_session("client") as client:
        hurried, told, begun = threading.Event(), threading.Event(), threading.Event()

        def work(job: Job) -> RunLevel.Result:
            begun.set()
            while not job.cancelled():
                hurried.wait(0.01)
            told.set()
            return RunLevel.Result()

        def hesitate(goal: RunLevel.Goal) -> str:
            hurried.wait(60.0)
            return ""

        action = server.loop.run(lambda: LongAction(server, RunLevel, "slow", work, refuse=hesitate))
        with pytest.raises(NodeLost, match="no answer from action slow"):
            ActionCall(client, RunLevel, "slow")(RunLevel.Goal())
        hurried.set()
        assert begun.wait(60.0) and told.wait(60.0), action


def test_a_request_whose_answer_is_lost_is_sent_once_more_if_it_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DDS loses it where the server has not found its client yet: seen on a busy machine."""
    with ros_session("server") as server, ros_session("client") as client:
        server.loop.run(lambda: server.create_service(Trigger, "hold", lambda _, answer: answer))
        call, asked = ServiceCall(client, Trigger, "hold"), list[object]()
        ask = call._client.call_async

        def lose_the_first(request: Trigger.Request) -> Future:
            asked.append(request)
            return ask(request) if len(asked) > 1 else Future()

        monkeypatch.setattr(call._client, "call_async", lose_the_first)
        monkeypatch.setattr(call._client, "remove_pending_request", lambda future: None)
        assert call(Trigger.Request(), timeout=60.0, again=0.1) is not None and len(asked) > 1


def test_whoever_waits_for_a_node_that_is_lost_is_told_so_at_once() -> None:
    """DDS takes twenty seconds to miss a process that was killed."""
    with ros_session("server") as server, ros_session("client") as client:
        over = threading.Event()
        server.loop.run(
            lambda: server.create_service(Trigger, "slow", lambda _, it: (over.wait(60.0), it)[1])
        )

        def gone() -> None:
            raise NodeLost("it was killed")

        client.loop.check = gone
        with pytest.raises(NodeLost, match="it was killed"):
            ServiceCall(client, Trigger, "slow")(Trigger.Request(), timeout=60.0)
        over.set()
