"""A run on the graph that is up, seen from the process that asks for it, which needs no ROS for that.

Joining the ROS graph takes a process over a second: ROS has to be loaded, and DDS to find the other nodes.
The daemon has done both already.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from functools import partial

from spca.events import Event, Listener
from spca.interrupt import stopping_on_interrupt
from spca.ros import standing
from spca.ros.run_protocol import CANCEL, END, EVENT, MAX_BYTES, RUN, SEND_S, UNFIT, RunEnd, RunOrder
from spca_core.errors import Interrupted, SpcaError
from spca_core.flag import Flag
from spca_core.processes.channel import Channel, ChannelClosed, ChannelTimeout

_CANCEL_S = 15.0  # wall seconds that a cancelled run may take to end
_LAST_WORDS_S = 10.0  # wall seconds until a graph that ends has said why


def run_on_standing(order: RunOrder, tell: Listener, cancelled: Flag | None = None) -> str:
    """Have the graph run a level to its end; or why it cannot, in words that follow "it".

    Ctrl-C cancels the run, and so does whoever sets `cancelled`.
    Raises the reason if there is no result: see `RunEnd.check`; SpcaError, too, when the graph ends.
    """
    cancelled = cancelled or Flag()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(str(standing.socket_path()))
            channel = Channel(connection.fileno(), connection.fileno(), MAX_BYTES)
            with stopping_on_interrupt(cancelled.set):
                end = _converse(channel, order, tell, cancelled.is_set)
    except (ChannelClosed, ConnectionError, FileNotFoundError) as error:
        raise SpcaError(f"the graph that was up has ended; its reason: {_last_words()}") from error
    except ChannelTimeout:
        what = "the graph does not end a run that was cancelled; `spca down` ends the graph"
        raise SpcaError(what) from None
    if isinstance(end, str):
        return end
    end.check(cancelled.is_set())
    return ""


def _converse(
    channel: Channel, order: RunOrder, tell: Listener, cancelled: Callable[[], bool]
) -> RunEnd | str:
    channel.send({"op": RUN, "order": order.model_dump()}, time.monotonic() + SEND_S)
    beat = time.monotonic()

    def lost() -> bool:
        """Return whether the daemon is silent while this process is awake, as both sleep with the machine."""
        nonlocal beat
        if not standing.silent():
            beat = time.monotonic()
        return time.monotonic() - beat > 2 * standing.BEAT_S

    receive = partial(channel.receive, math.inf, lambda: cancelled() or lost())
    while True:
        try:
            message = receive()
        except Interrupted:
            if not cancelled():
                if (pid := standing.daemon()) is not None:
                    standing.kill(pid)  # else the run would go on in a graph that nobody keeps
                raise SpcaError(
                    "the process that keeps the graph did not respond: the graph was ended"
                ) from None
            channel.send({"op": CANCEL}, time.monotonic() + SEND_S)
            receive = partial(channel.receive, time.monotonic() + _CANCEL_S)
            continue
        operation = message["op"]
        if operation == EVENT:
            tell(Event.model_validate(message["event"]))
        elif operation == END:
            return RunEnd.model_validate(message["end"])
        elif operation == UNFIT:
            return str(message["why"])


def _last_words() -> str:
    end = time.monotonic() + _LAST_WORDS_S
    while standing.daemon() is not None and time.monotonic() < end:
        time.sleep(0.05)
    return standing.last_words()
