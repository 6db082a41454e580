"""Kill or stop every process of a run in every stage, and print how each run ended.

.venv/bin/python benchmarks/faults.py --transport ros --stage act
.venv/bin/python benchmarks/faults.py --transport inproc --interrupts 100

`standing` runs on a graph that `spca up` has started for the fault, with a runtime folder of its own; `spca
down` ends what is left of it. Columns: the process, the signal, the stage, the exit status, seconds from the
fault to the end, processes left over, the exit status of `spca resume`, and whether anything of that is
wrong: no end, another status, something left over, or a success that the referee did not see.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Annotated

import psutil
import typer
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
LAUNCHER = ROOT / "bin" / "spca"
STAGES = ("start", "sense", "plan", "code", "act", "report")
NODES = ("spca_sim.node", "spca_referee.node", "spca_tabletop.ros.executor_node", "spca.ros.brain")
KEEPER = "spca.ros.keeper"
VICTIMS = {
    "ros": NODES,
    "standing": (*NODES, KEEPER),
    "inproc": ("spca_planner.solver.worker", "spca_sandbox.worker"),
}
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
LIMIT_S = 120.0  # wall seconds after which a run counts as one that waits for ever


def main(
    transport: Annotated[str, typer.Option(help="ros, standing or inproc")] = "ros",
    level: str = "touch_02",
    stage: Annotated[list[str] | None, typer.Option(help="Only these stages")] = None,
    victim: Annotated[list[str] | None, typer.Option(help="Only these modules")] = None,
    interrupts: Annotated[int, typer.Option(help="Points in time at which Ctrl-C is pressed instead")] = 0,
) -> None:
    """Run the campaign; the exit status is the number of wrong ends."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    table = Table("process", "signal", "stage", "status", "s", "left", "resumed", "wrong", "last line")
    wrong = 0
    if interrupts:
        cases = [("spca", "interrupt", f"{5.0 * (k + 0.5) / interrupts:.2f}") for k in range(interrupts)]
    else:
        cases = [(v, s, at) for v in victim or VICTIMS[transport] for s in SIGNALS for at in stage or STAGES]
    for module, sign, at in cases:
        row, bad = one(transport, level, module, sign, at)
        wrong += bad
        table.add_row(module, sign, at, *row)
        print(module, sign, at, *row, flush=True)
    Console(width=160).print(table)
    raise typer.Exit(min(wrong, 100))


def one(transport: str, level: str, module: str, sign: str, at: str) -> tuple[list[str], bool]:
    """One run with one fault: its row, and whether the end is wrong."""
    with tempfile.TemporaryDirectory(prefix="spca_faults_") as scratch:
        folder = Path(scratch) / "run"
        (runtime := Path(scratch) / "runtime").mkdir(mode=0o700)
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime)}
        graph = _up(environment) if transport == "standing" else None
        wire = "ros" if graph else transport
        command = [LAUNCHER, "run", level, "--transport", wire, "--no-video", "--rate", "2", "--out", folder]
        log = folder.with_suffix(".log")
        with log.open("wb") as out:
            run = psutil.Popen(
                list(map(str, command)), stdout=out, stderr=out, start_new_session=True, env=environment
            )
        family: set[psutil.Process] = {run}
        try:
            began = time.monotonic()
            if sign == "interrupt":
                time.sleep(float(at))
                family |= {*_descendants(run)}
                run.send_signal(signal.SIGINT)
                hit = True
            else:
                hit = _strike(run, graph or run, folder, module, SIGNALS[sign], at, family)
            struck_at = time.monotonic()
            status = _status(run)
            seconds = time.monotonic() - (struck_at if hit else began)
            last = (log.read_text(errors="replace").strip().splitlines() or [""])[-1]
            left = _alive(family - {graph}) if graph is None else []
            resumed, ended = "-", (folder / "result.json").exists()
            if status in (3, 130) and (folder / "state.json").exists():
                resumed = _spca(environment, "resume", folder)
            if graph is not None:
                family |= {graph, *_descendants(graph)}
                _spca(environment, "down")
                left = _alive(family)
        finally:
            for process in family:
                _end(process)
        false = status == 0 and _outcome(folder) != "success"
    allowed = (0, 130, -2) if sign == "interrupt" else (0, 1, 3)
    refused = resumed == "2" and ended  # it had come to its end without whoever had asked for it
    bad = status not in allowed or bool(left) or false or not (refused or resumed in ("-", "0", "1"))
    bad = bad or (not hit and status != 0)  # the run failed by itself
    words = "not struck: it had ended" if not hit else last[:90]
    words = f"left: {', '.join(left)}; {words}" if left else words
    return [str(status), f"{seconds:.1f}", str(len(left)), resumed, "yes" if bad else "", words], bad


def _up(environment: dict[str, str]) -> psutil.Process:
    """Start a graph that stays; its keeper."""
    subprocess.run(
        [LAUNCHER, "up", "--rate", "2", "--detach"], check=True, capture_output=True, env=environment
    )
    [state] = Path(environment["XDG_RUNTIME_DIR"]).glob("spca/graph-*.json")
    return psutil.Process(json.loads(state.read_text())["pid"])


def _spca(environment: dict[str, str], *arguments: str | Path) -> str:
    """Another command of spca; its exit status, or `none` where it does not end."""
    with psutil.Popen(
        [str(LAUNCHER), *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
    ) as command:
        status = _status(command)
        if status is None:
            _end(command)
    return "none" if status is None else str(status)


def _status(process: psutil.Popen) -> int | None:
    """The exit status, None where it does not end."""
    try:
        return int(process.wait(LIMIT_S))
    except psutil.TimeoutExpired:
        return None


def _alive(family: set[psutil.Process]) -> list[str]:
    """What is still there a moment later: what is killed with its parent needs one."""
    alive = psutil.wait_procs(family, timeout=2.0)[1]
    return [" ".join(words[3:4]) for process in alive if (words := _words(process))]  # a zombie has none


def _strike(
    run: psutil.Process,
    root: psutil.Process,
    folder: Path,
    module: str,
    sign: signal.Signals,
    at: str,
    family: set[psutil.Process],
) -> bool:
    """Send the signal to the process of that module below `root` as soon as the stage has begun.

    Whatever is there then is added to `family`.
    """
    end = time.monotonic() + LIMIT_S
    while run.is_running() and run.status() != psutil.STATUS_ZOMBIE and time.monotonic() < end:
        if _reached(folder, at):
            for process in (there := [root, *_descendants(root)]):
                if any(module in part for part in _words(process)):
                    family |= {*there, *_descendants(run)}
                    process.send_signal(sign)
                    return True
        time.sleep(0.005)
    return False


def _reached(folder: Path, stage: str) -> bool:
    if stage == "start":
        return (folder / "run.json").exists()
    if stage == "report":
        return (folder / "result.json").exists()
    events = folder / "events.jsonl"
    text = events.read_text(errors="replace") if events.exists() else ""
    return '"stage_started"' in text and f'"stage":"{stage}"' in text


def _outcome(folder: Path) -> str:
    try:
        return str(json.loads((folder / "result.json").read_text())["verdict"]["outcome"])
    except (OSError, ValueError, KeyError):
        return ""


def _descendants(run: psutil.Process) -> list[psutil.Process]:
    try:
        return list(run.children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _words(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def _end(process: psutil.Process) -> None:
    """End a process that is still there, with its children."""
    for one_of_them in [*_descendants(process), process]:
        try:
            one_of_them.kill()
        except psutil.Error:
            continue


if __name__ == "__main__":
    typer.run(main)
