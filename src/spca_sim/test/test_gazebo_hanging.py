"""A Gazebo that hangs is ended, one that is slow is not: real processes, and a clock of the test's own."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from spca_sim.gazebo.passing import Hanging, gazebo_process


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
    """A process that is called like Gazebo's server, and uses the processor."""
    monkeypatch.setenv("GZ_PARTITION", "of_this_test")
    command = [sys.executable, "-c", "print(flush=True)\nwhile True: pass", "gz sim -s world.sdf"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        yield psutil.Process(program.pid)
        program.kill()


def test_a_process_that_works_is_left_alone(busy: psutil.Process) -> None:
    now = 0.0
    hanging = Hanging(busy, lambda: now)
    for now in range(0, 50, 5):  # noqa: B007
        used = busy.cpu_times().user
        while busy.cpu_times().user == used:  # until it has come to its turn
            pass
        assert not hanging.end_it()
    assert busy.is_running()


def test_a_process_that_is_stopped_is_ended(busy: psutil.Process) -> None:
    busy.suspend()
    while busy.status() != psutil.STATUS_STOPPED:
        pass
    now = 100.0
    hanging = Hanging(busy, lambda: now)
    ended = []
    for now in (100.0, 101.0, 102.0, 103.0):  # noqa: B007
        ended.append(hanging.end_it())
    assert ended == [False, False, False, True]
    assert busy.wait() == -signal.SIGKILL
    assert not hanging.end_it()


def test_gazebo_is_found_by_its_partition(busy: psutil.Process, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gazebo_process() == busy
    monkeypatch.setenv("GZ_PARTITION", "another")
    assert gazebo_process() is None
    monkeypatch.delenv("GZ_PARTITION")
    assert gazebo_process() is None
