"""Many calls of one pure function, cheaply, each with its own timeout."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from spca_core.errors import Interrupted
from spca_core.processes.channel import ChannelClosed, ChannelTimeout, Malformed
from spca_core.skill import SkillFailure
from spca_sandbox.cell import Cell
from spca_sandbox.outcome import RunOutcome, clean, failure_of

_CANCELLED = SkillFailure(kind="cancelled", message="cancelled")
_AT_ONCE = 64  # calls per message: few enough to repeat cheaply if a worker dies


def run_batch(
    cell: Cell, function: str, batch: Sequence[Sequence[Any]], timeout_s: float, cancelled: Callable[[], bool]
) -> Iterator[RunOutcome]:
    """One outcome per argument list, in order. A call that kills its worker costs only itself."""
    done, size = 0, _AT_ONCE
    while done < len(batch):
        if failure := cell.ready_for(function) or (_CANCELLED if cancelled() else None):
            end = _ended("cancelled" if failure is _CANCELLED else "failed", failure)
            yield from [end] * (len(batch) - done)
            return
        part = [list(args) for args in batch[done : done + size]]
        try:
            cell.worker.channel.send(
                {"op": "batch", "function": function, "batch": part}, time.monotonic() + timeout_s
            )
        except ValueError as error:
            if size == 1:
                done += 1
                yield _ended("failed", SkillFailure(kind="refused", message=str(error)))
            size = 1
            continue
        except (ChannelTimeout, ChannelClosed):
            cell.replace()  # caused by an earlier call, not by this one
            continue
        for _ in part:
            outcome, alive = _one(cell, timeout_s, cancelled)
            done += 1
            yield outcome
            if not alive:
                break


def _one(cell: Cell, timeout_s: float, cancelled: Callable[[], bool]) -> tuple[RunOutcome, bool]:
    """The outcome of the next call of a message, and whether the worker is still there for the rest."""
    began = time.monotonic()
    deadline = began + timeout_s
    log: list[str] = []

    def ended(kind: str, message: str, status: Literal["failed", "cancelled"] = "failed") -> RunOutcome:
        seconds = time.monotonic() - began
        failure = SkillFailure(kind=kind, message=message)
        return RunOutcome(status=status, failure=failure, log=tuple(log), seconds=seconds)

    try:
        while True:
            message = cell.worker.channel.receive(deadline, cancelled)
            seconds = time.monotonic() - began
            if message["op"] == "log":
                if len(log) < cell.limits.log_lines:
                    log.append(clean(message.get("line", ""), cell.limits.line_chars))
                continue
            cell.worker.busy_s += seconds
            if message["op"] == "done":
                value = message.get("value")
                return RunOutcome(status="done", value=value, log=tuple(log), seconds=seconds), True
            if message["op"] == "failed":
                failure = failure_of(message)
                return RunOutcome(status="failed", failure=failure, log=tuple(log), seconds=seconds), True
            raise Malformed(f"the worker sent '{clean(message['op'], 40)}' where a result was due")
    except ChannelClosed:
        return ended("killed", f"the worker {cell.autopsy()}"), False
    except ChannelTimeout:
        outcome = ended("timeout", f"no result after {timeout_s:g} s")
    except Interrupted:
        outcome = ended("cancelled", "cancelled", "cancelled")
    except Malformed as error:
        outcome = ended("killed", str(error))
    cell.replace()
    return outcome, False


def _ended(status: Literal["failed", "cancelled"], failure: SkillFailure) -> RunOutcome:
    return RunOutcome(status=status, failure=failure)
