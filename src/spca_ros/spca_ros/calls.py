"""Blocking calls of services and actions, for threads that do not spin.

None of them waits without a limit.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.task import Future

from spca_core.errors import BudgetExhausted, InputError, Lost, SpcaError
from spca_core.stopping import Stop, never
from spca_ros.node import SpcaNode

_GRACE = 10.0
"""Wall time in seconds that a cancelled goal may take to end."""
MISSED = 0.5
"""Wall time in seconds to wait for a service that was there before: its node may be starting anew."""
_ANSWERED = 5.0
"""Wall time in seconds that a server may take to accept a goal; at an end it may have gone unnoticed."""
SAID: dict[str, tuple[type[SpcaError], type[SpcaError]]] = {
    "input_error": (InputError, InputError),
    "budget_exhausted": (BudgetExhausted, BudgetExhausted),
    "error": (SpcaError, Lost),
}
"""Texts that results may have, the errors that are told in them, and those that a caller gets raised."""


class NodeLost(Lost):
    """A node that is needed has died, hangs, or never came up."""


class ServiceCall:
    """A service of a node, to be called like a function."""

    def __init__(self, node: SpcaNode, kind: type, name: str) -> None:
        self._node, self._name = node, name
        self._client = node.create_client(kind, name)
        self._patience = math.inf  # wall seconds: less for one that has been there, none once it was missed

    def __call__(
        self,
        request: Any,
        timeout: float = 5.0,
        check: Callable[[], None] = lambda: None,
        again: float | None = None,
    ) -> Any:
        """Call the service and wait for the response; `check` is called meanwhile, and may raise.

        `again` is the wall time in seconds after which a request is sent once more, for one that may be
        carried out twice: DDS loses an answer to a client that its server has not found yet.

        Raises NodeLost when there is none in time, or nobody offers the service any more.
        """
        assert not self._node.loop.here, "a callback must not wait for a service"

        def look() -> None:
            check()
            self.wait_ready(MISSED)
            if again is not None and time.monotonic() > began + again * len(sent):
                sent.append(self._ask(request, answered))

        self.wait_ready(timeout)
        began, answered = time.monotonic(), threading.Event()
        sent = [self._ask(request, answered)]
        try:
            if not self._node.loop.wait(answered.is_set, timeout, look, answered.wait):
                raise NodeLost(f"no answer from service {self._name} in {timeout:.0f} s")
            return next(future for future in sent if future.done()).result()
        finally:
            for future in sent:
                if not future.done():
                    self._client.remove_pending_request(future)

    def _ask(self, request: Any, answered: threading.Event) -> Future:
        future = self._client.call_async(request)
        future.add_done_callback(lambda _: answered.set())
        return future

    def wait_ready(self, timeout: float) -> None:
        """Wait until a node offers the service; for one that has gone less long, and once only.

        Raises NodeLost when none does in time.
        """
        there = self._node.loop.wait(self._client.service_is_ready, min(timeout, self._patience))
        self._patience = MISSED if there else 0.0
        if not there:
            raise NodeLost(f"no node offers service {self._name}")

    def send(self, request: Any) -> None:
        """Call the service without waiting for the response; may be used from any thread."""
        self._client.call_async(request)


class ActionCall:
    """An action of a node, to be called like a function."""

    def __init__(self, node: SpcaNode, kind: Any, name: str) -> None:
        self._node, self._name = node, name
        self._client = node.action_client(kind, name)

    def __call__(
        self, goal: Any, on_feedback: Callable[[Any], None] = lambda message: None, cancelled: Stop = never
    ) -> Any:
        """Send a goal and wait for its result.

        `on_feedback` and `cancelled` are called in the calling thread.

        Raises what the result says (see `SAID`), Lost when the goal is refused, NodeLost when the server
        dies or does not end a cancelled goal.
        """
        assert not self._node.loop.here, "a callback must not wait for an action"
        what, loop = f"action {self._name}", self._node.loop
        if not loop.wait(self._client.server_is_ready, 5.0):
            raise NodeLost(f"no node offers {what}")
        feedback: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # In the turning thread: rclpy's action client loses answers that come before its calls have returned.
        sending = loop.run(
            lambda: self._client.send_goal_async(goal, lambda message: feedback.put(message.feedback))
        )
        answered = threading.Event()
        sending.add_done_callback(lambda _: answered.set())

        def look() -> None:
            if not self._client.server_is_ready():
                raise NodeLost(f"the node that offers {what} has died or does not answer")

        try:
            if not loop.wait(answered.is_set, _ANSWERED, look, answered.wait):
                raise NodeLost(f"no answer from {what} in {_ANSWERED:.0f} s")
        except Lost:
            sending.add_done_callback(_cancel)  # nobody waits any more for what it may still begin
            raise
        if not (handle := sending.result()).accepted:
            raise Lost(f"the node refuses a goal for {what}; is it busy?")
        result, done = loop.run(handle.get_result_async), threading.Event()
        result.add_done_callback(lambda _: done.set())

        def follow() -> None:
            _drain(feedback, on_feedback)
            look()

        try:
            loop.wait(lambda: done.is_set() or cancelled(), math.inf, follow, done.wait)
            if not done.is_set():
                loop.run(handle.cancel_goal_async)
                if not loop.wait(done.is_set, _GRACE, follow, done.wait):
                    raise NodeLost(f"{what} does not end although it was cancelled")
        except Lost:
            loop.soon(handle.cancel_goal_async)  # it may live, though nothing is heard of it
            raise
        _drain(feedback, on_feedback)
        response = result.result()
        if response.status == GoalStatus.STATUS_ABORTED and response.result == type(response.result)():
            raise Lost(f"{what} failed; see the log of its node")
        for text, (_, error) in SAID.items():
            if isinstance(said := getattr(response.result, text, None), str) and said:
                raise error(said)
        return response.result

    def wrong(self, why: str) -> Lost:
        """Return the error that the node has given an answer that nobody can use; `why` names the field."""
        return Lost(f"the answer of action {self._name} is wrong: {why}")


def _drain(feedback: queue.SimpleQueue[Any], on_feedback: Callable[[Any], None]) -> None:
    while not feedback.empty():
        on_feedback(feedback.get())


def _cancel(sent: Future) -> None:
    if (handle := sent.result()) is not None and handle.accepted:
        handle.cancel_goal_async()
