"""Port: renderers that draw a model's state as colour and depth images."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from spca_core.errors import InputError
from spca_core.geometry import Array
from spca_robot.windowless import mujoco
from spca_sim.lighting import Lighting
from spca_sim.view import CameraView

CameraKind = Literal["ray", "gl"]


class Renderer(Protocol):
    """An ideal camera: no noise."""

    def render(self, qpos: Array) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Colour (H, W, 3) and depth (H, W) in metres along the optical axis, 0 where there is nothing."""
        ...

    def close(self) -> None:
        """Release what it holds; harmless when called twice."""
        ...


def make_renderer(
    kind: CameraKind, model: mujoco.MjModel, camera: str, view: CameraView, lighting: Lighting
) -> Renderer:
    """A renderer of that kind for the model's fixed `camera`, which is at `view`.

    InputError if there is no GL.
    """
    if kind == "ray":
        from spca_sim.ray_renderer import RayRenderer

        return RayRenderer(model, view, lighting)
    from spca_sim.gl_renderer import GlRenderer, find_gl

    if find_gl() is None:
        raise InputError(
            "no off-screen OpenGL here",
            where="--camera gl",
            hint="install libegl1 libgl1-mesa-dri, or use --camera ray",
        )
    return GlRenderer(model, camera, view)
