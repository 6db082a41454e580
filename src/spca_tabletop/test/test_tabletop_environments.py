"""The contract of `Environment`, kept by the tabletop in one process and by the tabletop over ROS."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from spca_core.errors import Cancelled, MotionError
from spca_core.options import RunOptions
from spca_core.ports.environment import Environment
from spca_tabletop.environment import Tabletop
from spca_tabletop.kit import TabletopKit
from spca_tabletop.ros.executor_node import RosTabletop, TabletopRos
from spca_testing.contracts.environment_contract import EnvironmentContract
from spca_testing.observations import plan_of
from spca_testing.ros import running, sim

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
        result = environment.act("progress", plan_of("idle thing"), library)
        assert result.status == "done", result.message

    def test_after_a_cancellation_nothing_moves_and_no_time_passes(self) -> None:
        """Neither a look, which moves the arm away first, nor a wait for the verdict goes on."""
        with self.fresh() as environment:
            assert isinstance(environment, Tabletop)
            self.progress(environment)
            environment.cancel()
            before = environment.table.now()
            with pytest.raises(MotionError, match="stop"):
                environment.sense()
            assert not environment.settle().final
            assert environment.table.now() == before


@pytest.mark.slow
class TestInproc(TabletopContract):
    """In one process."""

    @contextmanager
    def fresh(self) -> Iterator[Environment]:
        """Stack the red cube on the blue one."""
        with closing(TabletopKit().build(OPTIONS)) as environment:
            yield environment


@pytest.mark.slow
@pytest.mark.ros
class TestRos(TabletopContract):
    """Over ROS, the simulator in a process of its own; it serves all tests, one level after the other."""

    @pytest.fixture(scope="class", autouse=True)
    def _nodes(self, request: pytest.FixtureRequest) -> Iterator[None]:
        with running(sim(), name="program") as (node, _):
            request.cls.side = side = TabletopRos(node.loop)
            yield
            for each in side.nodes:
                each.close()

    @contextmanager
    def fresh(self) -> Iterator[Environment]:
        """Stack the red cube on the blue one."""
        side: TabletopRos = self.side  # type: ignore[attr-defined]
        yield side.build(OPTIONS, None, lambda: None, anew=True)
        side.part()

    def test_no_picture_is_waited_for_that_nobody_wants(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """To draw it, and to see something in it, takes seconds on a busy machine."""

        def wanted() -> None:
            raise Cancelled("as the user wished")

        with self.fresh() as environment:
            assert isinstance(environment, RosTabletop)
            monkeypatch.setattr(self.side.nodes[0].loop, "wanted", wanted)  # type: ignore[attr-defined]
            with pytest.raises(Cancelled):
                environment.glance()

    def test_restore_brings_back_world_memory_and_verdict(self) -> None:
        """A simulator elsewhere cannot be put back: what is restored is nothing."""
        with self.fresh() as environment:
            environment.sense()
            saved = environment.checkpoint()
            self.progress(environment)
            verdict = environment.verdict()
            environment.restore(saved)
            assert environment.verdict() == verdict and not saved

    def test_a_checkpoint_serves_a_new_environment(self) -> None:
        """See above."""
