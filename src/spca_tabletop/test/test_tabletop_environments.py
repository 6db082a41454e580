"""The contract of `Environment`, kept by the tabletop in one process and by the tabletop over ROS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from spca_core.contacts import SAMPLE_PERIOD
from spca_core.observation import Observation
from spca_core.options import RunOptions
from spca_core.ports.environment import Environment
from spca_core.verdict import Outcome
from spca_referee.level import SETTLE_S
from spca_tabletop.kit import build_tabletop
from spca_tabletop.ros.environment import RosTabletop
from spca_testing.contracts.environment_contract import EnvironmentContract, plan
from spca_testing.ros import executor, referee, running, sense, sim

OPTIONS = RunOptions(level="stack_01", seed=5)
_TIDY = '''

def idle(ctx, thing):
    """Move a cube that the level does not ask for."""
    pick_up(ctx, "cube_green", "table")
    place_on_table(ctx, "cube_green")
'''


class TabletopContract(EnvironmentContract):
    """Any tabletop."""

    def progress(self, environment: Environment) -> None:
        """Put the green cube somewhere else."""
        library = environment.builtin_skills.read_text(encoding="utf-8") + _TIDY
        result = environment.act("progress", plan("idle"), library)
        assert result.status == "done", result.message


@pytest.mark.slow
class TestInproc(TabletopContract):
    """In one process."""

    @contextmanager
    def fresh(self) -> Iterator[Environment]:
        """Stack the red cube on the blue one."""
        environment = build_tabletop(OPTIONS)
        try:
            yield environment
        finally:
            environment.close()


def _assert_alike(a: Observation, b: Observation) -> None:
    """Equal except for stamps and tiny differences.

    Over ROS, a motion may begin a few samples earlier or later.
    """
    assert (a.objects, a.facts, a.sentences) == (b.objects, b.facts, b.sentences)
    ours, theirs = (o.things for o in (a, b))
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.pose.position == pytest.approx(other.pose.position, abs=1e-4)


@pytest.mark.slow
@pytest.mark.ros
class TestRos(TabletopContract):
    """Over ROS, the nodes in processes of their own; they serve all tests, one level after the other."""

    @pytest.fixture(scope="class", autouse=True)
    def _nodes(self, request: pytest.FixtureRequest) -> Iterator[None]:
        with running(sim(), sense(), executor(), referee(), name="supervisor") as (node, _):
            node.say("ready")
            request.cls.tabletop = RosTabletop(node)
            yield

    @contextmanager
    def fresh(self) -> Iterator[Environment]:
        """Stack the red cube on the blue one."""
        tabletop: RosTabletop = self.tabletop  # type: ignore[attr-defined]
        tabletop.begin(OPTIONS, 10.0)
        yield tabletop

    def test_settling_ends_whatever_rounding_leaves_of_its_time(self) -> None:
        """The clock stands still while nobody waits, so that no wait may be too short to let it go on."""
        with self.fresh() as environment:
            robot = self.tabletop._robot  # type: ignore[attr-defined]
            while (end := robot.now() + SETTLE_S) <= round(end, 9):
                robot.wait(SAMPLE_PERIOD)
            assert environment.settle().outcome is Outcome.RUNNING

    def test_restore_brings_back_world_memory_and_verdict(self) -> None:
        """As the contract says, but for the stamps of what is seen."""
        with self.fresh() as environment:
            environment.sense()
            self.progress(environment)
            saved, verdict = environment.checkpoint(), environment.verdict()
            before = environment.sense()
            self.progress(environment)
            environment.restore(saved)
            assert environment.verdict() == verdict
            _assert_alike(environment.sense(), before)

    def test_a_checkpoint_serves_a_new_environment(self) -> None:
        """As the contract says, but for the stamps of what is seen."""
        with self.fresh() as environment:
            environment.sense()
            self.progress(environment)
            saved, before = environment.checkpoint(), environment.sense()
        with self.fresh() as another:
            another.restore(saved)
            _assert_alike(another.sense(), before)
