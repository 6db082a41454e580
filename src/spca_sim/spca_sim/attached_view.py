"""How a view is attached to a simulator: it follows a copy of the state, at its own pace."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TypeVar

from spca_robot.windowless import mujoco
from spca_sim.simulator import MujocoSimulator
from spca_sim.state import SimState

_V = TypeVar("_V", bound="AttachedView")


class AttachedView(ABC):
    """A view of a simulator; use as a context manager.

    It holds a copy of the state: what is done in it cannot disturb the run. A reset to another set of objects
    changes the model, and what is shown is built anew. Subclasses call `_attach` when they are ready to
    show something.
    """

    _period = 1 / 30
    """Wall seconds between two pictures, at least."""

    def __init__(self, simulator: MujocoSimulator) -> None:
        self._simulator = simulator
        self._shown = 0.0

    def __enter__(self: _V) -> _V:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the view."""
        self._detach()

    def _attach(self) -> None:
        self._load()
        self._detach = self._simulator.on_sample(self._sample)

    def _load(self) -> None:
        self._model = self._simulator.model
        self._data = mujoco.MjData(self._model)
        self._build()

    @abstractmethod
    def _build(self) -> None:
        """Show the model that was loaded."""

    @abstractmethod
    def _show(self, state: SimState) -> None:
        """Show a state of it."""

    def _sample(self, state: SimState) -> None:
        now = time.monotonic()
        if now - self._shown < self._period:
            return
        self._shown = now
        if self._simulator.model is not self._model:
            self._load()
        self._show(state)

    def _follow(self, state: SimState) -> None:
        self._data.qpos[:] = state.qpos
        mujoco.mj_forward(self._model, self._data)
