"""Launches as a user types them, followed to their end: what came out, when, and how firm the grip was."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from full_stack_grip import MOST_SLIP, MOST_TURN, Carry, GripWatch
from full_stack_parts import ROOT

RUNS = ROOT / "runs"
LINE = ("ros2", "launch", "spca", "bringup.launch.py")
LEVEL_S, END_S = 900.0, 60.0
_LOOK_S = 0.2


@dataclass(frozen=True)
class Outcome:
    """What came out, in words, and whether it was what should."""

    well: bool
    words: str


@dataclass(frozen=True)
class Figures:
    """What came out of one run: times in wall seconds after the line, NaN for what there was not."""

    outcome: str
    rounds: int
    status: int
    """The launch's exit status."""
    look: float
    """When the first look had ended."""
    verdict: float
    factor: float
    """Simulated by wall seconds."""
    turn: float
    """The most that a thing turned in the grip, in degrees."""
    slip: float
    """The most that a thing slipped in the grip, in metres."""
    dropped: int
    """How often a thing was lost in transport."""

    @property
    def firm(self) -> bool:
        """True if nothing turned or slipped in the grip by more than is allowed."""
        return not (self.turn > MOST_TURN or self.slip > MOST_SLIP)

    @property
    def well(self) -> bool:
        """True for a success with a firm grip in which nothing was dropped."""
        return self.status == 0 and self.firm and not self.dropped

    @property
    def words(self) -> str:
        """All of it in one line."""
        grip = f"turned {self.turn:.1f}° and slipped {1000 * self.slip:.1f} mm in the grip"
        grip = "nothing carried" if math.isnan(self.turn) else grip
        timed = {"first look": self.look, "verdict": self.verdict}
        words = [
            f"{self.outcome} in round {self.rounds}",
            *(f"{what} after {time:.0f} s" for what, time in timed.items() if not math.isnan(time)),
            f"real-time factor {self.factor:.2f}",
            grip if self.firm else f"**{grip}**",
            *[f"**dropped {self.dropped} times**"] * bool(self.dropped),
        ]
        return ", ".join(words)


def readme_line() -> tuple[str, ...]:
    """The command that README has for a ROS 2 machine, the last one of its section."""
    section = (ROOT / "README.md").read_text().split("## On a ROS 2 machine")[1]
    return tuple(re.split("```\n?", section)[1].splitlines()[-1].split())


class Launch:
    """A launch in a process group of its own, in the ROS domain of here; its output goes to a file."""

    def __init__(self, folder: Path, command: Sequence[str]) -> None:
        """A `command` that does not say where its run is recorded has it in a new folder in runs/."""
        self._folder, self._before = folder, _runs()
        self._recorded = next((word for word in command if word.startswith("record:=")), "")
        self.begun = time.monotonic()
        with (folder / "launch.log").open("w") as log:
            self.process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                text=True,
                cwd=ROOT,
                start_new_session=True,
            )
        self._times: dict[str, float] = {}
        self._watch: GripWatch | None = None

    @property
    def run(self) -> Path:
        """The folder of the run; of one that has none, a folder that does not exist."""
        if self._recorded:
            return Path(self._recorded.partition(":=")[2])
        return next(iter(_runs() - self._before), self._folder / "no run")

    def follow(self, limit: float, until: Callable[[Launch], bool] = lambda launch: False) -> bool:
        """Go on until it ends, or `until` holds; False after `limit` seconds of it."""
        while self.process.poll() is None and not until(self):
            if time.monotonic() - self.begun > limit:
                return False
            if self._watch is None:
                self._watch = self._gazebo()
            for event in self.events():
                self._times.setdefault(_moment(event), time.monotonic() - self.begun)
            time.sleep(_LOOK_S)
        return True

    def events(self) -> list[dict[str, Any]]:
        """The events of the run so far; the last line may still be being written."""
        file = self.run / "events.jsonl"
        lines = file.read_text().split("\n")[:-1] if file.is_file() else []
        return [json.loads(line) for line in lines]

    def end(self, limit: float = END_S) -> int:
        """Wait for the end for so long, or make one; the exit status."""
        everyone: Sequence[int] = ()
        if not self.follow(time.monotonic() - self.begun + limit):
            everyone = descendants(self.process.pid)
            os.killpg(self.process.pid, signal.SIGINT)
        try:
            return self.process.wait(END_S) or int(bool(everyone))
        except subprocess.TimeoutExpired:
            return 1
        finally:
            kill(everyone)

    def outcome(self, status: int) -> Outcome | Figures:
        """Verdict, rounds, times, real-time factor, drops, and turn and slip of what was carried."""
        carried = self._watch.end() if self._watch is not None else []
        file = self.run / "result.json"
        if not file.is_file():
            lines = (self._folder / "launch.log").read_text(errors="replace").strip().splitlines()
            said = [line for line in lines if "] spca: " in line] or lines  # the reason before the end
            return Outcome(False, f"status {status}, {' '.join(said[-1:])[-200:]}")
        return judged(json.loads(file.read_text()), status, self.events(), self._times, carried)

    def _gazebo(self) -> GripWatch | None:
        server = [pid for pid in descendants(self.process.pid) if "gz sim -s" in command_of(pid)]
        with contextlib.suppress(OSError, StopIteration):  # it may just be starting, or have ended
            return GripWatch(server[-1], self._folder / "poses.jsonl") if server else None
        return None


def judged(
    result: dict[str, Any],
    status: int,
    events: Sequence[dict[str, Any]],
    times: dict[str, float],
    carried: Sequence[Carry],
) -> Figures:
    """The figures of a run that has ended."""
    failures = [event["data"].get("failure") or {} for event in events if event["kind"] == "step"]
    return Figures(
        outcome=result["outcome"],
        rounds=result["rounds"],
        status=status,
        look=times.get("first look", math.nan),
        verdict=times.get("verdict", math.nan),
        factor=real_time_factor(events),
        turn=max((c.turn for c in carried), default=math.nan),
        slip=max((c.slip for c in carried), default=math.nan),
        dropped=sum(failure.get("kind") == "lost" for failure in failures),
    )


def _moment(event: dict[str, Any]) -> str:
    """What of a run is timed: the end of the first look, and the verdict."""
    looked = event["kind"] == "stage_ended" and event["stage"] == "sense"
    return "first look" if looked else str(event["kind"])


def real_time_factor(events: Sequence[dict[str, Any]]) -> float:
    """Simulated by wall seconds, from a run's first event to its last one before the verdict was final.

    Afterwards events bear the verdict's time.
    """
    before = [event for event in events if event["sim"] < max(e["sim"] for e in events)]
    wall = before[-1]["wall"] - before[0]["wall"] if before else 0.0
    return (before[-1]["sim"] - before[0]["sim"]) / wall if wall else 0.0


@contextlib.contextmanager
def launched(*arguments: str) -> Iterator[Launch]:
    """bringup.launch.py with these arguments; recorded in a folder that goes with it."""
    with _place() as folder:
        yield Launch(folder, [*LINE, *arguments, f"record:={folder}/run"])


@contextlib.contextmanager
def typed() -> Iterator[Launch]:
    """README's line, letter by letter."""
    with _place() as folder:
        yield Launch(folder, readme_line())


@contextlib.contextmanager
def _place() -> Iterator[Path]:
    """A folder, and a ROS domain that nobody else on this machine takes meanwhile."""
    from spca_ros.domain import own_domain  # a machine without ROS's workspace can only list the rows

    with tempfile.TemporaryDirectory(prefix="spca_check_") as folder, own_domain():
        yield Path(folder)


def _runs() -> set[Path]:
    return set(RUNS.iterdir()) if RUNS.is_dir() else set()


def kill(processes: Sequence[int]) -> None:
    """Kill those that have not ended yet."""
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            after = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(after[1]), []).append(int(folder.name))
    found, todo = [], [pid]
    while todo:
        todo += (children := parents.get(todo.pop(), []))
        found += children
    return found


def command_of(pid: int) -> str:
    """A process's command line; empty once it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ").strip()
    except OSError:
        return ""
