"""The launch file's client: has the graph that was launched run the level of a run folder.

Its exit status is the verdict: `python -m spca.ros.client FOLDER`, where FOLDER has a manifest.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rclpy.utilities import remove_ros_args

from spca.events import Listener, telling
from spca.ros.run import ENDED, RESULT, ended
from spca.ros.run_level import RunLevelCall
from spca.ros.run_protocol import RunOrder
from spca.run_command import follow
from spca.runs import Run
from spca_core.errors import SpcaError
from spca_core.flag import Flag
from spca_core.options import Manifest
from spca_core.processes.leaving import leave
from spca_core.run_folder import MANIFEST, RunFolder
from spca_ros import names
from spca_ros.peer import Peer
from spca_ros.session import RosSession

if TYPE_CHECKING:
    from spca_core.result import RunResult

_READY_S = 120.0


def main() -> None:
    """Run the level; exit status 0 success, 1 not solved, 2 bad input, 3 something broke, 130 interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the run's folder, with its manifest")
    folder = RunFolder.open(parser.parse_args(remove_ros_args(sys.argv)[1:]).folder)
    interrupted = Flag()
    for number in (signal.SIGINT, signal.SIGTERM):  # the launch sends several, until it kills
        signal.signal(number, lambda *_: interrupted.set())

    class Launched(Run):
        def carry_out(self, listeners: tuple[Listener, ...], *_: object) -> RunResult:
            return _run(folder, listeners, interrupted)

    status = 3
    try:
        status = follow(Launched(folder.read(MANIFEST, Manifest).options, folder))
    except SpcaError as error:
        print(f"spca: {error}", file=sys.stderr)
        status = error.exit_status
    leave(status)  # a thread of ROS's that has not ended yet would abort an interpreter that ends


def _run(folder: RunFolder, listeners: tuple[Listener, ...], interrupted: Flag) -> RunResult:
    fault: SpcaError | None = None
    with RosSession("client") as node:
        peer = Peer(node, names.SUPERVISOR)
        run_level = RunLevelCall(node, peer)
        try:
            peer.wait_ready(_READY_S, interrupted.is_set)
            end = run_level(RunOrder(run_folder=str(folder.path)), telling(listeners), interrupted.is_set)
            end.check(interrupted.is_set())
        except SpcaError as error:
            fault = error
    if (why := folder.path / ENDED).is_file():  # why the launch ends, and interrupts its processes
        fault = SpcaError(why.read_text().strip())
    elif interrupted.is_set() and (folder.path / RESULT).is_file():
        fault = None  # the launch interrupts all processes: the supervisor may end before its answer comes
    return ended(folder, fault)


if __name__ == "__main__":
    main()
