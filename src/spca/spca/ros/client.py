"""The launch file's client: requests one level from a running graph's supervisor.

Its exit status is the verdict.

python -m spca.ros.client stack_01 --preset shuffled --seed 3
"""

from __future__ import annotations

import argparse
import sys

from rclpy.utilities import remove_ros_args
from spca_interfaces.action import RunLevel

from spca.interrupt import stopping_on_interrupt
from spca.progress import Progress
from spca.ros.events import event
from spca_core.errors import EXIT_BAD_INPUT, EXIT_BROKEN, EXIT_NOT_SOLVED, EXIT_SUCCESS, SpcaError
from spca_ros import names
from spca_ros.calls import ActionCall
from spca_ros.peer import Peer
from spca_ros.session import Session

READY_S = 120.0


def main() -> None:
    """Run one level; exit status 0 success, 1 not solved, 2 bad input, 3 something broke."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("level")
    parser.add_argument("--preset", default="nominal")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run-folder", default="", help="a new one in runs/ by default")
    order = parser.parse_args(remove_ros_args(sys.argv)[1:])
    goal = RunLevel.Goal(level=order.level, preset=order.preset, seed=order.seed, run_folder=order.run_folder)
    interrupted: list[bool] = []
    try:
        with Session("client") as node, Progress() as progress:
            peer = Peer(node, names.SUPERVISOR)
            run_level = ActionCall(node, RunLevel, names.RUN_LEVEL, peer)
            with stopping_on_interrupt(lambda: interrupted.append(True)):
                peer.wait_ready(READY_S)
                result = run_level(goal, lambda m: progress(event(m.event)), lambda: bool(interrupted))
    except SpcaError as error:
        print(f"spca: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    print(f"{result.outcome or 'broken'}: {result.message}  {result.run_folder}")
    sys.exit(_status(result))


def _status(result: RunLevel.Result) -> int:
    if result.input_error:
        return EXIT_BAD_INPUT
    if result.outcome in ("", "cancelled"):
        return EXIT_BROKEN
    return EXIT_SUCCESS if result.outcome == "success" else EXIT_NOT_SOLVED


if __name__ == "__main__":
    main()
