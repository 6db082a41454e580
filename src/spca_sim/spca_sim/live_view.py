"""Views that follow a simulator while it runs, and the one in a window."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any, TypeVar

from spca_robot.windowless import mujoco
from spca_sim.display import require_display
from spca_sim.recording import SimState
from spca_sim.simulator import MujocoSimulator

_V = TypeVar("_V", bound="AttachedView")


class AttachedView(ABC):
    """A view attached to a simulator; use as a context manager.

    It holds a copy of the state: what is done in it cannot disturb the run. A reset to another set of objects
    changes the model, and what is shown is built anew.
    """

    _period = 1 / 30  # wall seconds between two pictures

    def __init__(self, simulator: MujocoSimulator) -> None:
        self._shown = 0.0
        self._follow(simulator)

    def __enter__(self: _V) -> _V:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the view."""
        self._detach()

    def change(self, simulator: MujocoSimulator) -> None:
        """Follow another simulator from now on."""
        self._detach()
        self._follow(simulator)

    @abstractmethod
    def _build(self) -> None:
        """Show the model anew."""

    @abstractmethod
    def _show(self, state: SimState) -> None:
        """Show a state of it."""

    def _follow(self, simulator: MujocoSimulator) -> None:
        self._simulator = simulator
        self._load()
        self._detach = simulator.on_sample(self._sample)

    def _load(self) -> None:
        self._model = self._simulator.model
        self._data = mujoco.MjData(self._model)
        self._build()

    def _sample(self, state: SimState) -> None:
        now = time.monotonic()
        if now - self._shown < self._period:
            return
        self._shown = now
        if self._simulator.model is not self._model:
            self._load()
        self._show(state)

    def _move(self, state: SimState) -> None:
        self._data.qpos[:] = state.qpos
        mujoco.mj_forward(self._model, self._data)


class LiveView(AttachedView):
    """MuJoCo's viewer attached to a simulator. Raises InputError where there is no display."""

    def __init__(self, simulator: MujocoSimulator) -> None:
        require_display()
        self._window: Any = None
        super().__init__(simulator)

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
                self._move(state)
            self._window.sync()
