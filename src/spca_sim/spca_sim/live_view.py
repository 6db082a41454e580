"""The window that follows a simulator while it runs."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from spca_core.contacts import ContactSample
from spca_core.errors import InputError
from spca_core.stopping import Closing
from spca_robot.windowless import mujoco
from spca_sim.mujoco_world import MujocoWorld


def require_display() -> None:
    """Raise InputError where no window can be opened."""
    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform.startswith("linux") and not display:
        hint = "--view web shows it on a page, --video leaves a video"
        raise InputError("there is no display to open a window on", where="--view", hint=hint)


_PERIOD_S = 1 / 30  # wall seconds between two pictures


class LiveView(Closing):
    """MuJoCo's viewer attached to a simulator; use as a context manager.

    Raises InputError where there is no display. It holds a copy of the state: what is done in it cannot
    disturb the run. A reset to another set of objects changes the model, and what is shown is built anew.
    """

    def __init__(self, simulator: MujocoWorld) -> None:
        require_display()
        self._window: Any = None
        self._shown = 0.0
        self._follow(simulator)

    def close(self) -> None:
        """Close the window."""
        self._detach()
        self._window.close()

    def change(self, simulator: MujocoWorld) -> None:
        """Follow another simulator from now on."""
        self._detach()
        self._follow(simulator)

    def _follow(self, simulator: MujocoWorld) -> None:
        self._simulator = simulator
        self._load()
        self._detach = simulator.on_contacts(self._sample)

    def _load(self) -> None:
        import mujoco.viewer

        self._model = self._simulator.model
        self._data = mujoco.MjData(self._model)
        if self._window is not None:
            self._window.close()
        self._window = mujoco.viewer.launch_passive(
            self._model, self._data, show_left_ui=False, show_right_ui=False
        )

    def _sample(self, sample: ContactSample) -> None:
        now = time.monotonic()
        if now - self._shown < _PERIOD_S:
            return
        self._shown = now
        if self._simulator.model is not self._model:
            self._load()
        if self._window.is_running():
            with self._window.lock():
                self._data.qpos[:] = self._simulator.data.qpos
                mujoco.mj_forward(self._model, self._data)
            self._window.sync()
