"""Gazebo's own services, called through gz-transport's Python bindings or its command line.

The bindings answer within milliseconds; a call of the `gz` program takes about a second, most of it to start
Ruby and to find Gazebo.
"""

from __future__ import annotations

import importlib
import subprocess
from collections.abc import Callable
from contextlib import suppress

_TIMEOUT_MS, _TRIES = 5000, 3
_PROGRAM_TIMEOUT_S = 15.0

Call = Callable[[str, str, str], tuple[str, bool]]
"""Calls a service, given its name, the type in `gz.msgs` and the request as text; "" or a complaint, and
whether it came in time."""


class GazeboServices:
    """Calls services that answer with a `gz.msgs.Boolean`."""

    def __init__(self) -> None:
        self._call = _bindings() or _by_program
        self.by_bindings = self._call is not _by_program
        """Whether gz-transport's Python bindings are there."""

    def __call__(self, service: str, kind: str, request: str) -> str:
        """Send `request`, a `gz.msgs.<kind>` in protobuf text format.

        Returns "" if Gazebo accepts it, else what went wrong.

        The answer of a busy machine can come too late. To ask again does no harm: what is asked for is a
        state, not a change.
        """
        complaint = ""
        for _ in range(_TRIES):
            complaint, in_time = self._call(service, kind, request)
            if not complaint or in_time:
                break
        return complaint


def _bindings() -> Call | None:
    for transport, messages in _BINDINGS:
        with suppress(ImportError):
            return _by_bindings(transport, messages)
    return None


def _by_bindings(transport: str, messages: str) -> Call:
    node = importlib.import_module(transport).Node()
    boolean = importlib.import_module(f"{messages}.boolean_pb2").Boolean
    text_format = importlib.import_module("google.protobuf.text_format")

    def call(service: str, kind: str, request: str) -> tuple[str, bool]:
        module = importlib.import_module(f"{messages}.{_MODULES[kind]}")
        message = getattr(module, kind)()
        text_format.Parse(request, message)
        answered, reply = node.request(service, message, type(message), boolean, _TIMEOUT_MS)
        if not answered:
            return f"Gazebo does not answer {service} within {_TIMEOUT_MS / 1000:.0f} s", False
        return ("" if reply.data else f"Gazebo refuses {service}"), True

    return call


_BINDINGS = (
    ("gz.transport13", "gz.msgs10"),  # Harmonic: python3-gz-transport13, python3-gz-msgs10
    ("gz.transport", "gz.msgs"),  # Jetty, whose packages have no number in their names
)
_MODULES = {"Pose_V": "pose_v_pb2"}


def _by_program(service: str, kind: str, request: str) -> tuple[str, bool]:
    command = [
        *("gz", "service", "-s", service, "--reqtype", f"gz.msgs.{kind}"),
        *("--reptype", "gz.msgs.Boolean", "--timeout", str(_TIMEOUT_MS), "--req", request),
    ]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=_PROGRAM_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"Gazebo cannot be asked: {error}", True
    if "data: true" in answer.stdout:
        return "", True
    said = (answer.stdout or answer.stderr).strip()
    return f"Gazebo refuses: {said}", "timed out" not in said
