"""Runs over ROS: one program that thinks, on whatever robot is on the graph. ROS is set up when asked for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from importlib.util import find_spec

from spca_core.errors import InputError, SpcaError
from spca_core.paths import CHECKOUT
from spca_core.processes import started

start_program = partial(started, "spca.ros.program")
_TRIED = "SPCA_ROS_SET_UP"


def require_ros() -> None:
    """Return if the interfaces can be imported; else compile them in a checkout and restart this command.

    Raises InputError where there is no checkout to compile them in, and SpcaError where that failed.
    """
    if all(map(find_spec, ("rclpy", "spca_interfaces"))):
        return
    if CHECKOUT is None or not (CHECKOUT / "scripts" / "set_up").is_dir():
        hint = "source a workspace that has them, or use a checkout; without --ros neither is needed"
        raise InputError("--ros needs ROS 2 and the built package spca_interfaces", hint=hint)
    if os.environ.get(_TRIED):
        raise SpcaError("ROS was set up, and spca's interfaces cannot be imported all the same")
    print("spca: --ros is asked for the first time: compiling its interfaces (a minute)", file=sys.stderr)
    done = subprocess.run([sys.executable, str(CHECKOUT / "scripts" / "set_up"), "--ros"], check=False)
    if done.returncode:
        raise SpcaError("ROS could not be set up: see above")
    sys.stdout.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))  # as bin/spca does
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, _TRIED: "1"})
