"""`--transport ros`: runs a level on a node graph, either the running one or one started for this run."""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING

from spca.events import Listener, telling
from spca.kits import kit_of
from spca.ros import standing
from spca.ros.processes import parameters
from spca.ros.run_protocol import RunOrder
from spca.ros.standing import Standing
from spca.ros.standing_run import run_on_standing
from spca_core.ending import Ending
from spca_core.errors import InputError, SpcaError
from spca_core.options import RunOptions, manifest
from spca_core.run_folder import MANIFEST, RunFolder

if TYPE_CHECKING:
    from spca_core.result import RunResult

LOGS = "log"
RESULT = "result.json"
ENDED = "ended.txt"
"""In a run's folder: which process of a launch has ended too early, as the launch says."""


def has_graph(options: RunOptions) -> bool:
    """Return whether a graph is up that a run may use if its level permits, which that graph says itself."""
    return (found := standing.find()) is not None and not standing.misfit(found, options)


def run_ros(
    options: RunOptions, folder: RunFolder, listeners: tuple[Listener, ...] = (), resume: bool = False
) -> RunResult:
    """Run one level to its end, or take up an interrupted run; its folder then holds all but the report.

    The standing graph is used if it fits and is free. Raises the reason at once when a node is lost, and
    Cancelled when the user stops the run before it has begun.
    """
    if (found := standing.find()) is None:
        parameters(options)  # an unknown level is reported before anything is written
    if not resume:
        folder.write(MANIFEST, manifest(options))
    order = RunOrder(run_folder=str(folder.path.absolute()), resume=resume)
    tell = telling(listeners)
    fault: SpcaError | None = None
    try:
        if found is None or not _done_on(found, options, order, tell):
            if options.view == "web":
                raise InputError("--view web over ROS", hint="`spca up --view web`, or --transport inproc")
            from spca.ros.own_run import run_on_own  # loads ROS: a run on the standing graph needs none

            run_on_own(options, order, tell, folder.path / LOGS)
    except SpcaError as error:
        fault = error
    return ended(folder, fault)


def ended(folder: RunFolder, fault: SpcaError | None) -> RunResult:
    """The result on disk: it counts even if a node was lost before its answer came. Else raises `fault`."""
    from spca_core.result import RunResult

    if fault is not None and not (folder.path / RESULT).is_file():
        raise fault
    result = folder.read(RESULT, RunResult)
    if fault is not None and result.outcome is Ending.CANCELLED:
        raise fault
    return result


def _done_on(found: Standing, options: RunOptions, order: RunOrder, tell: Listener) -> bool:
    """Have the graph that is up run the level; if it cannot, the user is told why."""
    problem = standing.misfit(found, options)
    if not problem:
        # No daemon: an interpreter that ends while a thread loads compiled modules may crash.
        threading.Thread(target=_load_ahead, args=(options,)).start()
        problem = run_on_standing(order, tell)
    if problem:
        print(f"spca: not on the graph that is up: it {problem}", file=sys.stderr)
    return not problem


def _load_ahead(options: RunOptions) -> None:
    """Load, while the graph works, what this process needs for the result and the report."""
    for name in ("spca_core.result", "spca.report"):
        import_module(name)
    kit_of(options.level).documents(options)
