"""What a program acts on: the robot that is on the graph, or else the embedded simulator, started for it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spca.events import Listener
from spca.kits import kit_of
from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_core.run_folder import STATE
from spca_ros import names
from spca_ros.domain import check_loopback, claim, own_domain, silent
from spca_ros.environment import OPENED_BY
from spca_ros.node_process import NodeProcess, Value

if TYPE_CHECKING:
    from spca.ros.program import Program
    from spca.runs import Run
    from spca.stages import Approve
    from spca_core.ports.environment import Environment
    from spca_core.result import RunResult


_LOOK_S = 3.0  # wall seconds in which the nodes of a domain are sure to be discovered on a machine at rest
_DRIVES = (f"/{names.FOLLOW}/_action/status", "/follow_joint_trajectory/_action/status")
"""Endings of the topics that tell the state of an arm's drive."""
LOGS = "log"
ENDED = "ended.txt"
"""Name of the file, in a run's folder, in which a launch says which of its processes ended too early."""
Check = Callable[[], None]
"""Function that raises the reason when what was started has ended."""


@contextmanager
def robot(options: RunOptions, logs: Path, found: bool) -> Iterator[Check]:
    """Join the domain of a robot that was found, or one with a simulator of our own, until the context ends.

    Raises InputError where another program has it, and for what only a simulator of one's own can be told.
    """
    if found:
        for flag, given in {"--rate": options.rate, "--view": options.view}.items():
            if given and given != "web":
                hint = f"leave {flag} away, or give it to `spca sim`"
                raise InputError("the robot that is there goes on as it was started", flag, hint)
        with claim(domain()):
            yield lambda: None
        return
    with (
        own_domain() as own,
        claim(own),
        NodeProcess("spca_sim.node", names.SIM, simulator(options), logs) as child,
    ):
        yield child.check


def simulator(options: RunOptions) -> dict[str, Value]:
    """Return the parameters of the embedded simulator's node; all others are set at a reset."""
    return {"rate": options.rate or 0.0, "view": "window" if options.view is True else "none"}


def domain() -> int:
    """Return the ROS domain of this terminal."""
    return int(os.environ.get("ROS_DOMAIN_ID") or "0")


def robot_is_there() -> bool:
    """Return whether something drives an arm in the domain of this terminal.

    Where nobody on this machine takes part in the domain, and the network is closed, there is none.
    """
    check_loopback()
    if silent(domain()) and not os.environ.get(OPENED_BY):
        return False
    from spca_ros.node import ros_session  # most domains are silent, and need no node

    with ros_session("onlooker") as node:
        end = time.monotonic() + _LOOK_S
        while time.monotonic() < end:
            topics = [name for name, _ in node.get_topic_names_and_types() if name.endswith(_DRIVES)]
            if any(node.count_publishers(name) for name in topics):  # who only asks is no robot
                return True
            time.sleep(0.05)
    return False


def on_graph(run: Run, listeners: tuple[Listener, ...] = (), approve: Approve | None = None) -> RunResult:
    """Carry out a run on the robot that is on the graph; without one, on a simulator that ends with it.

    One that was interrupted goes on from what is seen, or begins if it had not.
    """
    found, anew = robot_is_there(), not (run.folder / STATE).is_file()
    if not (found or anew):
        hint = f"begin the level again: spca run {run.options.level} --ros"
        raise InputError("the simulated table of this run has ended with it", str(run.folder), hint)
    # The handler comes first: an exception in the middle of ROS's own calls may crash the process.
    with run.stopping_on_interrupt(), TableThere(run.options, run.folder, found=found) as there:
        return there.conduct(run, listeners, approve, anew)


class TableThere:
    """Use it as a context manager. A table that is there is taken as it is; one's own is laid first.

    A `program` that is given is the one that acts, and stays; `found` says whether there is a robot, where
    that is known.
    """

    def __init__(
        self, options: RunOptions, scratch: Path, program: Program | None = None, found: bool | None = None
    ) -> None:
        self._options, self._scratch, self._found = options, scratch, found
        self._anew, self._opened, self._program = False, ExitStack(), program

    def __enter__(self) -> TableThere:
        if self._program is not None:
            return self
        found = robot_is_there() if self._found is None else self._found
        self._anew = not found
        with ExitStack() as opened:
            check = opened.enter_context(robot(self._options, self._scratch / LOGS, found))
            from spca.ros.program import program  # loads ROS while the simulator starts

            self._program = opened.enter_context(program(kit_of(self._options.level), check))
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *failure: object) -> None:
        self._opened.close()

    @property
    def environment(self) -> Environment | None:
        """The world of the last run."""
        return self._program.environment if self._program else None

    def conduct(
        self, run: Run, listeners: tuple[Listener, ...], approve: Approve | None, anew: bool
    ) -> RunResult:
        """Carry out a run of the session; `anew` on a table that is laid for it."""
        anew, self._anew = anew or self._anew, False
        assert self._program is not None, "it has not been entered"
        return self._program.conduct(run, listeners, anew, approve)
