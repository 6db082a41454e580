"""Failures as a worker reports them."""

from __future__ import annotations

from typing import Any

from spca_core.processes.channel import Malformed
from spca_core.skill import SkillFailure
from spca_sandbox.text import clean


def failure_of(message: dict[str, Any]) -> SkillFailure:
    """The failure in a `failed` message. Raises Malformed."""
    kind, text, line = message.get("kind"), message.get("message"), message.get("line")
    if not isinstance(kind, str) or not isinstance(text, str):
        raise Malformed("not a failure")
    if not isinstance(line, int) or isinstance(line, bool):
        line = None
    return SkillFailure(kind=clean(kind, 40), message=clean(text, 600), line=line)
