"""Views of two cameras as one: a tall box hides a cube from the first, and the second is at the wrist."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.geometry import Array, Pose, matrix_of_vector
from spca_core.layout import nominal_layout
from spca_core.world import World, load_world
from spca_robot.kinematics import ToolKinematics
from spca_sense.catalogue import Catalogue
from spca_sense.search import ShapeDetector
from spca_sense.tracker import SceneTracker
from spca_sense.view import make_view
from spca_sim.mujoco_world import MujocoWorld

WORLD = load_world("wrist")
OVER_THE_CUBE = np.array([0.335, -0.986, 1.19, -1.61, -1.514, 1.902])


def seen(world: World) -> tuple[RgbdFrame, RgbdFrame]:
    """A frame of each camera: the arm out of the first one's view, the other one over the cube."""
    table = MujocoWorld(world)
    assert table.wrist_camera is not None

    def put(joints: Array) -> None:
        for name, angle in zip(world.robot.arm.joint_names, joints, strict=True):
            table.data.qpos[table.model.joint(name).qposadr[0]] = angle
        mujoco.mj_forward(table.model, table.data)

    put(np.array(world.robot.out_of_view))
    first = table.capture()
    put(OVER_THE_CUBE)
    frame = table.wrist_camera.capture()
    flange = ToolKinematics(world).flange(OVER_THE_CUBE)
    return first, replace(frame, pose=Pose.from_matrix(flange @ frame.pose.matrix()))


def test_what_one_camera_cannot_see_is_found_by_both_together() -> None:
    """And nothing else is: neither the fingers, which the wrist camera sees, nor anything twice."""
    camera = WORLD.wrist_camera
    assert camera is not None
    pose = camera.pose.matrix()
    pose[:3, :3] = matrix_of_vector([0.0, -0.3, 0.0]) @ pose[:3, :3]  # turned towards the fingers
    towards = camera.model_copy(update={"quaternion": Pose.from_matrix(pose).quaternion})
    first, other = seen(WORLD.model_copy(update={"wrist_camera": towards}))
    assert np.count_nonzero(make_view(other, WORLD.table.top).heights[-40:] > 0.1) > 500, (
        "no fingers in sight"
    )
    tracker = SceneTracker(ShapeDetector(Catalogue.from_world(WORLD)))
    assert tracker.update(first).get("cube_red") is None
    scene = tracker.update(first, others=(other,))
    truth = {"cube_red": "box_red", "cuboid_green": "cuboid_green", "plate_blue": "plate_blue"}
    assert {o.id for o in scene.objects} == {*truth}
    for thing in scene.objects:
        away = np.subtract(thing.pose.position, nominal_layout(WORLD).poses[truth[thing.id]].position)
        assert np.abs(away).max() < 0.002, thing
    assert all(thing.visible for thing in scene.objects)
