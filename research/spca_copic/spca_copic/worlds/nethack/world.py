"""The world `nethack`: NetHack itself, by small skills. Needs the optional package `nle`."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from spca_copic.worlds.limited_actions import Played, PlayedAgain
from spca_core.errors import InputError, SpcaError
from spca_nethack.engine import Game, nethack
from spca_nethack.hero import PLACES, SKILLS, Hero
from spca_programs.plan_world import ActionKind, Briefing, Case, Remark, Situation, Split, require_task

_LEVEL = 3
_NEAR = 3
_GOALS = {
    "drink": "Drink water from a fountain.",
    "open": "Open a large box or a chest.",
    "level": f"Reach experience level {_LEVEL}.",
}
_ACTIONS = tuple(
    ActionKind(name=name, parameters=("kind",) if name == "goto" else (), about=about)
    for name, about in SKILLS.items()
)


class NethackWorld(PlayedAgain):
    """See `spca_programs.ports.plan_world.PlanWorld`."""

    name = "nethack"
    tasks = tuple(_GOALS)
    cases = 200
    returns = False
    limit = 120
    cost = 0.005

    def __init__(self) -> None:
        super().__init__()
        nethack()
        self._game: Game | None = None
        self._hero: Hero | None = None

    def split(self, task: str, train: int, seen: int, unseen: int, seed: int) -> Split:
        """A game of its own for every case."""
        require_task(task, self.tasks, self.name)
        seeds = Random(f"nethack/{task}/{seed}").sample(range(2**31), train + seen + unseen)
        return Split.of([Case(task=task, name=f"game {s}", seed=s) for s in seeds], train, seen)

    def briefing(self, task: str) -> Briefing:
        """The skills, and a program that goes down."""
        require_task(task, self.tasks, self.name)
        return Briefing.read(
            Path(__file__).parent, world=self.name, task=task, goal=_GOALS[task],
            example_task="Go down to the next level.",
        )  # fmt: skip

    def reset(self, case: Case) -> Situation:
        """A new game."""
        if case.task not in self.tasks:
            raise InputError(f"no case of {self.name}: {case.task}/{case.name}")
        self._game = self._game or Game()
        self._hero = Hero(self._game, case.seed)
        self._played, self._taken, self._over = Played(case=case), 0, False
        return self._situation()

    def close(self) -> None:
        """End the game."""
        if self._game is not None:
            self._game.close()
            self._game = None
        self._hero, self._played, self._over = None, None, True

    def _playing(self) -> Hero:
        if self._hero is None:
            raise SpcaError("no episode has begun: reset first")
        return self._hero

    def _act(self, action: str) -> Remark | None:
        return self._playing().do(action)

    def _lost(self) -> Remark | None:
        game = self._playing().game
        return Remark(kind="violation", text=f"died: {' '.join(game.messages)[-120:]}") if game.over else None

    def _success(self) -> bool:
        hero = self._playing()
        task = self.played.case.task
        if task == "level":
            return int(hero.game.stats["level"]) >= _LEVEL
        return hero.deeds.drank if task == "drink" else hero.deeds.opened

    def _situation(self) -> Situation:
        hero = self._playing()
        level, game = hero.level, hero.game
        task, at = self.played.case.task, game.position
        enemies = hero.enemies()
        near, far = (
            [{"name": name, "distance": d} for d, _, name in enemies if (d <= _NEAR) == close]
            for close in (True, False)
        )
        frontier = level.frontier()
        within = level.distances(at)
        known = {
            kind: min((within[p] for p in level.places(kind) if p in within), default=-1)
            for kind in PLACES
            if level.places(kind)
        }
        observation: dict[str, Any] = {
            "goal": task,
            "stats": game.stats,
            "here": level.kind(at),
            "known": known,
            "near": near,
            "far": far,
            "unexplored": len(frontier & within.keys()),
            "locked": len(level.locked),
            "searched": int((level.searched > 0).sum()),
            "actions_left": self.limit - self._taken,
            "message": " ".join(game.messages)[-200:],
            "inventory": game.inventory,
            "rooms": level.rooms(),
        }
        stats = game.stats
        seen = ", ".join(f"{name} at {distance}" for distance, _, name in enemies) or "nobody"
        state = f"Level {stats['level']}, {stats['hp']} of {stats['max_hp']} hit points, {stats['hunger']}"
        return Situation(
            instruction=_GOALS[task],
            observation=observation,
            actions=_ACTIONS,
            text=f"{state}, depth {stats['depth']}, turn {stats['turn']}. You see {seen}. Known here: "
            f"{', '.join(known) or 'nothing'}; {len(frontier)} places are unexplored. "
            f"{self.limit - self._taken} actions are left.",
        )
