"""What someone with full knowledge of a level would need, to compare runs with."""

from __future__ import annotations

from spca_benchmarks.minigrid.shortest import Truth, shortest
from spca_core.model import Record
from spca_minigrid.levels import GridLevel
from spca_minigrid.mission import parse_mission
from spca_minigrid.referents import Referents
from spca_minigrid.world import GridWorld
from spca_minigrid.worldmap import WorldMap


class Reference(Record):
    """The mission, and the length of the shortest way to fulfil it (None where things move by themselves).

    `in_view`: all that can be reached is seen at the first look; `named_in_view`: all that the mission names
    is.
    """

    mission: str
    steps: int | None
    in_view: bool
    named_in_view: bool


def reference(level: GridLevel, seed: int) -> Reference:
    """The reference for a level with a seed."""
    world = GridWorld(level.env, seed)
    truth = Truth(world)
    known = WorldMap()
    known.observe(*world.look())
    mission = parse_mission(world.mission)
    referents = Referents(known, mission)
    x, y = truth.place
    moving = level.category == "dynamic_obstacle_avoidance"
    return Reference(
        mission=world.mission,
        steps=None if moving else shortest(world, mission, level.report),
        in_view=all((px - x, py - y) in known.cells for px, py in truth.reachable()),
        named_in_view=all(referents.find(noun.symbol) for noun in mission.nouns),
    )
