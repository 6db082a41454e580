"""The world `household`: find a thing in a room, perhaps treat it, and put it where it belongs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spca_copic.worlds.limited_actions import Played, PlayedAgain
from spca_core.errors import InputError, SpcaError
from spca_household.engine import Game
from spca_household.kinds import draw_habits
from spca_household.room import TASKS, draw_room, kind_of
from spca_programs.plan_world import (
    ActionKind,
    Briefing,
    Case,
    Remark,
    Situation,
    Split,
    require_task,
)

_GOALS = {
    "pick": "Find a thing and put it into or onto a receptacle of the kind that the task names.",
    "examine": "Find a thing, carry it to the desklamp and switch that on.",
    "clean": "Find a thing, clean it at the sink basin, and put it where the task says.",
    "heat": "Find a thing, heat it with the microwave, and put it where the task says.",
    "cool": "Find a thing, cool it with the fridge, and put it where the task says.",
    "pick_two": "Find two things of a kind and put both into or onto the same receptacle.",
}
_PROGRAMS = 5
"""There are about as many kinds of places to look into first, in kitchen and bedroom together."""
_EPISODES = {"pick_two": 60}
"""Two things to look for: with 20 rooms a trial there is still something to learn after ten trials."""
_HELD_OUT = 60
"""Of 20 rooms, programs may solve all that fail in every tenth room elsewhere."""
_ACTIONS = tuple(
    ActionKind(name=name, parameters=tuple(parameters.split()), about=about)
    for name, parameters, about in (
        ("goto", "receptacle", "walk to a receptacle; its contents are seen unless it is closed"),
        ("open", "receptacle", "open the receptacle in front of you"),
        ("close", "receptacle", "close the receptacle in front of you"),
        ("take", "object receptacle", "take an object out of or off the receptacle in front of you"),
        ("put", "object receptacle", "put the held object into or onto the receptacle in front of you"),
        ("clean", "object receptacle", "clean the held object at a sink basin in front of you"),
        ("heat", "object receptacle", "heat the held object with the microwave in front of you"),
        ("cool", "object receptacle", "cool the held object with the fridge in front of you"),
        ("use", "object", "switch on a lamp on the receptacle in front of you"),
    )
)


class HouseholdWorld(PlayedAgain):
    """See `spca_programs.ports.plan_world.PlanWorld`.

    Where things are kept is a habit of the house (`habits` draws another house): training and test cases
    have it in common, and nobody says what it is. What lies in a receptacle is seen only in front of it.
    """

    name = "household"
    tasks = TASKS
    cases = 600
    returns = True
    limit = 50  # as published
    cost = 0.01

    def __init__(self, habits: int = 1) -> None:
        super().__init__()
        self._habits = draw_habits(habits)
        self._game: Game | None = None
        self._shown: dict[str, dict[str, Any]] = {}
        """What is known of each receptacle; an entry is replaced, never changed: observations share them."""

    def split(self, task: str, train: int, seen: int, unseen: int, seed: int) -> Split:
        """A room of its own for every case."""
        require_task(task, TASKS, self.name)
        cases = [Case(task=task, name=f"{task} {k}", seed=seed) for k in range(train + seen + unseen)]
        return Split.of(cases, train, seen)

    def briefing(self, task: str) -> Briefing:
        """The actions, and a program that sits down."""
        require_task(task, TASKS, self.name)
        return Briefing.read(
            Path(__file__).parent, world=self.name, task=task, goal=_GOALS[task],
            example_task="Open a drawer.", programs=_PROGRAMS, episodes=_EPISODES.get(task, 20),
            held_out=_HELD_OUT,
        )  # fmt: skip

    def reset(self, case: Case) -> Situation:
        """A room in which nothing was looked into yet."""
        if case.task not in TASKS or not case.name.startswith(case.task):
            raise InputError(f"no case of {self.name}: {case.task}/{case.name}")
        self._game = Game(draw_room(case.task, self._habits, f"{case.seed}/{case.name}"))
        self._played, self._taken, self._over = Played(case=case), 0, False
        self._shown = {}
        for name in self._game.room.receptacles:
            self._show(name, None)
        return self._situation()

    def close(self) -> None:
        """Nothing to release."""

    def _playing(self) -> Game:
        if self._game is None:
            raise SpcaError("no episode has begun: reset first")
        return self._game

    def _act(self, action: str) -> Remark | None:
        """See `LimitedActions`; afterwards what is in front of the agent is seen, unless it is closed."""
        game = self._playing()
        if not game.act(action):
            return self._refused(action)
        at = game.where()
        if at:
            self._show(at, game.contents(at) if game.is_open(at) else self._shown[at].get("contents"))
        return None

    def _show(self, name: str, contents: Sequence[str] | None) -> None:
        shown = {"kind": kind_of(name), "open": self._playing().is_open(name)}
        self._shown[name] = shown if contents is None else {**shown, "contents": list(contents)}

    def _success(self) -> bool:
        return self._playing().won

    def _refused(self, action: str) -> Remark:
        """Why: the action or thing is unknown, the object is elsewhere, or a precondition does not hold."""
        game, text = self._playing(), action[:60]
        name, *arguments = action.split() or [""]
        kinds = {kind.name: len(kind.parameters) for kind in _ACTIONS}
        if kinds.get(name) != len(arguments):
            return Remark(kind="not_found", text=f"there is no action '{text}'")
        known = (*game.room.receptacles, *game.room.objects)
        if unknown := [a for a in arguments if a not in known]:
            return Remark(kind="not_found", text=f"{text}: there is no {unknown[0]}")
        if name == "take" and game.is_open(arguments[1]) and arguments[0] not in game.contents(arguments[1]):
            return Remark(kind="not_found", text=f"{text}: it is not there")
        return Remark(kind="precondition", text=f"{text}: nothing happens")

    def _situation(self) -> Situation:
        game = self._playing()
        at, held = game.where(), game.held()
        treated = game.treated(held) if held else []
        observation = {
            "at": at,
            "held": held,
            "held_is": treated,
            "receptacles": dict(self._shown),
            "steps_left": self.limit - self._taken,
            "thing": game.room.thing,
            "place": game.room.place,
        }
        seen = [name for name, receptacle in self._shown.items() if "contents" in receptacle]
        looked = sorted({kind_of(name) for name in seen})
        return Situation(
            instruction=game.room.instruction,
            observation=observation,
            actions=_ACTIONS,
            text=f"You are at {at or 'the entrance'} and hold {' '.join((*treated, held)) or 'nothing'}. "
            f"{self.limit - self._taken} steps are left. You looked into {len(seen)} receptacles "
            f"({', '.join(looked) or 'none'})"
            + (f"; here: {', '.join(self._shown[at]['contents']) or 'nothing'}." if at in seen else "."),
        )
