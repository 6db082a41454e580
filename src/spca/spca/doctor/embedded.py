"""Checks of what a run without any ROS installation needs."""

from __future__ import annotations

import platform

from spca.doctor.finding import Finding
from spca.doctor.python_packages import listed

_NEEDED = (
    "mujoco",
    "ompl",
    "ruckig",
    "unified-planning",
    "up-fast-downward",
    "up-tamer",
    "opencv-python-headless",
)
SET_UP = "run bin/spca in the checkout: it installs what is locked in requirements/"


def python() -> Finding:
    """The interpreter."""
    version = platform.python_version()
    within = (3, 10) <= tuple(int(n) for n in version.split(".")[:2]) <= (3, 13)
    remedy = "" if within else "use CPython 3.10 to 3.13 (SPCA_PYTHON=python3.12 bin/spca …)"
    return Finding(
        "Python", "ready" if within else "missing", f"{platform.python_implementation()} {version}", remedy
    )


def simulator() -> Finding:
    """Physics, motion planning, task planning and vision."""
    have, lacking = listed(_NEEDED)
    if lacking:
        return Finding("embedded run", "missing", f"lacking {', '.join(lacking)}", SET_UP)
    return Finding("embedded run", "ready", have)


def rendering() -> Finding:
    """Off-screen OpenGL; the default camera needs none."""
    from spca_sim.gl_renderer import find_gl

    found = find_gl()
    if found is None:
        return Finding(
            "OpenGL (EGL, OSMesa)",
            "off",
            "none; the default camera (--camera ray) needs none",
            "apt install libegl1 libgl1-mesa-dri (EGL) or libosmesa6, for --camera gl",
        )
    return Finding("OpenGL (EGL, OSMesa)", "ready", f"{found} draws off-screen")


def sandbox() -> Finding:
    """How well generated code is confined."""
    from spca_sandbox.level import SandboxLevel
    from spca_sandbox.probe import probe

    report = probe()
    strict = report.level == SandboxLevel.STRICT
    remedy = "" if strict else "a kernel with user namespaces, Landlock and seccomp (Linux 5.13 or newer)"
    if report.level == SandboxLevel.NONE:
        return Finding("sandbox", "missing", str(report), remedy)
    return Finding("sandbox", "ready" if strict else "partly", str(report), remedy)
