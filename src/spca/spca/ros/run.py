"""A run over ROS from the command line or from Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spca.events import Listener
from spca.kits import kit_of
from spca.ros.graph import LOGS, robot, robot_is_there
from spca_core.errors import InputError
from spca_core.run_folder import STATE

if TYPE_CHECKING:
    from spca.runs import Run
    from spca.stages import Approve
    from spca_core.result import RunResult


def on_graph(run: Run, listeners: tuple[Listener, ...] = (), approve: Approve | None = None) -> RunResult:
    """Carry out a run on the robot that is on the graph; without one, on a simulator that ends with it.

    One that was interrupted goes on from what is seen, or begins if it had not.
    """
    found, anew = robot_is_there(), not (run.folder / STATE).is_file()
    if not (found or anew):
        hint = f"begin the level again: spca run {run.options.level} --ros"
        raise InputError("the simulated table of this run has ended with it", str(run.folder), hint)
    # The handler comes first: an exception in the middle of ROS's own calls may crash the process.
    with run.stopping_on_interrupt(), robot(run.options, run.folder / LOGS, found) as alive:
        from spca.ros.program import program  # loads ROS while the simulator starts

        with program(kit_of(run.options.level), alive) as made:
            return made.conduct(run, listeners, anew=anew, approve=approve)
