"""Rooms that can be played to the end by ALFWorld's own rules."""

import hashlib
import json
from copy import copy
from pathlib import Path

import pytest

from spca_household.engine import STATES, Game
from spca_household.kinds import APPLIANCES, RECEPTACLES, draw_habits
from spca_household.room import TASKS, Room, draw_room, kind_of

HABITS = draw_habits(0)
WALKS = json.loads(Path(__file__).with_name("alfworld_walks.json").read_text())


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


@pytest.mark.parametrize("task", TASKS)
def test_a_room_can_be_solved_and_is_won_only_at_the_end(task: str) -> None:
    for seed in range(3):
        game = Game(draw_room(task, HABITS, seed))
        for command in solution(game.room):
            assert not game.won
            assert game.act(command), command
        assert game.won


def copied(game: Game) -> Game:
    """A game in which a command can be tried."""
    other = copy(game)
    vars(other).update((name, copy(value)) for name, value in vars(game).items())
    return other


@pytest.mark.parametrize("name", WALKS)
def test_alfworlds_engine_allows_the_same(name: str) -> None:
    """In each state of random walks, recorded from `alfworld` 0.4.2: digests of all commands it allowed."""
    task, number = name.split()
    room = draw_room(task, draw_habits(1), f"engine/{number}")
    places, things = room.receptacles, tuple(room.objects)
    commands = [f"{verb} {place}" for verb in ("goto", "open", "close") for place in places]
    commands += [f"use {thing}" for thing in things]
    verbs = ("take", "put", *STATES)
    commands += [f"{verb} {thing} {place}" for verb in verbs for thing in things for place in places]
    game = Game(room)
    for command, allowed, won in WALKS[name]:
        legal = sorted(one for one in commands if copied(game).act(one))
        assert hashlib.sha256("\n".join(legal).encode()).hexdigest()[:12] == allowed
        assert game.won == won and game.act(command)


def test_habits_decide_where_things_lie() -> None:
    rooms = [draw_room("cool", HABITS, seed) for seed in range(200)]
    usual = sum(kind_of(room.objects[f"{room.thing}_1"]) == HABITS[room.thing][0] for room in rooms)
    assert 130 < usual < 190
