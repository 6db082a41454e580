"""The mission language: what is understood, and how what is not is told."""

from __future__ import annotations

import pytest

from spca_core.errors import InputError
from spca_core.ports.proposer import NotUnderstood
from spca_minigrid.levels import CATEGORIES, NINE, GridLevel, curriculum, find_level, select_levels
from spca_minigrid.mission import Mission, parse_mission
from spca_minigrid.world import GridWorld


def shown(mission: Mission) -> str:
    """Parts separated by |, clauses by &."""
    return " | ".join(
        " & ".join(" ".join((c.verb, c.noun.symbol, *([c.beside.symbol] if c.beside else []))) for c in part)
        for part in mission.parts
    )


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("go to the red ball", "go red_ball"),
        ("go to a door behind you", "go door_behind"),
        ("pick up the blue key on your left", "pick blue_key_on_the_left"),
        ("open the door in front of you", "open door_in_front"),
        ("pick up the green object", "pick green_thing"),
        ("put the grey box next to a purple door", "put grey_box purple_door"),
        ("put the yellow ball near the purple box", "put yellow_ball purple_box"),
        ("open the red door, then open the blue door", "open red_door | open blue_door"),
        ("open the red door then the blue door", "open red_door | open blue_door"),
        ("open the green door after you open the yellow door", "open yellow_door | open green_door"),
        ("pick up a box and go to the key", "pick box & go key"),
        (
            "go to a key and go to the ball after you go to the red ball and go to a key",
            "go red_ball & go key | go key_again & go ball",
        ),
        (
            "pick up the key and pick up a box on your left, then put a ball next to the green door "
            "behind you and open a door",
            "pick key & pick box_on_the_left | put ball green_door_behind & open door",
        ),
        ("get to the green goal square", "reach green_goal"),
        ("reach the goal", "reach goal"),
        ("traverse the rooms to get to the goal", "reach goal"),
        ("avoid the lava and get to the green goal square", "reach green_goal"),
        ("find the opening and get to the green goal square", "reach green_goal"),
        ("use the key to open the door and then get to the goal", "pick key | open door | reach goal"),
        (
            "get the yellow key from the grey room, unlock the yellow door and go to the goal",
            "open grey_door | pick yellow_key | open yellow_door | reach goal",
        ),
        ("you must fetch a grey ball", "pick grey_ball"),
        ("go get a blue key", "pick blue_key"),
        ("go to the matching object at the end of the hallway", "go matching_object"),
    ],
)
def test_missions_are_understood(text: str, meaning: str) -> None:
    assert shown(parse_mission(text)) == meaning


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the mission is empty"),
        ("sing a song", "cannot make sense of 'sing a song'"),
        ("go to the orange ball", "'the orange ball' names nothing I know; things are: door, key, ball"),
        ("go to the red ball and juggle", "cannot make sense of 'juggle'"),
        ("put the box on the ball", "cannot make sense of 'put the box on the ball'"),
    ],
)
def test_what_is_not_understood_is_told(text: str, words: str) -> None:
    with pytest.raises(NotUnderstood) as told:
        parse_mission(text)
    assert words in str(told.value)


@pytest.mark.parametrize("level", curriculum(), ids=lambda level: level.name)
def test_every_level_of_the_curriculum_can_be_made_and_understood(level: GridLevel) -> None:
    for seed in (100, 101):
        mission = parse_mission(GridWorld(level.env, seed).mission)
        assert mission.clauses


def test_the_curriculum_is_large_and_complete() -> None:
    levels = curriculum()
    assert len(levels) >= 102
    assert {level.category for level in levels} == set(CATEGORIES)
    assert len(NINE) == 9
    assert all(len(level.about) > 15 for level in levels)
    assert len({level.about for level in levels}) > 0.9 * len(levels)


def test_levels_are_found_by_name() -> None:
    assert find_level("MiniGrid-DoorKey-8x8") == find_level("MiniGrid-DoorKey-8x8-v0")
    with pytest.raises(InputError, match="did you mean MiniGrid-DoorKey-8x8"):
        find_level("MiniGrid-DorKey-8x8")
    assert {level.category for level in select_levels("hazard,unlock_door")} == {
        "hazard_avoidance",
        "unlock_door",
    }
    with pytest.raises(InputError, match="no MiniGrid level matches 'sokoban'"):
        select_levels("sokoban")


@pytest.mark.parametrize("word", [" after you ", " and ", ", then ", " from the red room"])
def test_a_mission_without_end_is_not_understood(word: str) -> None:
    with pytest.raises(NotUnderstood, match="at most 500 are read"):
        parse_mission("go to the red ball" + f"{word}go to the red ball" * 400)
