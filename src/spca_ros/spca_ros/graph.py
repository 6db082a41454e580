"""Starts the nodes as processes, waits until they are ready, watches them, and always ends them all."""

from __future__ import annotations

import json
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from spca_core.errors import EXIT_BAD_INPUT, Cancelled, InputError, SpcaError
from spca_core.paths import data
from spca_core.processes.child import Child, how_it_ended, last_words, python_command
from spca_ros.domain import check_loopback
from spca_ros.node import DIE_WITH_PARENT, SpcaNode, background
from spca_ros.peer import NodeLost, Peer
from spca_ros.process_spec import ProcessSpec

CONFIG = data("config", "spca_ros")
"""Parameter files of the nodes; nodes.yaml is for every graph."""
_TOGETHER = ("setpriv", "--pdeathsig", "INT")
"""Has another program end when this process is killed, as the nodes do by `DIE_WITH_PARENT`."""
_LOOK_S = 1.0  # wall seconds between two looks at what no news come of
_END_S = 4.0  # wall seconds that a process has for its end before it is killed


def _environment(with_keys: bool) -> dict[str, str]:
    secret = re.compile(r"KEY|TOKEN|SECRET|PASSW|^SPCA_LLM", re.IGNORECASE)
    return {name: value for name, value in os.environ.items() if with_keys or not secret.search(name)}


class NodeProcess:
    """One process with its log."""

    def __init__(self, spec: ProcessSpec, logs: Path) -> None:
        self.spec = spec
        self.log = logs / f"{spec.name}.log"
        self._log_begin = self.log.stat().st_size if self.log.exists() else 0
        parameters = logs / f"{spec.name}.yaml"
        values = {"use_sim_time": True, **spec.parameters}
        named = {node: {"ros__parameters": values} for node in spec.nodes}
        parameters.write_text(json.dumps(named, indent=1))  # JSON is YAML
        arguments = (
            "--ros-args",
            *("--params-file", str(CONFIG / "nodes.yaml")),
            *("--params-file", str(parameters)),
            "--disable-rosout-logs",
            "--disable-external-lib-logs",
        )
        self._child = Child(
            (*_TOGETHER, *spec.command) if spec.command else python_command(spec.module, *arguments),
            env={**_environment(spec.needs_keys), DIE_WITH_PARENT: "1", "ROS_LOG_DIR": str(logs)},
            stdout=self.log,
            stderr=self.log,
        )

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._child.pid

    def wait(self) -> int:
        """Wait for its end; returns the exit status."""
        return self._child.wait_for_end()

    def ask_to_end(self) -> None:
        """Send SIGINT."""
        self._child.interrupt()

    def end(self, deadline: float) -> None:
        """Wait until `deadline` (monotonic), then kill it with all that it has started."""
        self._child.end(max(deadline - time.monotonic(), 0.01))

    def complaint(self, status: int) -> SpcaError:
        """Return the error that says why it ended: by its last words, or how."""
        last = last_words(self.log, self._log_begin) or "it said nothing"
        if status == EXIT_BAD_INPUT:
            return InputError(last.removeprefix("spca: "))
        return NodeLost(f"the node '{self.spec.name}' {how_it_ended(status)}: {last} (its log: {self.log})")


class Graph:
    """The processes of a run. Use as a context manager; leaving it leaves no process behind.

    `node` is the starting process's own, in the same domain. Logs and parameters go to `logs`. As soon as a
    process ends by itself, its peers are lost, and `on_lost` is then called, in a thread of its own, with the
    reason. If it returns True, that process is started again and the graph goes on; else the graph has failed
    (see `check`).
    """

    def __init__(
        self,
        node: SpcaNode,
        specs: Sequence[ProcessSpec],
        logs: Path,
        on_lost: Callable[[NodeProcess, SpcaError], bool] | None = None,
    ) -> None:
        self._node, self._on_lost, self._logs = node, on_lost, logs
        self._changing = threading.Lock()
        self._ending = False
        self._failure: SpcaError | None = None
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()
        logs.mkdir(parents=True, exist_ok=True)
        self.peers = {name: Peer(node, name, on_ready=self.wake) for spec in specs for name in spec.nodes}
        self.processes: list[NodeProcess] = []
        try:
            for spec in specs:
                self.processes.append(NodeProcess(spec, logs))
        except BaseException:
            self.close()
            raise
        for process in self.processes:
            background(self._watch, process)

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def wait_ready(self, timeout: float = 60.0, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Wait until all nodes are ready.

        Raises the reason as soon as one has failed, NodeLost after `timeout`.

        Raises Cancelled when it is woken (see `wake`) and `cancelled()` holds.
        """
        end = time.monotonic() + timeout
        while waiting := [name for name, peer in self.peers.items() if not peer.ready]:
            self.check()
            if cancelled():
                raise Cancelled("cancelled while the nodes were starting")
            try:
                self._news.get(timeout=_LOOK_S)
            except queue.Empty:
                check_loopback()
                if time.monotonic() < end:
                    continue
                raise NodeLost(f"not ready after {timeout:.0f} s: {', '.join(waiting)}") from None
        self.check()

    def check(self) -> None:
        """Raise the reason if a process has ended."""
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """End all processes and wait for them; harmless when called twice."""
        with self._changing:
            self._ending = True
        for last in (False, True):
            leaving = [p for p in self.processes if p.spec.ends_last is last]
            for process in leaving:
                process.ask_to_end()
            deadline = time.monotonic() + _END_S
            for process in leaving:
                process.end(deadline)

    def wake(self) -> None:
        """Have `wait_ready` look up. From any thread or a signal handler."""
        self._news.put(None)

    def _watch(self, process: NodeProcess) -> None:
        """Also starts the process again: it has to be this thread, as the end of a thread ends its children.

        (`PR_SET_PDEATHSIG` is about the thread, not about the process.)
        """
        while True:
            status = process.wait()
            if self._ending or self._failure is not None:
                return
            complaint = process.complaint(status)
            for name in process.spec.nodes:  # waits, so that none of them is ready when `on_lost` is called
                self._node.loop.run(partial(self.peers[name].ended, how_it_ended(status)))
            if self._on_lost is None or not self._on_lost(process, complaint):
                self._failure = complaint
                self.wake()
                return
            with self._changing:
                if self._ending:
                    return
                again = NodeProcess(process.spec, self._logs)
                self.processes[self.processes.index(process)] = again
                process = again
