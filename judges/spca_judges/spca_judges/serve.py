"""The judge's end of the border: answers what `RemoteEpisode` asks. Python's own library and numpy only.

A server is a file that is started with this folder as its first argument: it puts it on `sys.path`, imports
`messages` and `serve` from there, and calls `serve` with an object that has the methods of `Episode` in plain
values (a frame or a state is a dict).
"""

from __future__ import annotations

import os
import sys
from typing import Any


def serve(messages: Any, episode: Any, version: str) -> None:
    """Answer until the input ends. What libraries print goes to standard error."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            asked = messages.receive(sys.stdin.buffer)
        except messages.Ended:
            os._exit(0)
        what = asked.pop("ask")
        try:
            answer = _answer(messages, episode, version, what, asked)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        messages.send(output, answer)


def _answer(messages: Any, episode: Any, version: str, what: str, values: dict[str, Any]) -> dict[str, Any]:
    if what == "hello":
        return {
            "protocol": messages.PROTOCOL, "version": version, "text": episode.text, "period": episode.period
        }  # fmt: skip
    if what not in ("reset", "look", "feel", "act", "success"):
        raise ValueError(f"there is no '{what}'")
    name = {"look": "frames", "feel": "state", "success": "success"}.get(what, "done")
    return {name: getattr(episode, what)(**values)}
