"""A camera that has been knocked is noticed and allowed for; a thing that was pushed is no such knock."""

import numpy as np

from spca_core.layout import random_layout
from spca_core.world import load_world
from spca_sense.catalogue import Catalogue
from spca_sense.search import ShapeDetector
from spca_sense.tracker import SceneTracker
from spca_sim.variation import SimVariation

WORLD = load_world()


def worst_error(tracker: SceneTracker, studio, poses: dict) -> float:
    """Metres, sideways, over all things in sight."""
    scene = tracker.update(studio.shoot(poses))
    assert len(scene.objects) == len(poses)
    where = {o.id.replace("cube", "box"): o.pose.position[:2] for o in scene.objects}
    return max(float(np.linalg.norm(np.subtract(where[m], p.position[:2]))) for m, p in poses.items())


def test_a_knock_between_two_looks_is_allowed_for(open_studio) -> None:
    turn = tuple(np.random.default_rng(0).normal(0, 0.01, 3))
    shift = (0.012, -0.009, 0.002)
    before, after = open_studio(WORLD), open_studio(WORLD, SimVariation(camera_shift=shift, camera_turn=turn))
    tracker = SceneTracker(ShapeDetector(Catalogue.from_world(WORLD)))
    poses = dict(random_layout(WORLD, 0).poses)
    assert worst_error(tracker, before, poses) < 0.001
    x, y, z = poses["box_red"].position  # pushed at the same time
    poses["box_red"] = poses["box_red"].model_copy(update={"position": (x + 0.015, y, z)})
    assert worst_error(tracker, after, poses) < 0.002
    assert any("camera has been moved" in note for note in tracker.scene.notes)
    assert worst_error(tracker, after, poses) < 0.002


def test_things_that_are_pushed_together_are_no_knock(open_studio) -> None:
    """Even if they are all but one, as a row of cubes may be: what stays in its place tells."""
    studio, tracker = open_studio(WORLD), SceneTracker(ShapeDetector(Catalogue.from_world(WORLD)))
    poses = dict(random_layout(WORLD, 1).poses)
    assert worst_error(tracker, studio, poses) < 0.001
    for name in sorted(poses)[:-1]:
        x, y, z = poses[name].position
        poses[name] = poses[name].model_copy(update={"position": (x + 0.01, y, z)})
    assert worst_error(tracker, studio, poses) < 0.001
    assert not any("camera has been moved" in note for note in tracker.scene.notes)
