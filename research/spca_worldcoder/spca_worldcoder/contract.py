"""The contract of the port `ModelSynthesizer`."""

from __future__ import annotations

from spca_worldcoder.critic import judge
from spca_worldcoder.records import Experience, Program, Verdict
from spca_worldcoder.sandbox import SIGNATURES, ModelRunner
from spca_worldcoder.synthesizer import ModelSynthesizer


class ModelSynthesizerContract:
    """Subclass it with fixtures `synthesizer`, `experience` (of a world it can learn), and `runner`."""

    def test_it_has_a_name(self, synthesizer: ModelSynthesizer) -> None:
        """For records."""
        assert synthesizer.name

    def test_a_first_program_has_both_functions(
        self, synthesizer: ModelSynthesizer, experience: Experience, runner: ModelRunner
    ) -> None:
        """It can be loaded, whatever it is worth."""
        program = synthesizer.first(experience)
        assert all(f"def {name}(" in program.source for name in SIGNATURES)
        assert runner.load(program) == ""

    def test_a_refined_program_is_judged_as_any_other(
        self, synthesizer: ModelSynthesizer, experience: Experience, runner: ModelRunner
    ) -> None:
        """The verdict names a transition of the data."""
        first = synthesizer.first(experience)
        wrong = Verdict(explained=0.5, failing=(0,), said=("nothing changes; reward 0, ends: False",))
        refined = synthesizer.refine(first, experience, wrong)
        assert 0 <= judge(runner, refined, experience.transitions).explained <= 1

    def test_a_program_for_a_goal_or_for_a_plan_comes_or_is_declined(
        self, synthesizer: ModelSynthesizer, experience: Experience
    ) -> None:
        """One that enumerates comes to an end."""
        first = synthesizer.first(experience)
        state, mission = experience.starts[-1]
        assert isinstance(synthesizer.for_goal(first, experience, state, mission), Program)
        last = synthesizer.for_plan(first, experience, state, mission, 100)
        assert last is None if synthesizer.enumerates else isinstance(last, Program)

    def test_it_counts_what_it_took(self, synthesizer: ModelSynthesizer, experience: Experience) -> None:
        """Seconds, questions or tokens never shrink."""
        before = synthesizer.usage
        synthesizer.first(experience)
        assert synthesizer.usage.seconds >= before.seconds
        assert synthesizer.usage.questions >= before.questions
