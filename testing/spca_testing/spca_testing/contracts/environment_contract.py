"""The contract of the port `Environment`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from spca_core.ports.environment import Environment
from spca_core.result import Outcome
from spca_testing.observations import plan_of

EMPTY_LIBRARY = ""
IDLE = '''def idle(ctx, thing):
    """Do nothing."""
    return True
'''
FAILING = '''def idle(ctx, thing):
    """Fail."""
    raise ValueError("as the contract wants it")
'''
ENDLESS = '''def idle(ctx, thing):
    """Never end."""
    while True:
        pass
'''


class EnvironmentContract:
    """Subclass it and implement `fresh` and `progress`."""

    @contextmanager
    def fresh(self) -> Iterator[Environment]:
        """A new environment at the start of a level that doing nothing does not solve.

        The contract closes it at the end.
        """
        raise NotImplementedError

    def progress(self, environment: Environment) -> None:
        """Change the world by acting, without ending the level."""
        raise NotImplementedError

    def test_says_what_it_is(self) -> None:
        """Name, task and skills are those of one environment."""
        with self.fresh() as environment:
            assert environment.name == environment.api.environment
            assert environment.task.description
            ast.parse(environment.builtin_skills.read_text(encoding="utf-8"))

    def test_facts_speak_of_known_objects(self) -> None:
        """Every argument of a fact is an object of the observation."""
        with self.fresh() as environment:
            seen = environment.sense()
            assert seen.sentences and seen.objects
            assert all(arg in seen.objects for fact in seen.facts for arg in fact.args)

    def test_a_level_begins_undecided(self) -> None:
        """Nothing is decided before anything was done."""
        with self.fresh() as environment:
            assert environment.verdict().outcome is Outcome.RUNNING
            assert not environment.verdict().final

    def test_doing_nothing_is_no_success(self) -> None:
        """A skill without any effect succeeds as a step and does not solve the level."""
        with self.fresh() as environment:
            result = environment.act("a", plan_of("idle thing"), IDLE)
            assert result.status == "done" and result.attempt == "a"
            assert environment.settle().outcome is not Outcome.SUCCESS

    def test_bad_skills_are_reports_not_exceptions(self) -> None:
        """`act` reports every fault of a skill in its result."""
        for library, reason in (
            (FAILING, "as the contract wants it"),
            (EMPTY_LIBRARY, "idle"),
            ("def (", ""),
        ):
            with self.fresh() as environment:
                result = environment.act("a", plan_of("idle thing"), library)
                assert result.status == "failed"
                assert result.steps[0].failure is not None
                assert reason in result.message

    def test_steps_are_told_as_they_end(self) -> None:
        """The listener gets each step once, in order."""
        with self.fresh() as environment:
            told: list[int] = []
            environment.act(
                "a", plan_of("idle thing", "idle thing"), IDLE, lambda step: told.append(step.index)
            )
            assert told == [0, 1]

    def test_restore_brings_back_world_memory_and_verdict(self) -> None:
        """After a restore the state is the one at the checkpoint; sensing again returns the same noise."""
        with self.fresh() as environment:
            environment.sense()
            self.progress(environment)
            saved, verdict = environment.checkpoint(), environment.verdict()
            before = environment.sense()
            self.progress(environment)
            environment.restore(saved)
            assert environment.verdict() == verdict
            assert environment.sense() == before

    def test_a_checkpoint_serves_a_new_environment(self) -> None:
        """A run that was killed goes on in another process."""
        with self.fresh() as environment:
            environment.sense()
            self.progress(environment)
            saved, before = environment.checkpoint(), environment.sense()
        with self.fresh() as another:
            another.restore(saved)
            assert another.sense() == before

    def test_cancelling_ends_what_runs(self) -> None:
        """No skill outlives a cancellation."""
        with self.fresh() as environment:
            environment.cancel()
            assert environment.act("a", plan_of("idle thing"), ENDLESS).status == "cancelled"

    def test_closing_twice_is_harmless(self) -> None:
        """Clean-up code does not need to know whether the environment is closed already."""
        with self.fresh() as environment:
            environment.close()
            environment.close()
