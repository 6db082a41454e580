"""The contract of the port `TableWorld`; that of its robot and its camera is theirs."""

from __future__ import annotations

import numpy as np
import pytest

from spca_core.contacts import SAMPLE_PERIOD, ContactSample
from spca_core.errors import SpcaError, Unsupported
from spca_core.geometry import Pose
from spca_core.layout import Layout, nominal_layout, random_layout
from spca_core.ports.table import TableWorld
from spca_core.world import World
from spca_testing.contracts.robot_contract import gentle


class TableContract:
    """Subclass it with fixtures `world` and `table`: of that world, laid as its file says, the arm home.

    `felt`: contacts are told. `laid`: the table can be laid anew.
    """

    felt = laid = True

    def test_waiting_lets_as_much_of_its_time_pass(self, table: TableWorld) -> None:
        """The robot's clock is the world's."""
        before = table.now()
        table.wait(0.3)
        assert table.now() - before == pytest.approx(0.3, abs=0.05)
        assert table.robot.now() == pytest.approx(table.now(), abs=0.05)

    def test_the_arm_moves_while_time_passes(self, table: TableWorld) -> None:
        """And not before."""
        trajectory = gentle(table.robot)
        table.robot.follow(trajectory)
        table.wait(0.5)
        assert np.abs(table.robot.state().position - trajectory.positions[0]).max() > 0.02
        table.wait(1.5)
        assert table.robot.state().position == pytest.approx(trajectory.positions[-1], abs=0.01)

    def test_every_contact_sample_of_a_wait_is_told_before_it_returns(
        self, world: World, table: TableWorld
    ) -> None:
        """In order, each once, with what lies on the table; nothing more after the subscription has ended."""
        if not self.felt:
            pytest.skip("this table does not feel contacts")
        heard: list[ContactSample] = []
        end = table.on_contacts(heard.append)
        begun = table.now()
        table.wait(0.5)
        now, stamps = table.now(), [sample.stamp for sample in heard]
        assert stamps == sorted(set(stamps)) and begun < stamps[0] and stamps[-1] <= now + 1e-9
        assert now - stamps[-1] < SAMPLE_PERIOD + 1e-6
        assert len(stamps) == pytest.approx((now - begun) / SAMPLE_PERIOD, abs=1.5)
        touching = {frozenset(pair) for pair in heard[-1].pairs}
        assert all(any(thing.model in pair for pair in touching) for thing in world.objects)
        end()
        told = len(heard)
        table.wait(0.1)
        assert len(heard) == told

    def test_a_listener_may_stop_the_arm(self, table: TableWorld) -> None:
        """From within the sample that asks for it."""
        if not self.felt:
            pytest.skip("this table does not feel contacts")
        trajectory, begun = gentle(table.robot, seconds=2.0), table.now()
        end = table.on_contacts(lambda sample: table.robot.hold() if sample.stamp - begun > 0.6 else None)
        table.robot.follow(trajectory)
        table.wait(1.5)
        end()
        stopped = table.robot.state()
        table.wait(1.0)
        assert np.abs(stopped.velocity).max() < 0.02
        assert table.robot.state().position == pytest.approx(stopped.position, abs=2e-3)
        assert np.abs(stopped.position - trajectory.positions[-1]).min() > 0.02

    def test_a_table_is_laid_anew(self, world: World, table: TableWorld) -> None:
        """The arm is home and open, only the things of the layout are there, where it says."""
        if not self.laid:
            with pytest.raises(Unsupported):
                table.reset(nominal_layout(world))
            return
        table.robot.follow(gentle(table.robot))
        table.robot.command_gripper(0.0)
        table.wait(0.4)
        layout = random_layout(world, 3)
        gone = world.objects[0].model
        kept = Layout(poses={model: pose for model, pose in layout.poses.items() if model != gone})
        table.reset(kept, seed=1)
        table.wait(2 * SAMPLE_PERIOD)
        assert table.robot.state().position == pytest.approx(world.robot.home, abs=5e-3)
        assert table.robot.state().gripper_gap == pytest.approx(0.085, abs=2e-3)
        heard: list[ContactSample] = []
        end = table.on_contacts(heard.append)
        table.wait(0.1)
        end()
        felt = {model for sample in heard for pair in sample.pairs for model in pair}
        assert not self.felt or (gone not in felt and set(kept.poses) <= felt)

    def test_a_table_refuses_what_it_does_not_have(self, table: TableWorld) -> None:
        """With one line that names it, or says that it cannot be laid at all."""
        with pytest.raises(SpcaError, match=r"box_pink|by hand"):
            table.reset(Layout(poses={"box_pink": Pose(position=(0.4, 0.0, 0.5))}))

    def test_places_are_true_or_not_told(self, world: World, table: TableWorld) -> None:
        """Nothing in between."""
        layout = nominal_layout(world)
        try:
            places = table.places(layout.poses)
        except Unsupported:
            return
        assert set(places) == set(layout.poses)
        for model, pose in places.items():
            assert pose.position == pytest.approx(layout.poses[model].position, abs=5e-3)

    def test_a_checkpoint_is_exact_or_there_is_none(self, table: TableWorld) -> None:
        """In the middle of a motion, too: the same future, to the last bit."""
        table.robot.follow(gentle(table.robot))
        table.robot.command_gripper(0.02)
        table.wait(0.2)
        state = table.checkpoint()
        if state is None:
            with pytest.raises(Unsupported):
                table.restore(b"")
            return

        def future() -> tuple[float, bytes, bytes, list[ContactSample]]:
            heard: list[ContactSample] = []
            end = table.on_contacts(heard.append)
            table.wait(0.31)
            end()
            joints = table.robot.state()
            return table.now(), joints.position.tobytes(), table.camera.capture().colour.tobytes(), heard

        expected = future()
        table.restore(state)
        assert future() == expected

    def test_closing_twice_is_harmless(self, table: TableWorld) -> None:
        """As the port says."""
        table.close()
        table.close()
