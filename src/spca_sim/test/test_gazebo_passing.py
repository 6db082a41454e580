"""Gazebo's time passes as far as somebody asks for it."""

import pytest

from spca_sim.gazebo.passing import Passing
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


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def passing(clock: Clock) -> Passing:
    return Passing(clock.control, lambda: clock.now)


def test_time_runs_freely_until_somebody_asks_for_it(clock: Clock, passing: Passing) -> None:
    assert clock.free
    passing.until(5.1)
    assert not clock.free and clock.steps == 40


def test_no_step_is_granted_twice(clock: Clock, passing: Passing) -> None:
    passing.until(5.1)
    passing.until(5.1)
    passing.until(5.05)
    assert clock.steps == 40
    passing.until(5.12)
    assert clock.steps == 48
    clock.run()
    assert clock.now == pytest.approx(5.12)


def test_a_wish_that_gazebo_did_not_hear_is_granted_once_more(clock: Clock, passing: Passing) -> None:
    passing.until(5.1)
    clock.run()
    clock.hears = False
    passing.until(5.2)
    clock.hears = True
    passing.until(5.2)
    assert clock.steps == 0
    passing.until(5.2, anew=True)
    assert clock.steps == 40
