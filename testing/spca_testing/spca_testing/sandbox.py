"""A small world for the sandbox's tests: counts, fails on request, and records that it was stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spca_core.errors import Cancelled, MotionError
from spca_core.ports.environment import CtxServer
from spca_core.skill import CtxApi, CtxMethod


def _method(signature: str) -> CtxMethod:
    return CtxMethod(name=signature.partition("(")[0], signature=signature, doc="")


API = CtxApi(
    environment="test",
    methods=(
        _method("locate(name: str) -> Thing"),
        _method("move_to(pose: Pose, speed: float = 1.0) -> None"),
        _method("step(action: int) -> int"),
        _method("wait(seconds: float) -> None"),
        _method("all_of(relation: str, *names: str) -> list"),
    ),
    helpers=("pose(x, y, z, yaw=0.0) -> Pose: a tool pose", "LEFT = 0", "lengths are in metres"),
)


class World(CtxServer):
    """Answers the calls of `API`."""

    api = API

    def __init__(self) -> None:
        self.clock = 0.0
        self.stops = 0
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def call(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Answer one call; each kind of answer and error occurs."""
        self.calls.append((method, args, dict(kwargs)))
        if self.stops:
            raise Cancelled("stopped")
        if method == "locate":
            if args[0] == "nothing":
                raise ValueError("there is no 'nothing' here")
            return {"name": args[0], "x": 1.5, "size": [1, 2, 3], "parts": [{"yaw": 0.25}]}
        if method == "move_to":
            raise MotionError("collision", "the table is in the way")
        if method == "wait":
            self.clock += float(args[0])
            return None
        if method == "step":
            return int(args[0]) * 10
        return [args[0], *args[1:]]

    def now(self) -> float:
        """Seconds waited so far."""
        return self.clock

    def notice(self, since: float) -> None:
        """Nothing."""

    def stop(self) -> None:
        """From now on refuse."""
        self.stops += 1
