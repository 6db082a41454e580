"""The mission language: what is understood, and how what is not is told."""

from pathlib import Path

import pytest
import yaml

from spca_core.ports.proposer import NotUnderstood
from spca_minigrid.levels import curriculum
from spca_minigrid.mission import Mission, parse_mission
from spca_minigrid.world import GridWorld

MISSIONS = yaml.safe_load(Path(__file__).with_name("missions.yaml").read_text())


def shown(mission: Mission) -> str:
    """Parts separated by |, clauses by &."""
    return " | ".join(
        " & ".join(" ".join((c.verb, c.noun.symbol, *([c.beside.symbol] if c.beside else []))) for c in part)
        for part in mission.parts
    )


@pytest.mark.parametrize(("text", "meaning"), MISSIONS["understood"].items())
def test_missions_are_understood(text: str, meaning: str) -> None:
    assert shown(parse_mission(text)) == meaning


@pytest.mark.parametrize(("text", "words"), MISSIONS["refused"].items())
def test_what_is_not_understood_is_told(text: str, words: str) -> None:
    with pytest.raises(NotUnderstood) as told:
        parse_mission(text)
    assert words in str(told.value)


def test_every_level_of_the_curriculum_can_be_made_and_understood() -> None:
    for level in curriculum():
        assert parse_mission(GridWorld(level.env, 100).mission).clauses, level.name


@pytest.mark.parametrize("word", [" after you ", ", then "])
def test_a_mission_without_end_is_not_understood(word: str) -> None:
    with pytest.raises(NotUnderstood, match="at most 500 are read"):
        parse_mission("go to the red ball" + f"{word}go to the red ball" * 400)
