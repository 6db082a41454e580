"""The planning process: `python -m spca_moveit.worker FD`. It holds MoveIt, and nothing else of the system does.

MoveIt's Python bindings are known to crash when they are torn down, and to leave threads behind. Here that harms nobody:
this process never tears down, it is ended.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from multiprocessing.connection import Connection
from typing import Any

from spca_moveit.backend import Backend, Setup

METHODS = frozenset({"load", "colliding", "plan"})


def make(factory: str, setup: Setup) -> Backend:
    """Call the factory named `module:function`."""
    module, _, name = factory.partition(":")
    backend: Backend = getattr(importlib.import_module(module), name)(setup)
    return backend


def serve(channel: Connection) -> None:
    """Answer calls until the other side goes away. Each answer is (True, result) or (False, complaint)."""
    factory, setup = channel.recv()
    try:
        backend = make(factory, setup)
    except Exception as error:
        channel.send((False, f"{type(error).__name__}: {error}"))
        return
    channel.send((True, os.getpid()))
    while True:
        try:
            method, arguments = channel.recv()
        except (EOFError, OSError):
            return
        channel.send(_answer(backend, method, arguments))


def _answer(backend: Backend, method: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    if method not in METHODS:
        return False, f"no method {method!r}"
    try:
        return True, getattr(backend, method)(*arguments)
    except Exception as error:
        traceback.print_exc()
        return False, f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    try:
        serve(Connection(int(sys.argv[1])))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
