"""A photo studio: objects and arm placed exactly as a test asks, seen by the simulator's camera."""

import math
from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from spca_core.camera import RgbdFrame
from spca_core.geometry import Pose, wrap_angle
from spca_core.layout import Layout
from spca_core.names import symbol_of
from spca_core.world import Joints, World
from spca_sense.catalogue import Catalogue
from spca_sense.detection import Look
from spca_sense.search import ShapeDetector
from spca_sense.tracker import SceneTracker
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.variation import SimVariation


class Studio:
    """Photographs by the simulated camera.

    Nothing is simulated between the placing and the picture: truth is exact.
    """

    def __init__(self, world: World, variation: SimVariation | None = None) -> None:
        self.world = world
        self._simulator = MujocoWorld(world, variation=variation)

    def shoot(self, poses: dict[str, Pose], arm: Joints | None = None, seed: int = 0) -> RgbdFrame:
        """A frame with the models at `poses`; the arm is out of view unless joints are given."""
        self._simulator.reset(Layout(poses=poses), seed)
        model, data = self._simulator.model, self._simulator.data
        for name, pose in poses.items():
            start = model.jnt_qposadr[model.body(name).jntadr[0]]
            x, y, z, w = pose.quaternion
            data.qpos[start : start + 7] = (*pose.position, w, x, y, z)
        for name, angle in zip(
            self.world.robot.arm.joint_names, arm or self.world.robot.out_of_view, strict=True
        ):
            data.qpos[model.joint(name).qposadr[0]] = angle
        mujoco.mj_forward(model, data)
        return self._simulator.capture()


Check = Callable[..., None]


@pytest.fixture(scope="session")
def check() -> Check:
    """Compares a look with the truth: everything found once, near enough, and nothing else.

    A cube looks the same after a quarter turn. With a `world`, sizes are compared, too.
    """

    def run(
        look: Look,
        poses: dict[str, Pose],
        millimetres: float = 1.5,
        degrees: float | None = 2.0,
        world: World | None = None,
    ) -> None:
        unused = list(look.detections)
        for model, pose in poses.items():
            kind, colour = symbol_of(model).split("_")[:2]
            same = [d for d in unused if (d.kind, d.colour) == (kind, colour)]
            assert same, f"{model} is missed: {look.notes}"
            nearest = min(same, key=lambda d: math.dist(d.pose.position, pose.position))
            unused.remove(nearest)
            away = 1000 * math.dist(nearest.pose.position, pose.position)
            assert away < millimetres, (model, nearest, pose)
            if degrees is not None and kind == "cube":
                off = abs(np.degrees(wrap_angle(nearest.pose.yaw - pose.yaw, np.pi / 2)))
                assert off < degrees, (model, nearest.pose.yaw, pose.yaw)
            if world is not None:
                assert np.allclose(sorted(nearest.size), sorted(world.object(model).size), atol=0.003), model
        assert not unused, f"invented: {[(d.kind, d.colour, d.pose.position) for d in unused]}"

    return run


@pytest.fixture(scope="session")
def twin_world(world: World) -> World:
    """The standard world with a second and a third red cube and a second red plate."""

    places = {"box_red_2": (0.36, -0.2), "box_red_3": (0.36, -0.1), "plate_red_2": (0.5, 0.3)}
    others = [
        world.object(name[:-2]).model_copy(update={"model": name, "position": at})
        for name, at in places.items()
    ]
    return world.model_copy(update={"objects": (*world.objects, *others)})


@pytest.fixture(scope="session")
def studio(world: World) -> Studio:
    return Studio(world)


@pytest.fixture(scope="session")
def open_studio() -> type[Studio]:
    """For tests that need another world or variation."""
    return Studio


@pytest.fixture(scope="session")
def detector(world: World) -> ShapeDetector:
    return ShapeDetector(Catalogue.from_world(world))


@pytest.fixture
def tracker(detector: ShapeDetector) -> SceneTracker:
    return SceneTracker(detector)
