"""Calls of other nodes' actions."""

import threading
from typing import Any

import pytest
from rclpy.task import Future
from spca_interfaces.action import ExecutePlan, MakePlan, RunLevel
from spca_interfaces.msg import PlanResult
from std_srvs.srv import Trigger

from spca_core.errors import BudgetExhausted, InputError, Lost, SpcaError
from spca_core.plan import PlanRequest
from spca_ros import calls
from spca_ros.action_server import Job, LongAction
from spca_ros.calls import ActionCall, NodeLost, ServiceCall
from spca_ros.node import ros_session
from spca_ros.stages import RosPlanner
from spca_testing.observations import scene, task

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


@pytest.mark.parametrize(
    ("kind", "raised", "told"),
    [
        (MakePlan, InputError("no such engine"), InputError),
        (MakePlan, BudgetExhausted("no money is left"), BudgetExhausted),
        (ExecutePlan, InputError("no table"), Lost),
    ],
)
def test_what_a_job_raises_reaches_whoever_asked(kind: Any, raised: SpcaError, told: type[SpcaError]) -> None:
    def work(job: Job) -> object:
        raise raised

    with ros_session("server") as server, ros_session("client") as client:
        action = server.loop.run(lambda: LongAction(server, kind, "work", work))
        with pytest.raises(told, match=str(raised)) as caught:
            ActionCall(client, kind, "work")(kind.Goal())
        assert type(caught.value) is told and not action.busy


def test_a_node_may_end_while_its_goal_is_under_way_and_has_one_client_of_an_action() -> None:
    """rclpy's executor crashes where a client goes of which news still wait to be handled."""
    over = threading.Event()

    def work(job: Job) -> RunLevel.Result:
        while not (over.is_set() or job.cancelled()):
            job.feedback(RunLevel.Feedback())
        return RunLevel.Result()

    with ros_session("server") as server:
        action = server.loop.run(lambda: LongAction(server, RunLevel, "work", work))
        with ros_session("client") as client:
            heard = threading.Event()
            own = client.loop.run(lambda: client.action_client(RunLevel, "work"))
            assert client.action_client(RunLevel, "work") is own
            assert client.loop.wait(own.server_is_ready, 60.0)
            client.loop.run(lambda: own.send_goal_async(RunLevel.Goal(), lambda _: heard.set()))
            assert heard.wait(60.0) and action.busy
        over.set()


def test_an_answer_that_is_no_record_is_lost_and_names_the_node_and_the_field() -> None:
    """Whatever somebody else's node answers is no fault of this program."""
    request = PlanRequest(attempt="1", task=task("stack"), observation=scene(), skills=())
    answer = MakePlan.Result(result=PlanResult(status="solved"))
    with ros_session("server") as server, ros_session("client") as client:
        action = server.loop.run(lambda: LongAction(server, MakePlan, "mine/make_plan", lambda job: answer))
        with pytest.raises(Lost, match=r"^the answer of action mine/make_plan is wrong: plan: ") as caught:
            RosPlanner(client, "mine").plan(request)
        assert "\n" not in str(caught.value) and action
