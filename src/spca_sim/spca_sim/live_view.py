"""A window that shows the simulation while it runs."""

from __future__ import annotations

from typing import Any

from spca_sim.attached_view import AttachedView
from spca_sim.display import require_display
from spca_sim.simulator import MujocoSimulator
from spca_sim.state import SimState


class LiveView(AttachedView):
    """MuJoCo's viewer attached to a simulator. Raises InputError where there is no display."""

    def __init__(self, simulator: MujocoSimulator) -> None:
        require_display()
        super().__init__(simulator)
        self._window: Any = None
        self._attach()

    def close(self) -> None:
        """Close the window."""
        super().close()
        self._window.close()

    def _build(self) -> None:
        import mujoco.viewer

        if self._window is not None:
            self._window.close()
        self._window = mujoco.viewer.launch_passive(
            self._model, self._data, show_left_ui=False, show_right_ui=False
        )

    def _show(self, state: SimState) -> None:
        if self._window.is_running():
            with self._window.lock():
                self._follow(state)
            self._window.sync()
