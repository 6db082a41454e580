"""Rooms that can be played to the end by ALFWorld's own rules."""

from __future__ import annotations

import pytest

from spca_core.errors import InputError
from spca_household.engine import INSTALL, Game, available
from spca_household.kinds import APPLIANCES, OBJECTS, RECEPTACLES, draw_habits
from spca_household.room import TASKS, Room, draw_room, kind_of

needs_engine = pytest.mark.skipif(not available(), reason=f"needs ALFWorld: {INSTALL}")
HABITS = draw_habits(0)


def solution(room: Room) -> list[str]:
    """Commands of somebody who knows where everything is."""
    found: list[str] = []

    def go(receptacle: str) -> None:
        if f"goto {receptacle}" not in [c for c in found if c.startswith("goto")][-1:]:
            found.append(f"goto {receptacle}")
        if RECEPTACLES[kind_of(receptacle)].openable and f"open {receptacle}" not in found:
            found.append(f"open {receptacle}")

    things = [o for o in room.objects if kind_of(o) == room.thing]
    for thing in things[: 2 if room.task == "pick_two" else 1]:
        go(room.objects[thing])
        found.append(f"take {thing} {room.objects[thing]}")
        if room.task in APPLIANCES:
            appliance = f"{APPLIANCES[room.task]}_1"
            go(appliance)
            found.append(f"{room.task} {thing} {appliance}")
        if room.task == "examine":
            go(room.objects["desklamp_1"])
            found.append("use desklamp_1")
        else:
            goal = next(r for r in room.receptacles if kind_of(r) == room.place)
            go(goal)
            found.append(f"put {thing} {goal}")
    return found


@needs_engine
@pytest.mark.parametrize("task", TASKS)
def test_a_room_can_be_solved_and_is_won_only_at_the_end(task: str) -> None:
    for seed in range(3):
        game = Game(draw_room(task, HABITS, seed))
        for command in solution(game.room):
            assert not game.won
            assert game.act(command), (command, sorted(game.commands()))
        assert game.won


@needs_engine
def test_two_games_at_once_do_not_disturb_each_other() -> None:
    one, other = (Game(draw_room("heat", HABITS, seed)) for seed in (1, 2))
    for command, receptacle in zip(solution(one.room), other.room.receptacles, strict=False):
        assert one.act(command) and other.act(f"goto {receptacle}")
    assert one.won and not other.won
    facts = one.facts
    one.replay(one.done)
    assert one.facts == facts and one.won


def test_habits_decide_where_things_lie() -> None:
    usual = 0
    for seed in range(200):
        room = draw_room("cool", HABITS, seed)
        lies = kind_of(room.objects[f"{room.thing}_1"])
        assert lies in OBJECTS[room.thing].places and lies != room.place
        usual += lies == HABITS[room.thing][0]
    assert 130 < usual < 190
    assert draw_habits(1) != HABITS == draw_habits(0)
    with pytest.raises(InputError, match="unknown task type 'dance'"):
        draw_room("dance", HABITS, 0)
