"""The outer process of a worker: it waits, and kills the inner one when the host is gone."""

from __future__ import annotations

import os
import select
import signal
from typing import NoReturn


def split(lifeline: int) -> None:
    """Fork. The child returns; the parent stays behind as its guard and never does.

    The child is process 1 of a new PID namespace if there is one: when it dies, everything in it dies.
    """
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    child = os.fork()
    if child:
        _watch(child, lifeline, awake)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.close(awake)
    os.close(wake)


def _watch(child: int, lifeline: int, awake: int) -> NoReturn:
    """Wait until the child or the host ends, and exit with the child's status.

    The host's end shows as a closed lifeline pipe.
    """
    for fd in (0, 1, 2):
        os.close(fd)
    poll = select.poll()
    poll.register(lifeline, select.POLLIN)
    poll.register(awake, select.POLLIN)
    while True:
        ready = {fd for fd, _ in poll.poll()}
        if lifeline in ready:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os._exit(0)
        os.read(awake, 64)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            killed = os.WIFSIGNALED(status)
            os._exit(128 + os.WTERMSIG(status) if killed else os.WEXITSTATUS(status))
