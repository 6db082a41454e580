"""The contract of the port `PlanWorld`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from spca_core.errors import InputError, SpcaError
from spca_programs.plan_world import ActionSequence, Situation
from spca_programs.ports.plan_world import PlanWorld


class PlanWorldContract:
    """Subclass it and implement `fresh`, `task` and `useful`."""

    task: str
    """The task type that is tried."""

    @contextmanager
    def fresh(self) -> Iterator[PlanWorld]:
        """A new world; closed at the end."""
        raise NotImplementedError

    def useful(self, situation: Situation) -> ActionSequence:
        """A plan that changes something at the beginning of any case, without ending the episode."""
        raise NotImplementedError

    def test_its_task_types_have_briefings(self) -> None:
        """A briefing says what the task is and which actions are available."""
        with self.fresh() as world:
            assert self.task in world.tasks and world.cases > 0
            for task in world.tasks:
                briefing = world.briefing(task)
                assert briefing.task == task and briefing.goal and briefing.api

    def test_splits_repeat_and_do_not_overlap(self) -> None:
        """The same seed draws the same cases; none is trained on and tested."""
        with self.fresh() as world:
            split = world.split(self.task, 3, 1, 2, 7)
            assert (len(split.train), len(split.seen), len(split.unseen)) == (3, 1, 2)
            assert world.split(self.task, 3, 1, 2, 7) == split
            cases = [case.model_dump_json() for case in (*split.train, *split.seen, *split.unseen)]
            assert len(set(cases)) == 6

    def test_an_unknown_task_type_is_refused(self) -> None:
        """In one line."""
        with self.fresh() as world:
            for ask in (
                lambda: world.split("no such task", 1, 0, 0, 0),
                lambda: world.briefing("no such task"),
            ):
                with pytest.raises(InputError, match="no such task"):
                    ask()

    def test_an_episode_repeats(self) -> None:
        """The same case and the same plan give the same initial state and the same result."""
        with self.fresh() as world:
            case = world.split(self.task, 1, 0, 0, 0).train[0]
            first = world.reset(case)
            came = world.step(self.useful(first))
            assert world.reset(case) == first
            assert world.step(self.useful(first)) == came
            assert not came.done and came.situation.observation != first.observation

    def test_observations_are_plain_json_of_moderate_size(self) -> None:
        """Programs get them through a pipe, together with some past ones."""
        with self.fresh() as world:
            situation = world.reset(world.split(self.task, 1, 0, 0, 0).train[0])
            text = json.dumps(situation.observation)
            assert json.loads(text) == situation.observation
            assert len(text) < 50_000
            assert "memory" not in situation.observation
            assert situation.instruction and situation.actions and situation.text

    def test_nonsense_is_a_remark(self) -> None:
        """A meaningless plan is reported as a remark and raises nothing."""
        with self.fresh() as world:
            name = world.reset(world.split(self.task, 1, 0, 0, 0).train[0]).actions[0].name
            plan = (
                "",
                "no_such_action x y",
                f"{name} nowhere nothing nobody at all",
                "( ; ) '",
                "\u2603 " * 50,
            )
            came = world.step(plan)
            assert came.remarks and not came.success

    def test_restore_goes_back(self) -> None:
        """Observation and what follows from it are as they were, also in another instance."""
        with self.fresh() as world:
            situation = world.reset(world.split(self.task, 1, 0, 0, 0).train[0])
            saved = world.checkpoint()
            came = world.step(self.useful(situation))
            assert world.restore(saved) == situation
            assert world.step(self.useful(situation)) == came
        with self.fresh() as another:
            assert another.restore(saved) == situation
            assert another.step(self.useful(situation)) == came

    def test_a_checkpoint_that_is_none_is_refused(self) -> None:
        """In one line, whatever the bytes are; the episode under way goes on."""
        with self.fresh() as world:
            situation = world.reset(world.split(self.task, 1, 0, 0, 0).train[0])
            saved = world.checkpoint()
            for damaged in (b"", b"[]", saved[: len(saved) // 2], saved[1:], b"\x80\x04N.", b"\xff"):
                with pytest.raises(InputError):
                    world.restore(damaged)
            assert world.restore(saved) == situation

    def test_after_the_end_there_is_no_step(self) -> None:
        """Before a reset, and after the end of an episode."""
        with self.fresh() as world, pytest.raises(SpcaError):
            world.step(("anything",))

    def test_closing_twice_is_harmless(self) -> None:
        """Clean-up code does not need to know whether the world is closed already."""
        with self.fresh() as world:
            world.close()
            world.close()
