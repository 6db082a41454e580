"""Skills in real games, and a level as it is seen."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from spca_core.errors import InputError
from spca_nethack import engine
from spca_nethack.engine import INSTALL, Game
from spca_nethack.hero import SKILLS, Hero

needs_engine = pytest.mark.skipif(not engine.available(), reason=f"needs NLE: {INSTALL}")


@pytest.fixture
def game() -> Iterator[Game]:
    with closing(Game()) as game:
        yield game


def test_without_the_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "available", lambda: False)
    engine.nethack.cache_clear()
    with pytest.raises(InputError, match="pip install"):
        Game()
    engine.nethack.cache_clear()


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
def test_a_fountain_is_drunk_from_only_on_it(game: Game) -> None:
    hero = Hero(game, 2)
    refused = hero.do("drink")
    assert refused is not None and refused.kind == "precondition" and not hero.deeds.drank
    assert hero.do("goto fountain") is None and hero.do("drink") is None
    assert hero.deeds.drank and not game.asks


@needs_engine
def test_every_skill_can_be_tried_and_the_same_game_comes_again(game: Game) -> None:
    def play() -> list[object]:
        hero = Hero(game, 5)
        told = [hero.do(f"{name} box" if name == "goto" else name) for name in SKILLS]
        assert not game.asks
        return [*told, game.stats, game.position, game.inventory, hero.do("goto moon"), hero.do("fly")]

    assert play() == play()


@needs_engine
def test_paths_do_not_lead_diagonally_through_doors(game: Game) -> None:
    hero = Hero(game, 3)
    for _ in range(4):
        hero.do("explore")
    for square in hero.level.distances(game.position):
        path = hero.level.path(game.position, square.__eq__)
        steps = list(zip([game.position, *path], path, strict=False))
        assert all(max(abs(a[0] - b[0]), abs(a[1] - b[1])) == 1 for a, b in steps)
        assert all(hero.level.kind(b) != "wall" for _, b in steps)
