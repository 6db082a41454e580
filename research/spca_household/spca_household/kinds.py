"""Kinds of receptacles and objects, what may lie where, and a household's hidden habits."""

from __future__ import annotations

from random import Random
from typing import Literal

from spca_core.model import Record

Setting = Literal["kitchen", "bedroom"]


class ReceptacleKind(Record):
    """A kind of furniture or appliance: in which room, how many there are, whether it has a door."""

    setting: Setting
    fewest: int
    most: int
    openable: bool = False


RECEPTACLES: dict[str, ReceptacleKind] = {
    name: ReceptacleKind(setting=setting, fewest=fewest, most=most, openable=openable)
    for name, setting, fewest, most, openable in (
        ("cabinet", "kitchen", 10, 12, True),
        ("kitchendrawer", "kitchen", 8, 10, True),
        ("countertop", "kitchen", 4, 5, False),
        ("diningtable", "kitchen", 2, 3, False),
        ("kitchenshelf", "kitchen", 8, 10, False),
        ("stoveburner", "kitchen", 4, 4, False),
        ("fridge", "kitchen", 1, 1, True),
        ("microwave", "kitchen", 1, 1, True),
        ("sinkbasin", "kitchen", 1, 1, False),
        ("coffeemachine", "kitchen", 1, 1, False),
        ("garbagecan", "kitchen", 1, 1, False),
        ("drawer", "bedroom", 12, 14, True),
        ("dresser", "bedroom", 4, 4, True),
        ("safe", "bedroom", 1, 1, True),
        ("wardrobe", "bedroom", 6, 8, True),
        ("desk", "bedroom", 3, 3, False),
        ("shelf", "bedroom", 11, 13, False),
        ("sidetable", "bedroom", 4, 4, False),
        ("bed", "bedroom", 1, 1, False),
        ("armchair", "bedroom", 3, 3, False),
    )
}
_FOOD = ("countertop", "diningtable", "fridge", "kitchenshelf", "cabinet", "microwave", "garbagecan")
_DISHES = ("cabinet", "countertop", "diningtable", "kitchenshelf", "kitchendrawer", "fridge", "microwave",
           "coffeemachine")  # fmt: skip
_CUTLERY = ("kitchendrawer", "countertop", "diningtable", "cabinet", "kitchenshelf", "sinkbasin")
_POTS = ("stoveburner", "cabinet", "countertop", "kitchenshelf", "kitchendrawer", "fridge")
_SMALL = ("drawer", "dresser", "desk", "shelf", "sidetable", "bed", "armchair", "wardrobe", "safe")


class ObjectKind(Record):
    """A kind of object: where it may lie, and what may be done to it."""

    places: tuple[str, ...]
    treatments: tuple[str, ...] = ()


OBJECTS: dict[str, ObjectKind] = {
    name: ObjectKind(places=places, treatments=tuple(treatments.split()))
    for name, places, treatments in (
        ("apple", _FOOD, "clean heat cool"),
        ("bread", _FOOD, "heat cool"),
        ("egg", _FOOD, "clean heat cool"),
        ("lettuce", _FOOD, "clean cool"),
        ("potato", _FOOD, "clean heat cool"),
        ("tomato", _FOOD, "clean heat cool"),
        ("cup", _DISHES, "clean heat cool"),
        ("mug", _DISHES, "clean heat cool"),
        ("plate", _DISHES, "clean heat cool"),
        ("bowl", _DISHES, "clean cool"),
        ("fork", _CUTLERY, "clean"),
        ("spoon", _CUTLERY, "clean"),
        ("knife", _CUTLERY, "clean"),
        ("pan", _POTS, "clean cool"),
        ("pot", _POTS, "clean cool"),
        ("book", _SMALL, ""),
        ("pen", _SMALL, ""),
        ("pencil", _SMALL, ""),
        ("watch", _SMALL, ""),
        ("keychain", _SMALL, ""),
        ("cellphone", _SMALL, ""),
        ("creditcard", _SMALL, ""),
        ("alarmclock", _SMALL, ""),
    )
}
LAMP = "desklamp"
APPLIANCES = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}
"""Treatment → the kind of receptacle at which it is done."""
Habits = dict[str, tuple[str, str]]
"""Kind of object → the kinds of receptacles where it is kept usually, and sometimes."""


def draw_habits(seed: int) -> Habits:
    """Draw where the people of household `seed` keep things: nobody says, but it can be learned."""
    rng = Random(f"habits/{seed}")
    habits: Habits = {}
    for name, kind in OBJECTS.items():
        usual, sometimes = rng.sample([p for p in kind.places if p != "garbagecan"], 2)
        habits[name] = (usual, sometimes)
    return habits
