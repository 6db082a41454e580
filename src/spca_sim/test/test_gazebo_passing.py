"""Gazebo's time passes as far as somebody asks for it, and a Gazebo that hangs is ended."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from spca_sim.gazebo.passing import Hanging, Passing, gazebo_process
from spca_sim.gazebo.write import STEP


class Clock:
    """Gazebo, which does what it is granted at once unless it does not `hear`."""

    def __init__(self) -> None:
        self.now, self.steps, self.free, self.hears = 5.0, 0, True, True

    def control(self, steps: int) -> None:
        if self.hears:
            self.free, self.steps = False, self.steps + steps

    def run(self) -> None:
        self.now, self.steps = self.now + self.steps * STEP, 0


def test_no_step_is_granted_twice_and_a_wish_that_gazebo_did_not_hear_once_more() -> None:
    """Time runs freely until somebody asks for it."""
    clock = Clock()
    passing = Passing(clock.control, lambda: clock.now)
    assert clock.free
    for moment, steps in ((5.1, 40), (5.1, 40), (5.05, 40), (5.12, 48)):
        passing.until(moment)
        assert not clock.free and clock.steps == steps
    clock.run()
    assert clock.now == pytest.approx(5.12)
    clock.hears = False
    passing.until(5.22)
    clock.hears = True
    passing.until(5.22)
    assert clock.steps == 0
    passing.until(5.22, anew=True)
    assert clock.steps == 40


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
    """A process that is called like Gazebo's server, and uses the processor."""
    monkeypatch.setenv("GZ_PARTITION", "of_this_test")
    command = [sys.executable, "-c", "print(flush=True)\nwhile True: pass", "gz sim -s world.sdf"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        yield psutil.Process(program.pid)
        program.kill()


def test_a_process_that_works_is_left_alone_and_one_that_is_stopped_is_ended(busy: psutil.Process) -> None:
    now = 0.0
    hanging = Hanging(busy, lambda: now)
    for now in range(0, 50, 5):  # noqa: B007
        used = busy.cpu_times().user
        while busy.cpu_times().user == used:  # until it has come to its turn
            pass
        assert not hanging.end_it()
    busy.suspend()
    while busy.status() != psutil.STATUS_STOPPED:
        pass
    hanging, ended = Hanging(busy, lambda: now), []
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
