"""Port: an environment, which is everything Sense → Plan → Code → Act needs from a world."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spca_core.errors import Unsupported
from spca_core.options import RunOptions
from spca_core.plan import ActResult, Choice, Plan, Task
from spca_core.result import MovingScene, Verdict
from spca_core.scene import Observation
from spca_core.skill import CtxApi, StepReport


class CtxServer(ABC):
    """The server behind a skill's `ctx`: it executes the calls in the process that owns the world."""

    api: CtxApi

    @abstractmethod
    def call(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Execute one call; arguments and result are plain JSON values.

        May raise MotionError or ValueError.
        """

    @abstractmethod
    def now(self) -> float:
        """Return the environment's time, in simulated seconds (or steps)."""

    def notice(self, since: float) -> Observation | None:
        """Return what is known for certain now, without moving; None if nothing is.

        This is what the gripper feels, and what was observed after `since` (in the environment's time),
        unless an object was manipulated after that observation.
        """
        return None

    def lacking(self) -> tuple[str, ...]:
        """Return the last call for places to put something, and its arguments, if it found none."""
        return ()

    def prefer(self, choices: tuple[Choice, ...]) -> None:
        """Set the alternatives to offer skills first, in place of those preferred before."""

    @abstractmethod
    def stop(self) -> None:
        """Stop all motion at once and make running calls raise Cancelled. From any thread."""


class Environment(ABC):
    """One level in one world. Ground truth stays inside; only `verdict` may use it."""

    name: str
    """Name such as `tabletop` or `minigrid`, which the skill library and the trusted domains bear, too."""
    task: Task
    api: CtxApi
    builtin_skills: Path
    """Python file of the skills that come with the environment."""
    shown: Verdict | None = None
    """What the last look after a plan has shown, where a look judges the task; for whoever watches."""

    @abstractmethod
    def sense(self) -> Observation:
        """Take a new observation of the world."""

    @abstractmethod
    def act(
        self, attempt: str, plan: Plan, library: str, on_step: Callable[[StepReport], None] | None = None
    ) -> ActResult:
        """Run the plan's steps with the skills in `library` (source text), in a sandbox.

        Never raises for a bad skill.
        """

    @abstractmethod
    def settle(self) -> Verdict:
        """Let the world go on after the last step until the verdict is final or success is ruled out."""

    @abstractmethod
    def verdict(self) -> Verdict:
        """Return the referee's judgement so far."""

    def checkpoint(self) -> bytes:
        """Return the complete state of the level (world, referee, scene memory), opaque, for a file.

        It is empty where the world cannot be put back.
        """
        return b""

    def restore(self, checkpoint: bytes) -> None:
        """Return to a checkpoint; where it is empty, all stays as it is.

        It is either the start of a plan, so that a repaired skill can try again, or the point where a run was
        killed.
        """

    def take_up(self, options: RunOptions) -> None:
        """Begin the level of these options in the world as it is; nothing moves, and recording starts afresh.

        Raises Unsupported where every level begins in a world of its own.
        """
        raise Unsupported(f"{self.name} begins every level in a world of its own")

    def drawn(self) -> MovingScene | None:
        """Robot and things as they are known now, to be drawn, at one stamp; from any thread.

        None where there is nothing to draw.
        """
        return None

    def picture(self) -> NDArray[np.uint8] | None:
        """What the camera saw at the last look, what was found drawn in: RGB (height, width, 3)."""
        return None

    def save_recording(self, folder: Path) -> None:
        """Write what was recorded since the level began into a run's folder."""

    @abstractmethod
    def cancel(self) -> None:
        """Stop the arm first, then whatever runs. From any thread; safe at any time."""

    @abstractmethod
    def close(self) -> None:
        """Release everything and leave no process behind."""
