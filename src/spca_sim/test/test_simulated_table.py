"""The simulated table in this process: the contracts of table and robot, recordings."""

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest

from spca_core.layout import Layout, nominal_layout
from spca_core.trajectory import JointTrajectory
from spca_core.world import World, load_world
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.recording import SimState, load_states, save_states
from spca_sim.video import render_video
from spca_testing.contracts.robot_contract import RobotContract
from spca_testing.contracts.table_contract import TableContract


def test_the_state_of_every_sample_is_kept_survives_the_disk_and_is_shown_in_a_video(
    world: World, tmp_path: Path
) -> None:
    """Two seconds of a moving arm with all objects, then one with a single object after a reset."""
    simulator, recorded = MujocoWorld(world), list[SimState]()
    simulator.on_contacts(lambda _: recorded.append(simulator.moment()))
    start = simulator.state().position
    ends = np.array([start, start + np.array([0.8, 0, 0, 0, 0, 0])])
    simulator.follow(JointTrajectory(np.array([0.0, 1.5]), ends, np.zeros((2, 6))))
    simulator.step(2.0)
    simulator.reset(Layout(poses={"box_red": nominal_layout(world).poses["box_red"]}))
    simulator.step(1.0)
    assert np.diff([s.stamp for s in recorded[:100]]) == pytest.approx(np.full(99, 0.02))
    assert len(recorded) == 150 and recorded[100].stamp < recorded[99].stamp
    save_states(recorded, tmp_path / "states.npz")
    for a, b in zip(load_states(tmp_path / "states.npz"), recorded, strict=True):
        assert (a.stamp, a.objects) == (b.stamp, b.objects)
        assert np.array_equal(a.qpos, b.qpos)
    path = tmp_path / "run.mp4"
    render_video(world, recorded, path, captions=[(0.0, "a step")], size=(240, 180), fps=10, speed=2.0)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = [f.to_ndarray(format="rgb24").astype(float) for f in container.decode(stream)]
    assert len(frames) == pytest.approx(3.0 / 2.0 * 10, abs=2)
    assert frames[0].std() > 20, "an empty picture"
    assert np.abs(frames[5] - frames[0]).mean() > 1, "the arm does not move"


class TestItsTable(TableContract):
    @pytest.fixture
    def table(self, world: World) -> Iterator[MujocoWorld]:
        table = MujocoWorld(world)
        table.reset(nominal_layout(world))
        yield table
        table.close()


class TestItsRobot(RobotContract):
    @pytest.fixture
    def robot(self) -> MujocoWorld:
        simulator = MujocoWorld(load_world())
        simulator.reset(Layout(poses={}))
        return simulator
