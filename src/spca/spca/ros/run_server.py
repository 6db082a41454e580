"""The daemon's side of a run on the standing graph: whoever connects to the socket may have a level run."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from spca.events import Event
from spca.ros.run_level import RunLevelCall
from spca.ros.run_protocol import END, EVENT, MAX_BYTES, RUN, SEND_S, UNFIT, RunEnd, RunOrder
from spca_core.errors import InputError, SpcaError
from spca_core.options import Manifest, RunOptions
from spca_core.processes.channel import Channel, ChannelClosed, ChannelTimeout, Malformed
from spca_core.run_folder import MANIFEST, RunFolder
from spca_ros.node import SpcaNode, background
from spca_ros.peer import Peer

_ORDER_S = 5.0  # wall seconds until whoever connects has said what it wants
_NEWS_S = 1.0  # wall seconds until it is known which process has ended when a node is lost


class RunServer:
    """Runs one level at a time for clients of the socket at `path`, through the supervisor's action.

    `unfit(options)` says why the graph cannot run what is asked for, `fault(since)` why a process was lost
    since then (seconds since the epoch); "" if it can, and if none was.
    """

    def __init__(
        self,
        path: Path,
        node: SpcaNode,
        supervisor: Peer,
        unfit: Callable[[RunOptions], str],
        fault: Callable[[float], str],
    ) -> None:
        self._run_level = RunLevelCall(node, supervisor)
        self._unfit, self._fault = unfit, fault
        self._free = threading.Lock()
        self._ended = False
        path.unlink(missing_ok=True)  # a killed daemon leaves its own
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen()
        background(self._accept)

    def close(self) -> None:
        """Take no more runs.

        The one under way ends with the graph, and its client finds the reason in the log.
        """
        self._ended = True
        self._socket.shutdown(socket.SHUT_RDWR)  # wakes `accept`, which closing alone does not
        self._socket.close()

    def _accept(self) -> None:
        while not self._ended:
            try:
                connection, _ = self._socket.accept()
            except OSError:  # closed
                return
            background(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(ChannelClosed, ChannelTimeout, Malformed):
            channel = Channel(connection.fileno(), connection.fileno(), MAX_BYTES)
            message = channel.receive(time.monotonic() + _ORDER_S)
            if message["op"] != RUN:
                return
            answer = self._answer(RunOrder.model_validate(message["order"]), channel)
            if not self._ended:
                channel.send(answer, time.monotonic() + SEND_S)

    def _answer(self, order: RunOrder, channel: Channel) -> dict[str, Any]:
        """Carry out the run and return how it has ended, or why there is none."""
        try:
            options = RunFolder.open(Path(order.run_folder)).read(MANIFEST, Manifest).options
            if why := self._unfit(options):
                return {"op": UNFIT, "why": why}
        except InputError as error:
            return {"op": END, "end": RunEnd(message=str(error), input_error=True).model_dump()}
        if not self._free.acquire(blocking=False):
            return {"op": UNFIT, "why": "is busy with another run"}
        try:
            return {"op": END, "end": self._run(order, channel).model_dump()}
        finally:
            self._free.release()

    def _run(self, order: RunOrder, channel: Channel) -> RunEnd:
        began = time.time()
        gone = False

        def tell(event: Event) -> None:
            nonlocal gone
            try:
                channel.send({"op": EVENT, "event": event.model_dump(mode="json")}, time.monotonic() + SEND_S)
            except (ChannelClosed, ChannelTimeout):
                gone = True

        try:
            end = self._run_level(order, tell, lambda: gone or not channel.quiet())
        except SpcaError as error:
            end = RunEnd(message=str(error))
        if end.outcome or end.input_error:
            return end
        return end.model_copy(update={"message": self._why(began) or end.message})

    def _why(self, began: float) -> str:
        """Return which process ended, as far as one did: it knows better than the supervisor."""
        end = time.monotonic() + _NEWS_S
        while not (reason := self._fault(began)) and time.monotonic() < end and not self._ended:
            time.sleep(0.05)
        return reason
