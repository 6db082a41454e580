"""Every world keeps to the contract of its port."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from spca_copic.run import open_world
from spca_copic.worlds.household.world import HouseholdWorld
from spca_copic.worlds.nethack.world import NethackWorld
from spca_nethack import engine as nethack
from spca_programs.contracts.plan_world_contract import PlanWorldContract
from spca_programs.plan_world import ActionSequence, Situation
from spca_programs.ports.plan_world import PlanWorld


class TestBuildOrder(PlanWorldContract):
    task = "medium"

    @contextmanager
    def fresh(self) -> Iterator[PlanWorld]:
        yield open_world("build_order")

    def useful(self, situation: Situation) -> ActionSequence:
        return ("TRAIN SCV", "BUILD SupplyDepot")


class TestHousehold(PlanWorldContract):
    task = "heat"

    @contextmanager
    def fresh(self) -> Iterator[PlanWorld]:
        yield HouseholdWorld()

    def useful(self, situation: Situation) -> ActionSequence:
        return ("goto fridge_1", "open fridge_1")


@pytest.mark.skipif(not nethack.available(), reason=f"needs NLE: {nethack.INSTALL}")
class TestNethack(PlanWorldContract):
    task = "level"

    @contextmanager
    def fresh(self) -> Iterator[PlanWorld]:
        with closing(NethackWorld()) as world:
            yield world

    def useful(self, situation: Situation) -> ActionSequence:
        return ("explore",)
