"""The worker process from its start to its end."""

from __future__ import annotations

import importlib
import sys

from spca_core.processes.wire import Wire
from spca_sandbox.worker import confine
from spca_sandbox.worker.session import WorkerSession


def main() -> None:
    """Read the set-up, import what the code may need, lock the door, then serve.

    `argv[1]` is the lifeline's fd.
    """
    lifeline = int(sys.argv[1])
    wire = Wire()
    setup = wire.receive()
    wire.max_bytes = setup["message_bytes"]
    for name in setup["modules"]:
        importlib.import_module(name)
    session = WorkerSession(wire, setup)
    features = confine.enter(setup, lifeline)
    wire.send({"op": "ready", "features": features})
    session.serve()
