"""`--transport ros`: runs a level on a node graph, either the running one or one started for this run."""

from __future__ import annotations

import sys

from spca.events import Event, Listener
from spca.ros import standing
from spca.ros.processes import parameters
from spca.ros.run_protocol import RunOrder
from spca.ros.standing_run import run_on_standing
from spca_core.options import RunOptions, manifest
from spca_core.result import RunResult
from spca_core.run_folder import MANIFEST, RunFolder

LOGS = "log"


def run_ros(
    options: RunOptions, folder: RunFolder, listeners: tuple[Listener, ...] = (), resume: bool = False
) -> RunResult:
    """Run one level to its end, or take up an interrupted run; its folder then holds all but the report.

    The standing graph is used if it fits and is free. Raises the reason at once when a node is lost, and
    Cancelled when the user stops the run before it has begun.
    """
    shared = parameters(options)
    if not resume:
        folder.write(MANIFEST, manifest(options))
    order = RunOrder(run_folder=str(folder.path), resume=resume)

    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    if (found := standing.find()) is not None:
        problem = standing.misfit(found, options, shared)
        if not problem and run_on_standing(order, tell):
            return folder.read("result.json", RunResult)
        print(
            f"spca: not on the graph that is up: it {problem or 'is busy with another run'}", file=sys.stderr
        )
    from spca.ros.own_run import run_on_own  # loads ROS, which a run on the standing graph does not need

    run_on_own(options, order, tell, folder.path / LOGS)
    return folder.read("result.json", RunResult)
