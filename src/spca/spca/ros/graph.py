"""What a program acts on: the robot that is on the graph, or else the embedded simulator, started for it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_ros import names
from spca_ros.domain import check_loopback, claim, own_domain, silent
from spca_ros.environment import OPENED_BY
from spca_ros.node_process import NodeProcess, Value

_LOOK_S = 3.0  # wall seconds in which the nodes of a domain are sure to be discovered on a machine at rest
_DRIVES = (f"/{names.FOLLOW}/_action/status", "/follow_joint_trajectory/_action/status")
"""How the topics end that tell the state of a drive of an arm."""
LOGS = "log"
ENDED = "ended.txt"
"""In a run's folder: which process of a launch has ended too early, as the launch says."""
Check = Callable[[], None]
"""Raises the reason when what was started has ended."""


@contextmanager
def robot(options: RunOptions, logs: Path, found: bool | None = None) -> Iterator[Check]:
    """Join the domain of the robot on the graph, or one with a simulator of one's own, which ends then.

    `found` says whether there is one, where that is known. Raises InputError where another program has it,
    and for what only a simulator of one's own can be told.
    """
    if robot_is_there() if found is None else found:
        for flag, given in {"--rate": options.rate, "--view": options.view}.items():
            if given:
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
    """Parameters of the embedded simulator's node; all others are set at a reset."""
    view = "web" if options.view == "web" else "window" if options.view else "none"
    return {"rate": options.rate or 0.0, "view": view}


def domain() -> int:
    """The ROS domain of this terminal."""
    return int(os.environ.get("ROS_DOMAIN_ID") or "0")


def robot_is_there() -> bool:
    """Return whether something drives an arm in the domain of this terminal.

    Where nobody on this machine takes part in the domain, and the network is closed, there is none.
    """
    check_loopback()
    if silent(domain()) and not os.environ.get(OPENED_BY):
        return False
    from spca_ros.session import RosSession  # most domains are silent, and need no node

    with RosSession("onlooker") as node:
        end = time.monotonic() + _LOOK_S
        while time.monotonic() < end:
            topics = [name for name, _ in node.get_topic_names_and_types() if name.endswith(_DRIVES)]
            if any(node.count_publishers(name) for name in topics):  # who only asks is no robot
                return True
            time.sleep(0.05)
    return False
