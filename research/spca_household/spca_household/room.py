"""Rooms and tasks drawn by seed: which furniture there is, and what lies where."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any

from spca_core.model import Record
from spca_household.kinds import APPLIANCES, LAMP, OBJECTS, RECEPTACLES, Habits, Setting
from spca_programs.plan_world import require_task

TASKS = ("pick", "examine", "clean", "heat", "cool", "pick_two")
"""The six task types of ALFWorld."""
_USUALLY = 0.85
"""How often an object is where it is kept usually; else it is where it is kept sometimes."""
_OTHERS = 9
"""Objects beside those of the task."""
_SENTENCES = {
    "pick": "Put one {thing} into or onto the {place}.",
    "examine": "Look at the {thing} under the desklamp.",
    "clean": "Clean one {thing} and put it into or onto the {place}.",
    "heat": "Heat one {thing} and put it into or onto the {place}.",
    "cool": "Cool one {thing} and put it into or onto the {place}.",
    "pick_two": "Put two {thing}s into or onto the {place}.",
}


class Room(Record):
    """One room and what is to be done in it. Names are a kind and a number: `cabinet_3`, `apple_1`."""

    task: str
    thing: str
    """Kind of the object that the task is about."""
    place: str
    """Kind of the receptacle where it is to end up; empty for `examine`."""
    receptacles: tuple[str, ...]
    objects: dict[str, str]
    """Object → the receptacle it lies in or on."""

    @property
    def instruction(self) -> str:
        """The task in words."""
        return _SENTENCES[self.task].format(thing=self.thing, place=self.place)


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """The kind of a thing: its name without the number."""
    return name.rpartition("_")[0]


def draw_room(task: str, habits: Habits, seed: Any) -> Room:
    """A room for a task type. Raises InputError for an unknown one."""
    require_task(task, TASKS, "household")
    rng = Random(f"room/{task}/{seed}")
    setting: Setting = "kitchen" if task in APPLIANCES else "bedroom"
    if task in ("pick", "pick_two"):
        setting = rng.choice(("kitchen", "bedroom"))
    kinds = [name for name, kind in RECEPTACLES.items() if kind.setting == setting]
    counts = {name: rng.randint(RECEPTACLES[name].fewest, RECEPTACLES[name].most) for name in kinds}
    receptacles = [f"{name}_{k + 1}" for name, count in counts.items() for k in range(count)]
    rng.shuffle(receptacles)
    fitting = [o for o in OBJECTS if set(OBJECTS[o].places) & set(kinds)]
    suitable = [o for o in fitting if task not in APPLIANCES or task in OBJECTS[o].treatments]
    thing = rng.choice(suitable)
    copies = 2 if task == "pick_two" else 1
    where = [_lies(thing, habits, receptacles, rng) for _ in range(copies)]
    goals = [k for k in OBJECTS[thing].places if k in counts and k not in {kind_of(r) for r in where}]
    goals = [k for k in goals if k != APPLIANCES.get(task)]
    place = "" if task == "examine" else rng.choice(goals)
    others = rng.sample([o for o in fitting if o != thing], min(_OTHERS, len(fitting) - 1))
    objects = {f"{thing}_{k + 1}": r for k, r in enumerate(where)}
    objects |= {f"{other}_1": _lies(other, habits, receptacles, rng) for other in others}
    if setting == "bedroom":
        objects[f"{LAMP}_1"] = rng.choice([r for r in receptacles if kind_of(r) in ("desk", "sidetable")])
    return Room(task=task, thing=thing, place=place, receptacles=tuple(receptacles), objects=objects)


def _lies(thing: str, habits: Habits, receptacles: list[str], rng: Random) -> str:
    usual, sometimes = habits[thing]
    kind = usual if rng.random() < _USUALLY else sometimes
    return rng.choice([r for r in receptacles if kind_of(r) == kind])
