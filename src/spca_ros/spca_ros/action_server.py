"""Long work as an action: one goal at a time, in a thread of its own, so that the node goes on spinning."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle

from spca_ros.calls import SAID
from spca_ros.node import SpcaNode, background

_TURN_S = 0.05
_SENDING_TURNS = 4
"""Number of turns of the loop after which the result of a goal that has ended is on its way."""


class Job:
    """A goal under way; `cancelled()` says whether `cancel()` has asked it to stop."""

    def __init__(self, handle: ServerGoalHandle) -> None:
        self._handle = handle
        self.goal: Any = handle.request
        """Requested goal."""
        self.failed = False
        """The goal is to be aborted; the result says why."""
        self.replaced = False
        """A newer goal has taken the place of this one."""
        stop = threading.Event()
        self.cancelled, self.cancel = stop.is_set, stop.set

    def feedback(self, message: Any) -> None:
        """Send feedback to the client, from the working thread."""
        self._handle.publish_feedback(message)


class LongAction:
    """An action whose goals are worked off by `work(job)`, which returns the result message.

    What `work` raises is said in the result, where that has a text for it (see `SAID`); else the goal is
    aborted with an empty one. `on_cancel` is called in the spinning thread when a goal is to be cancelled,
    for what cannot wait. `refuse(goal)` returns why a goal is not accepted, or "": a newer goal then takes
    the place of an older one. Without it no goal is accepted while another one is under way.
    """

    def __init__(
        self,
        node: SpcaNode,
        kind: Any,
        name: str,
        work: Callable[[Job], Any],
        on_cancel: Callable[[], None] | None = None,
        refuse: Callable[[Any], str] | None = None,
    ) -> None:
        self._node, self._kind, self._work, self._on_cancel = node, kind, work, on_cancel
        self._refuse = refuse or (lambda goal: "another one is under way" if self.busy else "")
        self._job: Job | None = None
        self._server = ActionServer(
            node,
            kind,
            name,
            execute_callback=lambda handle: kind.Result(),
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel_request,
        )
        node.at_end.append(self.close)

    @property
    def busy(self) -> bool:
        """A goal is under way."""
        return self._job is not None

    def cancel(self) -> None:
        """Ask the goal under way, if any, to stop."""
        if (job := self._job) is not None:
            job.cancel()

    def close(self, timeout: float = 5.0) -> None:
        """Cancel the goal under way and wait until its client has its result."""
        self.cancel()
        if not self.busy:
            return
        # what the goal waits for passes through the loop, which only one thread turns
        turn = self._node.loop.turn if self._node.loop.here else time.sleep
        end = time.monotonic() + timeout
        while self.busy and time.monotonic() < end:
            turn(_TURN_S)
        for _ in range(_SENDING_TURNS):
            turn(_TURN_S)

    def _on_goal(self, goal: Any) -> GoalResponse:
        if why := self._refuse(goal):
            self._node.get_logger().warning(f"goal refused: {why}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        if self._job is not None:
            self._job.replaced = True
        self._job = Job(handle)
        background(self._run, handle, self._job)

    def _on_cancel_request(self, handle: ServerGoalHandle) -> CancelResponse:
        self.cancel()
        if self._on_cancel is not None:
            self._on_cancel()
        return CancelResponse.ACCEPT

    def _run(self, handle: ServerGoalHandle, job: Job) -> None:
        try:
            result = self._work(job)
        except Exception as error:
            result = self._kind.Result()
            told = (text for text, (kind, _) in SAID.items() if isinstance(error, kind))
            texts = [text for text in told if getattr(result, text, None) == ""]
            if texts:
                setattr(result, texts[0], str(error))
            else:
                self._node.get_logger().error(traceback.format_exc())
                job.failed = True

        def finish(goal_handle: ServerGoalHandle) -> Any:  # in the spinning thread
            if self._job is job:
                self._job = None
            if job.failed:
                goal_handle.abort()
            elif goal_handle.is_cancel_requested:
                goal_handle.canceled()
            else:
                goal_handle.succeed()
            return result

        self._node.loop.soon(lambda: handle.execute(finish))
