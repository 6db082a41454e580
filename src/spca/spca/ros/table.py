"""A session's table on the graph: the one of the robot that is there, or of a simulator of one's own."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from spca.events import Listener
from spca.kits import kit_of
from spca.ros.graph import LOGS, robot, robot_is_there

if TYPE_CHECKING:
    from spca.runs import Run
    from spca.stages import Approve
    from spca_core.options import RunOptions
    from spca_core.result import RunResult


class TableThere:
    """Use it as a context manager. A table that is there is taken as it is; one's own is laid first."""

    def __init__(self, options: RunOptions, scratch: Path) -> None:
        self._options, self._scratch = options, scratch
        self._anew = False

    def __enter__(self) -> TableThere:
        found = robot_is_there()
        self._anew = not found
        with ExitStack() as opened:
            check = opened.enter_context(robot(self._options, self._scratch / LOGS, found))
            from spca.ros.program import program  # loads ROS while the simulator starts

            self._program = opened.enter_context(program(kit_of(self._options.level), check))
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *failure: object) -> None:
        self._opened.close()

    def conduct(self, run: Run, listeners: tuple[Listener, ...], approve: Approve | None) -> RunResult:
        """Carry out a run of the session."""
        anew, self._anew = self._anew, False
        return self._program.conduct(run, listeners, anew, approve)
