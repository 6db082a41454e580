"""What a program acts on: the robot that is on the graph, or else the embedded simulator, started for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spca.journal import Listener
from spca.kits import kit_of
from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_core.run_folder import STATE
from spca_planner.solver.process import warm_solver
from spca_ros import names
from spca_ros.domain import check_loopback, claim, claimed, domain_in, own_domain, silent
from spca_ros.environment import OPENED_BY
from spca_ros.node_process import NodeProcess, Value

if TYPE_CHECKING:
    from spca.ros.program import Program
    from spca.runs import Run
    from spca_core.result import RunResult


_LOOK_S = 3.0  # wall seconds in which the nodes of a domain are sure to be discovered on a machine at rest
_DRIVES = (f"/{names.FOLLOW}/_action/status", "/follow_joint_trajectory/_action/status")
"""Endings of the topics that tell the state of an arm's drive."""
SIMULATOR = "simulator"
"""Use for which `spca sim` claims its domain."""
LOGS = "log"
ENDED = "ended.txt"
"""Name of the file, in a run's folder, in which a launch says which of its processes ended too early."""
Check = Callable[[], None]
"""Function that raises the reason when what was started has ended."""


def simulator(options: RunOptions) -> dict[str, Value]:
    """Return the parameters of the embedded simulator's node; all others are set at a reset."""
    return {"rate": options.rate or 0.0, "view": "window" if options.view is True else "none"}


def robot_is_there() -> bool:
    """Return whether something drives an arm in the domain of this terminal.

    A simulator of this machine has claimed its domain. Where nobody here takes part in the domain, and the
    network is closed, there is none.
    """
    check_loopback()
    if claimed(domain_in(), SIMULATOR):
        return True
    if silent(domain_in()) and not os.environ.get(OPENED_BY):
        return False
    from spca_ros.node import ros_session  # most domains are silent, and need no node

    with ros_session("onlooker") as node:

        def driven() -> bool:
            topics = [name for name, _ in node.get_topic_names_and_types() if name.endswith(_DRIVES)]
            return any(node.count_publishers(name) for name in topics)  # who only asks is no robot

        return node.loop.wait(driven, _LOOK_S)


def on_graph(run: Run, listeners: tuple[Listener, ...] = ()) -> RunResult:
    """Carry out a run on the robot that is on the graph; without one, on a simulator that ends with it.

    One that was interrupted goes on from what is seen, or begins if it had not.
    """
    found, anew = robot_is_there(), not (run.folder / STATE).is_file()
    if not (found or anew):
        hint = f"begin the level again: `spca run {run.options.level} --ros`"
        raise InputError("the simulated table of this run has ended with it", str(run.folder), hint)
    # The handler comes first: an exception in the middle of ROS's own calls may crash the process.
    with run.stopping_on_interrupt(), acting(run.options, run.folder, found) as made:
        return made.conduct(run, listeners, anew or not found)


@contextmanager
def acting(options: RunOptions, scratch: Path, found: bool) -> Iterator[Program]:
    """Have a program on the robot that was found, or on a simulator of its own, while the context lasts.

    Raises InputError where another program has it, and for what only a simulator of one's own can be told.
    """
    alive: Check | None = None
    with ExitStack() as opened:
        if found:
            for flag, given in {"--rate": options.rate, "--view": options.view}.items():
                if given and given != "web":
                    hint = f"leave {flag} away, or give it to `spca sim`"
                    raise InputError("the robot that is there goes on as it was started", flag, hint)
            opened.enter_context(claim(domain_in()))
        else:
            opened.enter_context(claim(opened.enter_context(own_domain())))
            process = NodeProcess("spca_sim.node", names.SIM, simulator(options), scratch / LOGS)
            alive = opened.enter_context(process).check
        warm_solver()  # starts, as the simulator does, while this process loads ROS
        from spca.ros.program import program

        yield opened.enter_context(program(kit_of(options.level), alive or (lambda: None)))
