"""The graph that stays up between runs (`spca up`): where its state is found, and whether it fits a run.

The daemon (`spca.ros.daemon`) holds a lock for as long as it lives and keeps a state file next to it, both in
the user's runtime folder and readable by this user only. There is one such graph for each checkout.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from spca.ros.processes import Backends
from spca_core.errors import SpcaError
from spca_core.model import Record
from spca_core.options import RunOptions
from spca_core.paths import ROOT, runtime_folder
from spca_core.seal import fingerprint

_KEYS = re.compile(r"KEY|TOKEN|SECRET|PASSW|^SPCA_LLM", re.IGNORECASE)


DAEMON_LOG = "daemon.log"
BEAT_S = 1.0
"""Wall seconds after which the daemon writes its state file, whether or not anything has changed."""
NOT_READY = "is not ready yet"
SILENCE_S = 10.0
"""Wall seconds without a beat after which the daemon counts as stopped or hung."""
END_S = 15.0
"""Wall seconds that a graph has for its end."""


class UpRequest(Record):
    """Request of `spca up` to the daemon."""

    options: RunOptions
    choice: Backends
    idle_s: float
    secured: dict[str, str] = {}
    """Environment variables of DDS Security, if it is used."""
    terminal: str = ""
    """Path of the terminal with which the graph ends; empty: it outlives every terminal."""


class NodeState(Record):
    """A process of the graph."""

    name: str
    """Of its nodes, joined by `+`."""
    pid: int
    state: str
    """`starting`, `ready`, or `lost` until it has been started again."""
    restarts: int = 0


class Standing(Record):
    """State of the daemon's graph, as it reports it."""

    pid: int
    """The daemon's."""
    domain: int
    """The ROS domain of all nodes."""
    options: RunOptions
    """What the nodes were started with; a run may ask for another level, preset, seed and camera."""
    parameters: dict[str, str]
    """Environment, world and so on: see `spca.ros.processes.parameters`."""
    sim: str
    arm: str
    keys: str
    """Fingerprint of the environment variables that decide which language models are asked."""
    code: str
    """Of the sources that the nodes run."""
    logs: str
    began: float
    """Seconds since the epoch, as the next ones."""
    idle_until: float | None = None
    """When it ends unless a run begins before; None while a run is under way."""
    secured: dict[str, str] = {}
    """Environment variables of DDS Security, which runs need as well; empty where it is not used."""
    ready: bool = False
    nodes: tuple[NodeState, ...] = ()
    fault: str = ""
    """Why a process was last started again, or why the whole graph has ended."""
    fault_at: float = 0.0
    hangs: bool = False
    """Whether the daemon has not renewed this for too long, as whoever reads it sees."""


def files() -> tuple[Path, Path, Path]:
    """State file, lock and folder of logs of this checkout's graph."""
    name = hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
    folder = runtime_folder()
    return folder / f"graph-{name}.json", folder / f"graph-{name}.lock", folder / f"log-{name}"


def socket_path() -> Path:
    """Return the socket on which the daemon of this checkout's graph takes orders for runs."""
    state, _, _ = files()
    return state.with_suffix(".sock")


def find() -> Standing | None:
    """The graph that is up, also while it is still starting, or None.

    What a killed daemon has left, or anybody else has written, is not believed: the next beat replaces it.
    """
    state, _, _ = files()
    if (pid := daemon()) is None:
        return None
    try:
        found = Standing.model_validate_json(state.read_bytes())
    except (FileNotFoundError, ValidationError):  # it has just begun or ended, or its next beat repairs it
        return None
    if found.pid != pid:
        return None
    return found.model_copy(update={"hangs": True, "ready": False}) if silent() else found


def daemon() -> int | None:
    """The process id of the daemon that lives, or None."""
    _, lock, _ = files()
    if not _held(lock):
        return None
    with suppress(OSError, ValueError):
        return int(lock.read_text())
    return None


def silent() -> bool:
    """Return whether the daemon's last beat was too long ago: it hangs, or somebody has stopped it."""
    state, _, _ = files()
    try:
        return time.time() - state.stat().st_mtime > SILENCE_S
    except FileNotFoundError:
        return False


def kill(pid: int) -> None:
    """Kill a daemon, and wait until its nodes have ended, which end with it."""
    state, _, _ = files()
    nodes: tuple[NodeState, ...] = ()
    with suppress(OSError, ValidationError):
        nodes = Standing.model_validate_json(state.read_bytes()).nodes
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + END_S
    while (daemon() == pid or any(_runs(node.pid) for node in nodes)) and time.monotonic() < end:
        time.sleep(0.05)


def hanging(pid: int) -> str:
    """The words for a daemon that is silent."""
    return f"the process that keeps the graph ({pid}) does not respond; `spca down` ends it"


def last_words() -> str:
    """Return why the daemon's last graph has ended, as it said."""
    _, _, logs = files()
    try:
        lines = (logs / DAEMON_LOG).read_text(errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1].removeprefix("spca: ") if lines else "it said nothing"


def write(standing: Standing) -> None:
    """Replace the state file, for its owner's eyes only."""
    state, _, _ = files()
    fresh = state.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(standing.model_dump_json())
    fresh.replace(state)


@contextmanager
def keeping() -> Iterator[None]:
    """Hold the daemon's lock; leaving it removes the state file and the socket.

    Raises SpcaError when another daemon lives.
    """
    state, lock, _ = files()
    with lock.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SpcaError("a graph is up already; `spca status` shows it") from None
        state.unlink(missing_ok=True)  # of a daemon that was killed
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        try:
            yield
        finally:
            state.unlink(missing_ok=True)
            socket_path().unlink(missing_ok=True)


def misfit(standing: Standing, options: RunOptions) -> str:
    """Explain why a run cannot use the graph, in words following "it"; "" if it can, its level permitting.

    Whether the level does, the daemon says: see `made_otherwise`.
    """
    if standing.hangs:
        return "does not respond; `spca down` ends it"
    if not standing.ready:
        return NOT_READY
    if standing.code != code_stamp():
        return "runs older code; `spca down` and `spca up` restart it"
    if standing.options.rate != options.rate:
        return "was started with another --rate"
    if options.view and standing.options.view != options.view:
        return "was started with another --view"
    asks_models = options.proposer != "builtin" or options.vision
    if asks_models and standing.keys != keys_fingerprint():
        return "was started with other settings for language models"
    return ""


def made_otherwise(standing: Standing, parameters: dict[str, str]) -> str:
    """Explain why a run that needs these parameters cannot use the graph, to follow "it"; "" if it can."""
    for name, wanted in parameters.items():
        if (has := standing.parameters.get(name, "")) != wanted:
            return f"has the {name} '{has}', not '{wanted}'"
    return ""


def keys_fingerprint() -> str:
    """A hash of the environment variables of language models; reveals nothing about them."""
    return fingerprint(repr(sorted((k, v) for k, v in os.environ.items() if _KEYS.search(k))))


def code_stamp() -> str:
    """Changes with every edit of a source file of the packages."""
    newest, count = 0, 0
    for folder in sorted(Path(__file__).resolve().parents[3].glob("spca*")):
        for path, _, names in os.walk(folder):
            for name in names:
                if name.endswith((".py", ".yaml", ".j2", ".pddl")):
                    newest = max(newest, os.stat(os.path.join(path, name)).st_mtime_ns)
                    count += 1
    return f"{count}:{newest}"


def _runs(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def _held(lock: Path) -> bool:
    try:
        with lock.open("r") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
