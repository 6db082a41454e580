"""Gazebo stands still while nothing is asked of it, and only then."""

from __future__ import annotations

from spca_gazebo.idleness import Idleness


class Paused:
    """Records what was asked; refuses while `refusing`."""

    def __init__(self) -> None:
        self.asked: list[bool] = []
        self.refusing = False

    def __call__(self, still: bool) -> str:
        self.asked.append(still)
        return "Gazebo does not answer" if self.refusing else ""


def test_time_stands_still_before_the_first_level_and_after_the_last() -> None:
    paused = Paused()
    idleness = Idleness(paused, after=0.0)
    idleness.look()
    idleness.look()
    assert paused.asked == [True], "asked once"
    with idleness.working():
        assert paused.asked == [True, False]
        idleness.look()
        idleness.level_begins()
    idleness.look()
    assert paused.asked == [True, False], "not within a level, whatever a model thinks about"
    idleness.level_ends()
    idleness.look()
    assert paused.asked == [True, False, True]


def test_it_waits_a_while_before_it_stops_time_but_not_after_a_level() -> None:
    paused = Paused()
    idleness = Idleness(paused, after=60.0)
    idleness.look()
    assert not paused.asked
    idleness.level_ends()
    idleness.look()
    assert paused.asked == [True], "a run's video is drawn then"


def test_a_refused_request_is_tried_again() -> None:
    paused = Paused()
    idleness = Idleness(paused, after=0.0)
    paused.refusing = True
    idleness.look()
    paused.refusing = False
    idleness.look()
    with idleness.working():
        pass
    assert paused.asked == [True, True, False]
