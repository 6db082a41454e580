"""The contract of the port `Rehearsal`."""

from __future__ import annotations

from spca_core.plan import Plan
from spca_core.ports.stages import Rehearsal
from spca_core.scene import Observation

BROKEN = '''def {name}(ctx, *args):
    """Fail."""
    raise ValueError("as the contract wants it")
'''
_SIMULATED_S = 120.0


class RehearsalContract:
    """Subclass it with fixtures `rehearsal`, and `plan`, `library`, `observation` of a plan that works."""

    def test_a_skill_that_fails_is_rejected_and_named(
        self, rehearsal: Rehearsal, plan: Plan, observation: Observation
    ) -> None:
        """The sentence says which step it was and why."""
        name = plan.steps[0].action
        found = rehearsal.try_out("run/1.1", plan, BROKEN.format(name=name), observation, _SIMULATED_S)
        assert (found.status, found.suspects) == ("rejected", (name,))
        assert f"step 1 {plan.steps[0]}" in found.sentence and "as the contract wants it" in found.sentence

    def test_a_library_that_is_not_python_is_rejected(
        self, rehearsal: Rehearsal, plan: Plan, observation: Observation
    ) -> None:
        """It never raises for bad skills."""
        assert rehearsal.try_out("run/1.1", plan, "def (", observation, _SIMULATED_S).status == "rejected"

    def test_a_plan_that_works_is_accepted_and_the_same_again(
        self, rehearsal: Rehearsal, plan: Plan, library: str, observation: Observation
    ) -> None:
        """Nobody is to blame; the same attempt in another run has the same worlds and the same end."""
        first, second = (
            rehearsal.try_out(f"{run}/1.1", plan, library, observation, _SIMULATED_S) for run in ("a", "b")
        )
        assert first.status == "accepted", first.sentence
        assert first.attempt == "a/1.1" and first.tries and not first.suspects
        assert [(t.perturbation, t.simulated) for t in first.tries] == [
            (t.perturbation, t.simulated) for t in second.tries
        ]

    def test_without_time_nothing_is_said(
        self, rehearsal: Rehearsal, plan: Plan, library: str, observation: Observation
    ) -> None:
        """A plan is neither accepted nor rejected by tries that were cut short."""
        assert rehearsal.try_out("run/1.1", plan, library, observation, 0.0).status == "unfinished"
        stopped = rehearsal.try_out("run/1.1", plan, library, observation, _SIMULATED_S, lambda: True)
        assert stopped.status == "unfinished"

    def test_what_shows_nothing_cannot_be_rehearsed(
        self, rehearsal: Rehearsal, plan: Plan, library: str, observation: Observation
    ) -> None:
        """An observation without a record of where things are is no scene to try anything in."""
        blind = observation.model_copy(update={"scene": None, "detail": {}})
        found = rehearsal.try_out("run/1.1", plan, library, blind, _SIMULATED_S)
        assert found.status == "impossible" and found.sentence

    def test_closing_twice_is_harmless(self, rehearsal: Rehearsal) -> None:
        """Clean-up code does not need to know."""
        rehearsal.close()
        rehearsal.close()
