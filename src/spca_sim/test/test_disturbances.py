"""What disturbs the simulated world: drawn by seed, carried out when the occasion arises, repeatable."""

import numpy as np
import pytest

from spca_core.layout import nominal_layout
from spca_core.world import load_world
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.variation import KINDS, Disturbance, Happened, SimVariation, draw_disturbances

WORLD = load_world()
NAMES = tuple(o.model for o in WORLD.objects)


def simulator(*disturbances: Disturbance, noise: bool = False) -> tuple[MujocoWorld, list[str]]:
    sim = MujocoWorld(WORLD, noise, SimVariation(disturbances=disturbances))
    said: list[str] = []
    sim.disturber.listener = lambda happened: said.append(happened.kind)
    return sim, said


def due(kind: str, at: float = 0.1, seed: int = 1) -> Disturbance:
    return Disturbance(kind=kind, at=at, seed=seed, names=NAMES, spare=NAMES[3:])


@pytest.mark.parametrize("seed", range(20))
def test_one_to_three_of_different_kinds_are_drawn_by_seed(seed: int) -> None:
    drawn = draw_disturbances(seed, NAMES[:3], NAMES[3:])
    assert drawn == draw_disturbances(seed, NAMES[:3], NAMES[3:])
    assert 1 <= len(drawn) <= 3 and len({d.kind for d in drawn}) == len(drawn)


def test_nothing_is_added_where_the_task_needs_everything() -> None:
    kinds = {d.kind for seed in range(300) for d in draw_disturbances(seed, NAMES, ())}
    assert kinds == set(KINDS) - {"add"}


def test_what_a_level_keeps_off_the_table_is_not_put_there() -> None:
    for seed in range(30):
        for one in draw_disturbances(
            seed, ["box_red", "mat_cyan"], ["box_blue"], off_table={"box_red", "box_blue"}
        ):
            assert one.kind not in ("add", "target", "remove") and not one.spare
            moved = one.kind in ("push", "pull_out")
            assert one.names == (("mat_cyan",) if moved else ("box_red", "mat_cyan", "box_blue"))


def test_an_object_is_added_and_another_taken_away() -> None:
    sim, said = simulator(due("add", 0.1), due("remove", 0.5, seed=3))
    present = [n for n in NAMES if sim.object_pose(n).position[0] < 2]
    assert len(present) == 5
    sim.step(0.3)
    assert all(sim.object_pose(n).position[0] < 1 for n in NAMES)
    sim.step(0.3)
    assert said == ["add", "remove"]
    away = [n for n in NAMES if sim.object_pose(n).position[0] > 2]
    assert len(away) == 1
    sim.step(6.0)
    assert said in (["add", "remove"], ["add", "remove", "remove"])


def test_where_a_thing_was_that_is_taken_away_is_told() -> None:
    sim, _ = simulator(due("remove", 0.0, seed=3))
    told: list[Happened] = []
    sim.disturber.listener = told.append
    before = {n: sim.object_pose(n).position for n in NAMES}
    sim.step(0.5)
    (taken,) = told
    assert np.allclose(taken.position, before[taken.text.split()[0]], atol=0.02)


def test_the_camera_freezes_for_a_while() -> None:
    sim, _ = simulator(due("freeze"), noise=True)
    first = sim.capture()
    sim.step(0.3)
    frozen = sim.capture()
    assert frozen.stamp == first.stamp and np.array_equal(frozen.colour, first.colour)
    sim.step(6.0)
    assert sim.capture().stamp == sim.time


def test_a_hand_and_less_light_change_only_the_picture() -> None:
    sim, _ = simulator(due("hand"), due("dim"))
    before = sim.capture()
    sim.step(0.3)
    after = sim.capture()
    covered = (before.depth - after.depth) > 0.15
    assert 0.02 < covered.mean() < 0.5
    assert after.colour[~covered].mean() < 0.7 * before.colour[~covered].mean()
    assert sim.object_pose("box_red").position[:2] == pytest.approx(
        nominal_layout(WORLD).poses["box_red"].position[:2], abs=1e-3
    )


def test_a_knock_moves_the_camera_but_not_its_calibration() -> None:
    sim, _ = simulator(due("knock"))
    before = sim.capture()
    sim.step(0.3)
    after = sim.capture()
    assert after.pose == before.pose
    assert (after.colour.astype(int) - before.colour).std() > 3


def test_an_encoder_offset_moves_the_arm_but_not_what_it_reports() -> None:
    sim, _ = simulator(due("encoder"))
    home = sim.state().position
    sim.step(1.0)
    assert sim.state().position == pytest.approx(home, abs=1e-3)
    true = sim.data.qpos[: len(home)]
    assert np.abs(np.asarray(true) - home).max() > 0.001


def test_friction_changes_until_the_next_reset() -> None:
    sim, _ = simulator(due("friction"))
    before = sim.model.geom_friction.copy()
    sim.step(0.3)
    assert not np.allclose(sim.model.geom_friction, before)
    sim.reset(nominal_layout(WORLD))
    assert np.allclose(sim.model.geom_friction, before)


def test_a_checkpoint_in_the_middle_of_a_disturbance_goes_on_exactly() -> None:
    sim, _ = simulator(due("remove", seed=2), due("add", 0.5), due("friction", 0.2))
    sim.step(0.3)
    kept = sim.checkpoint()
    sim.step(5.0)
    ends = [sim.object_pose(n) for n in NAMES]
    sim.restore(kept)
    sim.step(5.0)
    assert [sim.object_pose(n) for n in NAMES] == ends
