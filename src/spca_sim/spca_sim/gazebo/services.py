"""Gazebo's own services, called by its program `gz`: about a second, mostly to start Ruby and find Gazebo."""

from __future__ import annotations

import subprocess

_TIMEOUT_MS, _TRIES = 5000, 3
_PROGRAM_TIMEOUT_S = 15.0


def ask(service: str, kind: str, request: str) -> str:
    """Send `request`, a `gz.msgs.<kind>` in protobuf's text format, to a service that answers with a Boolean.

    Returns "" if Gazebo accepts it, else what went wrong. The answer of a busy machine can come too late. To
    ask again does no harm: what is asked for is a state, not a change.
    """
    command = [
        *("gz", "service", "-s", service, "--reqtype", f"gz.msgs.{kind}"),
        *("--reptype", "gz.msgs.Boolean", "--timeout", str(_TIMEOUT_MS), "--req", request),
    ]
    said = ""
    for _ in range(_TRIES):
        try:
            answer = subprocess.run(
                command, capture_output=True, text=True, timeout=_PROGRAM_TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"Gazebo cannot be asked: {error}"
        if "data: true" in answer.stdout:
            return ""
        said = (answer.stdout or answer.stderr).strip()
        if "timed out" not in said:
            break
    return f"Gazebo refuses: {said}"
