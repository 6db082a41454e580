"""The RGB-D camera of the world description as a Gazebo sensor."""

from __future__ import annotations

import math

from spca_core.world import CameraMount
from spca_description.frames import BODY_IN_OPTICAL
from spca_description.names import OPTICAL_FRAME
from spca_description.xml import Element, add
from spca_gazebo.geometry import add_pose

CAMERA_TOPIC = "/spca/gazebo/camera"
"""Gazebo appends `/image`, `/depth_image`, `/points` and `/camera_info`."""

# Gazebo puts the origin of pixel coordinates at the corner of the first pixel, ROS and this project at its
# centre.
PIXEL_CENTRE = 0.5


def add_camera(scene: Element, camera: CameraMount, distance: float) -> None:
    """A static model whose only link is the camera's body: it looks along its +x, with +z up in the image.

    An RGB-D sensor of Gazebo adds its noise to the depth, in metres and alike at any depth (and next to none
    to the colours): the noise here is that of the world's camera at `distance` metres.
    """
    model = add(scene, "model", name=camera.name)
    add(model, "static", True)
    add_pose(model, camera.pose.matrix() @ BODY_IN_OPTICAL)
    link = add(model, "link", name="link")
    sensor = add(link, "sensor", name="rgbd", type="rgbd_camera")
    add(sensor, "always_on", True)
    add(sensor, "update_rate", camera.rate_hz)
    add(sensor, "topic", CAMERA_TOPIC)
    optics = add(sensor, "camera")
    add(optics, "horizontal_fov", 2 * math.atan(camera.width / (2 * camera.fx)))
    image = add(optics, "image")
    add(image, "width", camera.width)
    add(image, "height", camera.height)
    add(image, "format", "R8G8B8")
    clip = add(optics, "clip")
    add(clip, "near", camera.near)
    add(clip, "far", camera.far)
    noise = add(optics, "noise")
    add(noise, "type", "gaussian")
    add(noise, "mean", 0.0)
    add(noise, "stddev", camera.noise.depth_sigma * distance**2)
    intrinsics = add(add(optics, "lens"), "intrinsics")
    for name, value in (
        ("fx", camera.fx),
        ("fy", camera.fy),
        ("cx", camera.cx + PIXEL_CENTRE),
        ("cy", camera.cy + PIXEL_CENTRE),
        ("s", 0.0),
    ):
        add(intrinsics, name, value)
    add(optics, "optical_frame_id", OPTICAL_FRAME)
