"""The one thread that handles the callbacks of a process's nodes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from ctypes import CDLL
from typing import Any, TypeVar

from rclpy.context import Context
from rclpy.node import Node
from rclpy.utilities import get_default_context

from spca_core.stopping import left_alone

try:  # in C++, for half the processor time; older releases of rclpy lack it
    from rclpy.experimental.events_executor import EventsExecutor as Executor
except ImportError:
    from rclpy.executors import SingleThreadedExecutor as Executor

_T = TypeVar("_T")
_TURN_TIMEOUT = 30.0  # wall seconds; a turn that takes that long hangs
_LOOK_S = 0.01  # wall seconds between two looks at what is waited for


class Loop:
    """Handles callbacks, one after the other, in the thread that calls `turn`.

    Callbacks never block and never sleep. Long work runs in threads of its own (`spca_ros.action_server`),
    which talk to other nodes by the blocking calls of `spca_ros.calls`.
    """

    def __init__(self, context: Context | None = None) -> None:
        # M_MMAP_ and M_TRIM_THRESHOLD: pictures go back to the system, of which each thread would keep one.
        CDLL(None).mallopt(-3, 1 << 20)
        CDLL(None).mallopt(-1, 1 << 20)
        self.context = context or get_default_context()
        self.check: Callable[[], None] = lambda: None
        """Function that whoever waits for another node calls meanwhile; it raises why no answer will come."""
        self.wanted: Callable[[], None] = lambda: None
        """Function that raises Cancelled when nobody wants what is under way any more."""
        self._executor = Executor(context=self.context)
        self._thread: int | None = None
        self._nodes: list[Node] = []

    def add(self, node: Node) -> None:
        """Handle a node's callbacks too."""
        self._executor.add_node(node)
        self._nodes.append(node)

    def turn(self, timeout: float = 0.1) -> None:
        """Handle at most one callback, waiting for it up to `timeout` wall seconds."""
        self._thread = threading.get_ident()
        self._executor.spin_once(timeout_sec=timeout)

    @property
    def here(self) -> bool:
        """The calling thread is the one that turns, which must not wait for an answer."""
        return self._thread == threading.get_ident()

    def soon(self, task: Callable[[], Any]) -> None:
        """Have `task` called by the turning thread; may be used from any thread."""
        self._executor.create_task(task)

    def run(self, task: Callable[[], _T]) -> _T:
        """Have `task` called by the turning thread, and wait for its result; may be used from any thread."""
        if self.here:
            return task()
        return left_alone(task, self.soon).result(_TURN_TIMEOUT)

    def wait(
        self,
        done: Callable[[], object],
        seconds: float,
        check: Callable[[], object] = lambda: None,
        pause: Callable[[float], object] = time.sleep,
    ) -> bool:
        """Wait until something is `done`; return False where it is not within so many wall seconds.

        Not for the thread that turns. `check` is called between two looks, as is the loop's own, and may
        raise, too. `pause` waits for the next look, or less where there is news.
        """
        end = time.monotonic() + seconds
        while not done():
            self.check()
            check()
            if time.monotonic() > end:
                return False
            pause(_LOOK_S)
        return True

    def wake(self) -> None:
        """Let a waiting `turn` return; may be used from any thread or a signal handler."""
        self._executor.wake()

    def close(self) -> None:
        """Stop handling callbacks, and destroy the nodes, which the executor in C++ no longer looks into."""
        self._executor.shutdown(timeout_sec=1.0)
        for node in self._nodes:
            node.destroy_node()
