"""A window that shows the simulation while it runs."""

from __future__ import annotations

import time

from spca_robot.windowless import mujoco
from spca_sim.display import require_display
from spca_sim.simulator import MujocoSimulator
from spca_sim.state import SimState

_FRAME = 1 / 30  # s of wall time between two pictures


class LiveView:
    """MuJoCo's viewer attached to a simulator; use as a context manager.

    InputError where there is no display.

    The window holds a copy of the state: what the user does in it cannot disturb the run. A reset to another
    set of objects opens a new window, because the model changes.
    """

    def __init__(self, simulator: MujocoSimulator) -> None:
        require_display()
        self._simulator = simulator
        self._model: mujoco.MjModel | None = None
        self._shown = 0.0
        self._open()
        self._end = simulator.on_sample(self._show)

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the window."""
        self._end()
        self._viewer.close()

    def _open(self) -> None:
        import mujoco.viewer

        self._model = self._simulator.model
        self._data = mujoco.MjData(self._model)
        self._viewer = mujoco.viewer.launch_passive(
            self._model, self._data, show_left_ui=False, show_right_ui=False
        )

    def _show(self, state: SimState) -> None:
        now = time.monotonic()
        if now - self._shown < _FRAME:
            return
        self._shown = now
        if self._simulator.model is not self._model:
            self._viewer.close()
            self._open()
        if self._viewer.is_running():
            with self._viewer.lock():
                self._data.qpos[:] = state.qpos
                mujoco.mj_forward(self._model, self._data)
            self._viewer.sync()
