"""Skills in real games, and a level as it is seen."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from spca_nethack import engine
from spca_nethack.engine import INSTALL, Game
from spca_nethack.hero import SKILLS, Hero

needs_engine = pytest.mark.skipif(not engine.available(), reason=f"needs NLE: {INSTALL}")


@pytest.fixture
def game() -> Iterator[Game]:
    with closing(Game()) as game:
        yield game


@needs_engine
def test_exploring_shows_more_and_leads_down(game: Game) -> None:
    hero = Hero(game, 3)
    level, before = hero.level, hero.level.visited.sum()
    for _ in range(40):
        if "stairs_down" in level.kinds():
            break
        hero.do("fight" if hero.enemies() and hero.enemies()[0][0] < 2 else "explore")
    assert level is hero.level and level.visited.sum() > before and level.rooms()
    assert hero.do("goto stairs_down") is None and hero.level.kind(game.position) == "stairs_down"
    assert hero.do("descend") is None and game.stats["depth"] == 2


@needs_engine
def test_every_skill_can_be_tried_and_the_same_game_comes_again(game: Game) -> None:
    def play() -> list[object]:
        hero = Hero(game, 5)
        told = [hero.do(f"{name} box" if name == "goto" else name) for name in SKILLS]
        assert not game.asks
        return [*told, game.stats, game.position, game.inventory, hero.do("goto moon"), hero.do("fly")]

    assert play() == play()
