"""The planning process: `python -m spca_motion.moveit.worker`. It is the only process that loads MoveIt.

MoveIt's Python bindings are known to crash when they are torn down, and to leave threads behind. That does no
harm here, because this process is killed and never tears them down.
"""

from __future__ import annotations

import pkgutil
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from spca_core.processes.child import leave
from spca_core.processes.wire import Wire, wire_of_service
from spca_motion.moveit.process import Geometry, PathRequest, Setup

_MAX_BYTES = 1 << 22


def serve(wire: Wire) -> None:
    """Answer questions until the other side goes away."""
    message = wire.receive()
    try:
        make: Callable[[Setup], Any] = pkgutil.resolve_name(message["factory"])  # `module:function`
        backend = make(TypeAdapter(Setup).validate_python(message["setup"]))
    except Exception as error:
        traceback.print_exc()
        wire.send({"op": "failed", "message": f"{type(error).__name__}: {error}"})
        return
    wire.send({"op": "ready"})
    while True:
        message = wire.receive()
        try:
            answer = {"op": "done", "value": _answer(backend, message)}
        except Exception as error:
            traceback.print_exc()
            answer = {"op": "failed", "message": f"{type(error).__name__}: {error}"}
        wire.send({**answer, "id": message["id"]})


def _answer(backend: Any, message: dict[str, Any]) -> Any:
    if message["op"] == "load":
        return backend.load(TypeAdapter(Geometry).validate_python(message["geometry"]))
    if message["op"] == "colliding":
        return backend.colliding(np.array(message["states"]), message["gap"]).tolist()
    path = backend.plan(TypeAdapter(PathRequest).validate_python(message["request"]))
    return None if path is None else path.tolist()


if __name__ == "__main__":
    with suppress(EOFError):  # whoever asked is gone
        serve(wire_of_service(_MAX_BYTES))
    leave(0)
