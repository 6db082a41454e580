"""MuJoCo, imported without the library that opens windows: `from spca_robot.windowless import mujoco`."""

import os

from spca_core.log import log

if os.environ.get("MUJOCO_GL", "").lower() not in ("egl", "glfw", "glx", "osmesa"):
    # MuJoCo would import GLFW, which starts a Python process to find its library (0.2 s) and is not needed:
    # a live view (`mujoco.viewer`) imports it itself, and pictures choose their platform when they are made.
    os.environ["MUJOCO_GL"] = "disabled"
    try:
        import mujoco
    finally:
        del os.environ["MUJOCO_GL"]
else:
    import mujoco

__all__ = ["mujoco"]

# MuJoCo itself would write its warnings to a file in the user's working folder.
mujoco.set_mju_user_warning(log.warning)
