"""The MiniGrid curriculum: levels in categories, one file a category in `levels/minigrid/curriculum/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, get_args

from spca_core.errors import InputError, did_you_mean, one_of
from spca_core.model import Record
from spca_core.paths import LEVELS
from spca_core.validation import expecting, read_yaml

CURRICULUM = LEVELS / "minigrid" / "curriculum"

Category = Literal[
    "goal_navigation", "static_obstacle_navigation", "hazard_avoidance", "pickup_only", "open_door",
    "memory_ordering", "unlock_door", "unlock_pickup", "obstacle_blocking", "object_placement",
    "composite_skills", "dynamic_obstacle_avoidance",
]  # fmt: skip
CATEGORIES: tuple[Category, ...] = get_args(Category)
NINE = CATEGORIES[:9]
"""The categories of the published evaluation; three go beyond it."""


class GridLevel(Record):
    """One level. `env` is the id registered with gymnasium, `about` what it is like, in our words."""

    env: str
    category: Category
    about: str
    report: bool = False
    """Arriving has to be reported with the primitive DONE."""

    @property
    def name(self) -> str:
        """The id without its version, for example `MiniGrid-DoorKey-8x8`."""
        return self.env.rpartition("-v")[0]


class _File(Record):
    category: Category
    about: str
    levels: tuple[dict[str, str | bool], ...]


@cache
def curriculum(folder: Path = CURRICULUM) -> tuple[GridLevel, ...]:
    """Return all levels, category by category. Raises InputError with the file and what is wrong in it."""
    found: dict[str, GridLevel] = {}
    for category in CATEGORIES:
        path = folder / f"{category}.yaml"
        content = read_yaml(path, "a category of the curriculum")
        with expecting("a category of the curriculum", path):
            file = _File.model_validate(content)
            levels = [GridLevel.model_validate({**entry, "category": file.category}) for entry in file.levels]
        for level in levels:
            if level.name in found:
                raise InputError(f"level {level.name} is there twice", str(path))
            found[level.name] = level
    return tuple(found.values())


def find_level(name: str) -> GridLevel:
    """Return a level by its name, or its environment's id. Raises InputError with names that are near."""
    known = {level.name: level for level in curriculum()} | {level.env: level for level in curriculum()}
    if name in known:
        return known[name]
    raise InputError(f"unknown MiniGrid level '{name}'", "minigrid/", did_you_mean(name, known, 3))


def select_levels(pattern: str = "") -> tuple[GridLevel, ...]:
    """Return the levels whose category or name begins with one of the comma-separated words.

    An empty text means all levels.
    """
    words = tuple(filter(None, map(str.strip, pattern.split(",")))) or ("",)
    chosen = tuple(
        one for one in curriculum() if one.category.startswith(words) or one.name.startswith(words)
    )
    if not chosen:
        raise InputError(f"no MiniGrid level matches '{pattern}'", hint=one_of(pattern, CATEGORIES))
    return chosen
