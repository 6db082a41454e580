"""The robot as a physical thing: a UR5 with a Robotiq 2F-85. Figures, kinematics, MuJoCo model."""

import os


def _import_mujoco() -> None:
    """Import MuJoCo without GLFW, which starts a Python process to find its library (0.2 s) and is not used.

    A live view (`mujoco.viewer`) imports GLFW itself; off-screen pictures choose their platform when made.
    """
    if os.environ.get("MUJOCO_GL"):
        return
    os.environ["MUJOCO_GL"] = "disabled"
    try:
        import mujoco  # noqa: F401
    finally:
        del os.environ["MUJOCO_GL"]


_import_mujoco()
