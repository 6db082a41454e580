"""Checks of what a run without any ROS installation needs, and of the model server that it may ask."""

from __future__ import annotations

import platform
import tempfile
from pathlib import Path

from spca.doctor.finding import Finding, listed
from spca_core.errors import SpcaError

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


WHAT = "model server"


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
    """Report how well generated code is confined."""
    from spca_sandbox.level import SandboxLevel
    from spca_sandbox.process import probe

    report = probe()
    strict = report.level == SandboxLevel.STRICT
    remedy = "" if strict else "a kernel with user namespaces, Landlock and seccomp (Linux 5.13 or newer)"
    if report.level == SandboxLevel.NONE:
        return Finding("sandbox", "missing", str(report), remedy)
    return Finding("sandbox", "ready" if strict else "partly", str(report), remedy)


def model_server() -> Finding:
    """Report which models are configured, and whether their servers answer. No tokens are spent."""
    from spca_llm.config import is_configured, load_config
    from spca_llm.connect import open_chat

    if not is_configured():
        return Finding(
            WHAT,
            "off",
            "none configured; the built-in proposer needs none",
            "set SPCA_LLM_MODEL and SPCA_LLM_BASE_URL or OPENAI_API_KEY (src/spca_llm/README.md)",
        )
    try:
        config = load_config()
        if not config.roles:
            return Finding(
                WHAT, "missing", "a configuration without any model", "name a model (src/spca_llm/README.md)"
            )
        models = ", ".join(
            f"{role}: {model.model} at {model.base_url}" for role, model in config.roles.items()
        )
        with tempfile.TemporaryDirectory() as folder:
            open_chat("", Path(folder), config).preflight(list(config.roles))
    except SpcaError as error:
        return Finding(WHAT, "missing", str(error), "see src/spca_llm/README.md")
    return Finding(WHAT, "ready", models)
