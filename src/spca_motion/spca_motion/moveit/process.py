"""Client of the planning process.

Every request has a deadline; the process is restarted when it dies and never left running. What
passes between the two is JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from spca_core.errors import InputError, MotionError, SpcaError
from spca_core.geometry import Array
from spca_core.processes.child import python_environment
from spca_core.processes.service import Service, ServiceDied, ServiceFailed, ServiceTimeout
from spca_core.stopping import Stop, never
from spca_core.world import World
from spca_motion.collision import Held, Obstacle
from spca_motion.limits import WorkspaceBox
from spca_robot.description.moveit_config import PIPELINES
from spca_robot.description.names import SOURCES


@dataclass(frozen=True)
class Geometry:
    """The bodies of a planning scene as they are checked.

    Their sizes include every clearance and allowance.

    `table` is the height of an endless horizontal surface; None for none.
    """

    obstacles: tuple[Obstacle, ...] = ()
    held: Held | None = None
    table: float | None = None


@dataclass(frozen=True)
class PathRequest:
    """A path wanted from `start` to `goal`, joints (n,) in radians, the pads `gap` metres apart.

    `seconds` of wall time bound the search. On all of the path, the point `reach` metres from `tool0` on the
    flange's z axis stays in the `box`, if there is one.
    """

    start: Array
    goal: Array
    gap: float
    seconds: float
    box: WorkspaceBox | None = None
    reach: float = 0.0


@dataclass(frozen=True)
class Setup:
    """Parameters of the planning library. Raises InputError for a robot or a pipeline that is unknown."""

    world: World
    source: str = "generated"
    """Which robot description: see `spca_robot.description.names`."""
    pipeline: str = "ompl"
    """Which planning pipeline of MoveIt searches: one of `spca_robot.description.moveit_config.PIPELINES`."""

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise InputError(f"unknown robot '{self.source}'", "parameter robot", " or ".join(SOURCES))
        if self.pipeline not in PIPELINES:
            known = ", ".join(PIPELINES)
            raise InputError(f"unknown pipeline '{self.pipeline}'", "parameter pipeline", known)


MOVEIT = "spca_motion.moveit.moveit_backend:MoveItBackend"
START_S, CHECK_S = 90.0, 10.0
"""Wall seconds that the process may take to begin, and to answer anything but a plan."""
_GRACE_S = 5.0  # beyond the planner's own limit
_plain = partial(TypeAdapter(Any).dump_python, mode="json", fallback=np.ndarray.tolist)


class PlannerProcess(Service):
    """A planning backend in a process of its own.

    May be called from several threads; calls wait for each other.

    Every request includes the scene geometry, so that a restarted process gives the same answers.
    """

    def __init__(self, setup: Setup, factory: str = MOVEIT, log: Path | None = None) -> None:
        """Start the process and wait until it is ready. Raises SpcaError that says why it is not.

        `log` takes the process's output; what it said before it died is quoted in errors with or without one.
        """
        super().__init__(
            "spca_motion.moveit.worker",
            {"factory": factory, "setup": _plain(setup)},
            env=python_environment(),
            log=log,
            start_s=START_S,
        )
        self._loaded: tuple[int, Geometry | None] = 0, None  # which start of the process has which geometry
        try:
            self.start()
        except BaseException as error:
            self.close()
            if isinstance(error, SpcaError):
                raise SpcaError(f"the planning process did not start: {error}") from error
            raise

    def colliding(self, geometry: Geometry, states: Array, gap: float) -> NDArray[np.bool_]:
        """Ask the process for `MoveItBackend.colliding`, among these bodies."""
        states = np.atleast_2d(states)
        answer = self._ask(geometry, "colliding", CHECK_S, states=states.tolist(), gap=gap)
        return np.asarray(answer, dtype=bool)

    def plan(self, geometry: Geometry, request: PathRequest, stop: Stop = never) -> Array | None:
        """Ask the process for `MoveItBackend.plan`, among these bodies.

        Raises MotionError('timeout') when the process exceeds the time, and Interrupted when `stop` holds.
        """
        path = self._ask(geometry, "plan", request.seconds + _GRACE_S, stop, request=_plain(request))
        return None if path is None else np.asarray(path, dtype=float)

    def _ask(self, geometry: Geometry, op: str, seconds: float, stop: Stop = never, **arguments: Any) -> Any:
        for last in (False, True):
            try:
                with self.lock:
                    self.start()
                    start, loaded = self._loaded
                    if start != self.starts or loaded is not geometry:
                        self.ask("load", CHECK_S, geometry=_plain(geometry))
                        self._loaded = self.starts, geometry
                    return self.ask(op, seconds, stop, **arguments)
            except ServiceDied as error:
                if last or self.closed:
                    raise MotionError("timeout", f"the planning process {error}") from error
            except ServiceTimeout as error:
                raise MotionError("timeout", f"the planning process gave {error}") from error
            except ServiceFailed as error:
                raise MotionError("timeout", f"the planning process: {error}") from error
        raise AssertionError("unreachable")
