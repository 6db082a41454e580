"""What disturbs the simulated world: drawn by seed, carried out when the occasion arises, repeatable."""

import numpy as np
import pytest

from spca_core.world import load_world
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.variation import KINDS, Disturbance, Happened, SimVariation, draw_disturbances

WORLD = load_world()
NAMES = tuple(o.model for o in WORLD.objects)


def simulator(*disturbances: Disturbance) -> MujocoWorld:
    return MujocoWorld(WORLD, variation=SimVariation(disturbances=disturbances))


def due(kind: str, at: float = 0.1, seed: int = 1) -> Disturbance:
    return Disturbance(kind=kind, at=at, seed=seed, names=NAMES, spare=NAMES[3:])


def test_one_to_three_of_different_kinds_are_drawn_by_seed() -> None:
    for seed in range(20):
        drawn = draw_disturbances(seed, NAMES[:3], NAMES[3:])
        assert drawn == draw_disturbances(seed, NAMES[:3], NAMES[3:])
        assert 1 <= len(drawn) <= 3 and len({d.kind for d in drawn}) == len(drawn)
    kinds = {d.kind for seed in range(300) for d in draw_disturbances(seed, NAMES, ())}
    assert kinds == set(KINDS) - {"add"}, "nothing is added where the task needs everything"


def test_what_a_level_keeps_off_the_table_is_not_put_there() -> None:
    for seed in range(30):
        for one in draw_disturbances(
            seed, ["box_red", "mat_cyan"], ["box_blue"], off_table={"box_red", "box_blue"}
        ):
            assert one.kind not in ("add", "target", "remove") and not one.spare
            moved = one.kind in ("push", "pull_out")
            assert one.names == (("mat_cyan",) if moved else ("box_red", "mat_cyan", "box_blue"))


def test_an_object_is_added_and_another_taken_away_of_which_its_place_is_told() -> None:
    sim = simulator(due("add", 0.1), due("remove", 0.5, seed=3))
    told: list[Happened] = []
    sim.disturber.listener = told.append
    assert len([n for n in NAMES if sim.object_pose(n).position[0] < 2]) == 5
    sim.step(0.3)
    before = {n: sim.object_pose(n).position for n in NAMES}
    assert all(position[0] < 1 for position in before.values())
    sim.step(0.3)
    assert [happened.kind for happened in told] == ["add", "remove"]
    [taken] = [n for n in NAMES if sim.object_pose(n).position[0] > 2]
    assert np.allclose(told[1].position, before[taken], atol=0.02)


def test_a_knock_and_an_encoders_offset_move_camera_and_arm_but_not_what_they_report() -> None:
    sim = simulator(due("knock"), due("encoder"))
    before, home = sim.capture(), sim.state().position
    sim.step(1.0)
    after = sim.capture()
    assert after.pose == before.pose
    assert (after.colour.astype(int) - before.colour).std() > 3
    assert sim.state().position == pytest.approx(home, abs=1e-3)
    assert np.abs(np.asarray(sim.data.qpos[: len(home)]) - home).max() > 0.001


def test_a_checkpoint_in_the_middle_of_a_disturbance_goes_on_exactly() -> None:
    sim = simulator(due("remove", seed=2), due("add", 0.5), due("friction", 0.2))
    sim.step(0.3)
    kept = sim.checkpoint()
    sim.step(5.0)
    ends = [sim.object_pose(n) for n in NAMES]
    sim.restore(kept)
    sim.step(5.0)
    assert [sim.object_pose(n) for n in NAMES] == ends
