"""The supervisor's action that runs a level."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spca_interfaces.action import RunLevel

from spca.events import Listener
from spca.ros.events import event
from spca.ros.run_protocol import RunEnd, RunOrder
from spca_ros import names
from spca_ros.calls import ActionCall
from spca_ros.node import SpcaNode
from spca_ros.peer import Peer


class RunLevelCall:
    """Has the supervisor run levels, on behalf of `node`."""

    def __init__(self, node: SpcaNode, supervisor: Peer) -> None:
        self._call = ActionCall(node, RunLevel, names.RUN_LEVEL, supervisor)

    def __call__(self, order: RunOrder, tell: Listener, cancelled: Callable[[], bool]) -> RunEnd:
        """Run one level to its end, telling its events. Raises SpcaError when the supervisor is lost."""
        goal = RunLevel.Goal(
            attempt=Path(order.run_folder).name, run_folder=order.run_folder, resume=order.resume
        )
        result = self._call(goal, lambda message: tell(event(message.event)), cancelled)
        return RunEnd(outcome=result.outcome, message=result.message, input_error=result.input_error)
