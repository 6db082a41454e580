"""The process that keeps a graph up between runs: `spca up` starts it, `python -m spca.ros.daemon ORDER`.

It starts a node again that has died, publishes diagnostics, keeps the state file, and ends the graph on
SIGTERM, after some idle time, or when the terminal that it was started from is closed.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections import deque
from contextlib import closing
from pathlib import Path

from action_msgs.msg import GoalStatus, GoalStatusArray
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.qos import qos_profile_action_status_default

from spca.ros import standing
from spca.ros.processes import parameters, processes
from spca.ros.run_server import RunServer
from spca.ros.standing import NodeState, Standing, UpRequest
from spca_core.errors import EXIT_BROKEN, SpcaError
from spca_core.options import RunOptions
from spca_ros import names
from spca_ros.domain import own_domain
from spca_ros.graph import Graph, NodeProcess
from spca_ros.node import SpcaNode
from spca_ros.qos import EVERY
from spca_ros.session import RosSession

_TICK_S = 0.2
_DIAGNOSTICS_S = 1.0
_RESTARTS, _WITHIN_S = 5, 60.0  # a process that dies more often than that is beyond help
_READY_S = 90.0
_BUSY = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING)


class Daemon:
    """Watches over one graph. `stop` ends it, from any thread or a signal handler."""

    def __init__(self, order: UpRequest, node: SpcaNode, domain: int) -> None:
        self._order = order
        self._restarts: dict[str, deque[float]] = {}
        self._fault, self._fault_at = "", 0.0
        self._why_ended = ""
        self._busy = self._worked = False
        self._idle_since = time.time()
        self._told = self._beat = 0.0
        _, _, logs = standing.files()
        self._seen = Standing(
            pid=os.getpid(),
            domain=domain,
            options=order.options,
            parameters=parameters(order.options),
            sim=order.choice.sim,
            arm=order.choice.arm,
            keys=standing.keys_fingerprint(),
            code=standing.code_stamp(),
            logs=str(logs),
            began=time.time(),
            secured=order.secured,
        )
        self._diagnostics = node.create_publisher(DiagnosticArray, names.DIAGNOSTICS, EVERY)
        status = f"{names.RUN_LEVEL}/_action/status"
        node.create_subscription(GoalStatusArray, status, self._on_goals, qos_profile_action_status_default)
        self.graph = Graph(node, processes(order.options, order.choice), Path(logs), self._on_lost)
        supervisor = self.graph.peers[names.SUPERVISOR]
        self.runs = RunServer(standing.socket_path(), node, supervisor, self._unfit, self._fault_since)

    def stop(self, why: str) -> None:
        """End the graph."""
        self._why_ended = self._why_ended or why

    def run(self) -> str:
        """Keep the graph up until something ends it; returns what."""
        deadline = time.monotonic() + _READY_S
        while not self._why_ended:
            self.graph.check()
            self._look()
            self._worked = self._worked or self._seen.ready
            if not self._worked and time.monotonic() > deadline:
                raise SpcaError(f"the graph is not ready after {_READY_S:.0f} s; its logs: {self._seen.logs}")
            if not self._busy and time.time() - self._idle_since > self._order.idle_s:
                self.stop(f"nothing was run for {self._order.idle_s / 60:.0f} min")
            time.sleep(_TICK_S)
        return self._why_ended

    def _look(self) -> None:
        """Bring the state file and the diagnostics up to date."""
        nodes = tuple(self._state_of(process) for process in self.graph.processes)
        seen = self._seen.model_copy(
            update={
                "nodes": nodes,
                "ready": all(node.state == "ready" for node in nodes),
                "idle_until": None if self._busy else self._idle_since + self._order.idle_s,
                "fault": self._fault,
                "fault_at": self._fault_at,
            }
        )
        if seen != self._seen or time.monotonic() - self._beat > standing.BEAT_S:
            self._seen, self._beat = seen, time.monotonic()
            standing.write(seen)
        if time.monotonic() - self._told > _DIAGNOSTICS_S:
            self._told = time.monotonic()
            self._diagnostics.publish(diagnostics(seen, time.time()))

    def _state_of(self, process: NodeProcess) -> NodeState:
        restarts = len(self._restarts.get(process.spec.name, ()))  # before its state
        peers = [self.graph.peers[name] for name in process.spec.nodes]
        state = (
            "ready" if all(p.ready for p in peers) else "lost" if any(p.lost for p in peers) else "starting"
        )
        return NodeState(name=process.spec.name, pid=process.pid, state=state, restarts=restarts)

    def _on_lost(self, process: NodeProcess, reason: SpcaError) -> bool:
        """Return whether to start it again: not when its input is bad, and not forever."""
        now = time.time()
        self._fault, self._fault_at = str(reason), now
        past = self._restarts.setdefault(process.spec.name, deque(maxlen=_RESTARTS))
        hopeless = len(past) == _RESTARTS and now - past[0] < _WITHIN_S
        if hopeless or not self._worked:  # what has never worked will not work the next time
            return False
        past.append(now)
        return True

    def _unfit(self, options: RunOptions) -> str:
        if not all(peer.ready for peer in self.graph.peers.values()):
            return standing.NOT_READY  # what a run has read in the state file is a moment old
        return standing.made_otherwise(self._seen, parameters(options))

    def _fault_since(self, began: float) -> str:
        return self._fault if self._fault_at > began else ""

    def _on_goals(self, message: GoalStatusArray) -> None:
        busy = any(goal.status in _BUSY for goal in message.status_list)
        if self._busy and not busy:
            self._idle_since = time.time()
        self._busy = busy


def diagnostics(seen: Standing, now: float) -> DiagnosticArray:
    """One status for each process, as rqt_robot_monitor shows them."""
    levels = {"ready": DiagnosticStatus.OK, "starting": DiagnosticStatus.WARN, "lost": DiagnosticStatus.ERROR}
    message = DiagnosticArray()
    message.header.stamp.sec, message.header.stamp.nanosec = int(now), int(now % 1 * 1e9)
    for node in seen.nodes:
        level = levels[node.state]
        if level == DiagnosticStatus.OK and node.restarts:
            level = DiagnosticStatus.WARN
        values = {"pid": node.pid, "restarts": node.restarts, "sim": seen.sim, "arm": seen.arm}
        message.status.append(
            DiagnosticStatus(
                level=level,
                name=f"spca: {node.name}",
                message=node.state + (f" (started again: {seen.fault})" if node.restarts else ""),
                hardware_id=f"domain {seen.domain}",
                values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
            )
        )
    return message


def _watch_terminal(path: str, daemon: Daemon) -> None:
    """End the graph when the terminal hangs up."""
    try:
        terminal = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        daemon.stop("its terminal was closed")
        return
    poll = select.poll()
    poll.register(terminal, 0)  # hang-ups and errors are always reported
    poll.poll()
    os.close(terminal)
    daemon.stop("its terminal was closed")


def main() -> None:
    """Keep a graph up; the last line of the output says why it has ended."""
    order = UpRequest.model_validate_json(sys.argv[1])
    try:
        with standing.keeping(), own_domain() as domain, RosSession("daemon") as node:
            daemon = Daemon(order, node, domain)
            with daemon.graph, closing(daemon.runs):
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, lambda *_: daemon.stop("it was asked to end"))
                if order.terminal:
                    threading.Thread(
                        target=_watch_terminal, args=(order.terminal, daemon), daemon=True
                    ).start()
                why = daemon.run()
        print(f"ended: {why}", flush=True)
    except SpcaError as error:
        print(f"spca: {error}", flush=True)
        sys.exit(error.exit_status)
    except Exception as error:
        print(f"spca: {type(error).__name__}: {error}", flush=True)
        sys.exit(EXIT_BROKEN)


if __name__ == "__main__":
    main()
