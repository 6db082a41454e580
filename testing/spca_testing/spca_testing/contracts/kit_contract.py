"""The contract of the port `Kit`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spca.kits import faults_of
from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_core.plan import PlanRequest, Task
from spca_core.ports.kit import Kit
from spca_core.ports.proposer import NotUnderstood
from spca_core.scene import Observation


class KitContract:
    """Subclass it with the kit's class as `kit`, and an `unknown` level that the kit has not."""

    kit: Callable[[], Kit]
    unknown: str

    def test_it_lacks_nothing(self) -> None:
        """Every part is there, its skills are Python, and each level that it lists could begin."""
        assert not faults_of(type(self).kit())

    def test_an_unknown_level_is_refused(self) -> None:
        """Before anything is built, in one clear line."""
        kit = type(self).kit()
        with pytest.raises(InputError):
            kit.check(RunOptions(level=self.unknown, preset=kit.presets[0]))
        with pytest.raises(InputError):
            kit.build(RunOptions(level=self.unknown, preset=kit.presets[0]))

    def test_a_level_is_of_the_environment_that_the_kit_names(self) -> None:
        """Name, calls and skills agree, so that what is learned is found again."""
        kit = type(self).kit()
        environment = kit.build(RunOptions(level=kit.levels()[0].name, preset=kit.presets[0]))
        try:
            assert environment.name == kit.name
            assert environment.api == kit.api
            assert environment.builtin_skills == kit.builtin_skills
        finally:
            environment.close()

    def test_what_the_builtin_proposer_does_not_read_it_says(self) -> None:
        """NotUnderstood, with what would be."""
        task = Task(group="none", id="none", title="Frobnicate", description="Frobnicate the wug.")
        seen = Observation(stamp=0.0, objects={}, facts=(), sentences=("Nothing is seen.",))
        request = PlanRequest(attempt="1", task=task, observation=seen, skills=())
        with pytest.raises(NotUnderstood, match=r"\w"):
            type(self).kit().builtin().draft(request, None, None)
