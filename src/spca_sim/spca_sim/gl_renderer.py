"""Off-screen OpenGL rendering, where available.

It is a second renderer to compare with, and is fast on a graphics card.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import os
import subprocess
import sys

import numpy as np
from mujoco.rendering.classic import gl_context
from numpy.typing import NDArray

from spca_core.geometry import Array
from spca_robot.windowless import mujoco
from spca_sim.view import CameraView

_PLATFORMS = ("egl", "osmesa")
_PROBE = "import mujoco.{0} as p; c = p.GLContext(8, 8); c.make_current(); c.free()"


@functools.lru_cache(maxsize=1)
def find_gl() -> str | None:
    """The off-screen platform that works here (`egl` or `osmesa`), or None.

    Tried in a child process: a platform that fails cannot be replaced in the process that tried it, and may
    crash it. Only the platform named in MUJOCO_GL is tried, if it names one; MUJOCO_GL=disabled means none.
    """
    wanted = os.environ.get("MUJOCO_GL", "").lower().strip()
    if wanted in ("disable", "disabled", "off", "false", "0"):
        return None
    for platform in [wanted] if wanted in _PLATFORMS else _PLATFORMS:
        environment = {k: v for k, v in os.environ.items() if k not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
        try:
            probe = subprocess.run(
                [sys.executable, "-c", _PROBE.format(platform)],
                check=False,
                env=environment,
                capture_output=True,
                timeout=30,
            )
        except subprocess.TimeoutExpired:
            continue
        if probe.returncode == 0:
            return platform
    return None


class GlRenderer:
    """See `spca_sim.rendering.Renderer`: one of the model's fixed cameras. Close it: contexts are scarce."""

    def __init__(self, model: mujoco.MjModel, camera: str, view: CameraView) -> None:
        platform = find_gl()
        if platform is None:
            raise RuntimeError("no off-screen OpenGL")
        # mujoco.Renderer takes its context class from here; by itself it only obeys MUJOCO_GL as it was at
        # import.
        gl_context.GLContext = importlib.import_module(f"mujoco.{platform}").GLContext
        self._data = mujoco.MjData(model)
        self._model, self._camera = model, camera
        self._renderer: mujoco.Renderer | None = mujoco.Renderer(
            model, height=view.intrinsics.height, width=view.intrinsics.width
        )
        atexit.register(self._renderer.close)  # before EGL's own clean-up, which was registered earlier
        self._far = float(model.vis.map.zfar * model.stat.extent)

    def render(self, qpos: Array) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """See the protocol."""
        renderer = self._update(qpos)
        renderer.disable_depth_rendering()
        colour = renderer.render()
        renderer.enable_depth_rendering()
        depth = renderer.render()
        depth[depth >= self._far * 0.999] = 0
        return colour, depth

    def close(self) -> None:
        """Free the context."""
        if self._renderer is not None:
            atexit.unregister(self._renderer.close)
            self._renderer.close()
            self._renderer = None

    def _update(self, qpos: Array) -> mujoco.Renderer:
        if self._renderer is None:
            raise RuntimeError("the renderer is closed")
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        self._renderer.update_scene(self._data, camera=self._camera)
        return self._renderer
