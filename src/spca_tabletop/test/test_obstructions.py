"""What is in the way of what, found by geometry and put into plans."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.observation import Observation
from spca_core.options import RunOptions
from spca_core.plan import PlanRequest
from spca_core.world import load_world
from spca_planner.planner import DraftingPlanner
from spca_planner.trusted import TrustedDomains
from spca_tabletop.environment import InprocTabletop
from spca_tabletop.kit import build_tabletop
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary

WORLD = load_world()
TOP = WORLD.table.top + 0.02
ON_PLATE = TOP + 0.008


@contextmanager
def table(level: str, **moved: tuple[float, float, float]) -> Iterator[tuple[InprocTabletop, Observation]]:
    poses = {o.model: (*o.position, WORLD.table.top + o.size[2] / 2) for o in WORLD.objects} | moved
    environment = build_tabletop(RunOptions(level=level, noise=False))
    environment._sim.reset(Layout(poses={n: Pose.from_xyz_yaw(*p, 0.0) for n, p in poses.items()}))
    try:
        yield environment, environment.sense()
    finally:
        environment.close()


def in_the_way(observation: Observation) -> set[str]:
    return {str(f) for f in observation.facts if f.predicate in ("blocks", "crowds")}


HEMMED = {"box_red": (0.5, 0.0, TOP), "box_green": (0.5, 0.045, TOP), "box_blue": (0.455, 0.0, TOP)}
FULL = {"box_green": (0.59, -0.17, ON_PLATE), "box_blue": (0.65, -0.15, ON_PLATE)}


@pytest.mark.parametrize(
    ("level", "moved", "facts", "first"),
    [
        ("stack_01", {}, set(), "pick_up(cube_red, table)"),
        (
            "pickup_02",
            HEMMED,
            {"blocks(cube_blue, cube_red)", "blocks(cube_green, cube_red)"},
            "pick_up(cube_blue, table)",
        ),
        (
            "pick_and_place_01",
            FULL,
            {"blocks(cube_blue, plate_red)", "blocks(cube_green, plate_red)"},
            "pick_up(cube_blue, plate_red)",
        ),
    ],
)
def test_what_is_in_the_way_is_moved_first(
    level: str, moved: dict, facts: set[str], first: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with table(level, **moved) as (environment, seen):
        assert in_the_way(seen) == facts
        task = environment.task
    trusted = TrustedDomains(tmp_path_factory.mktemp("trusted"))
    with DraftingPlanner("tabletop", BuiltinProposer(), trusted, TabletopVocabulary()) as planner:
        result = planner.plan(PlanRequest(attempt="1", task=task, observation=seen, skills=()))
    assert result.plan is not None
    assert str(result.plan.steps[0]) == first
