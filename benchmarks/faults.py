"""Kill or stop every process of a run in every stage, damage every file, and keep how each ended.

.venv/bin/python benchmarks/faults.py faults.jsonl --mutations 1000
.venv/bin/python benchmarks/faults.py faults.jsonl --transport ros --stage act --again
.venv/bin/python benchmarks/faults.py faults.jsonl --points 50
.venv/bin/python benchmarks/faults.py faults.jsonl --points 20 --moving --transport inproc
.venv/bin/python benchmarks/faults.py faults.jsonl --table

A case that stands in the file is not run again unless `--again` says so: a campaign can be interrupted, and
the same command continues it. Wrong is a run that does not end, another status than the fault's (1 for a
lost simulator, or 0 where it was overcome), anything left over (processes, shared memory, sockets, temporary
files), a folder that cannot be read, a resume that fails, a success that the referee did not see, and an arm
that moves for longer than `ARM_S`. A simulated table ends with its run, which `spca resume` says.

`--points` spreads as many kills and stops of the program and the simulator, and presses of Ctrl-C, over the
wall time of a run that is left alone; with `--moving`, over the simulated time in which its arm moves, and
it strikes when the arm does move. Over ROS an onlooker sees it, and an arm that outlives its program; in
process, where the arm ends with the program, `watched.py` tells of it. There, too, the program is told to
stop, and gets Ctrl-C while its solver or its sandbox hangs.
A program that was stopped goes on after `STOPPED_S`, and ends as if nothing had been; of one
that is killed, the next start clears away its folders for temporary files.

`--mutations` also has the tests that search damage files, answers of models and messages as often, which
ends in the same table; what stands in the file with as many is not tried again.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import pairwise
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import psutil
import typer

from spca.journal import Event
from spca.ros import require_ros
from spca_core.errors import SpcaError
from spca_core.model import Record
from spca_core.options import Manifest
from spca_core.run_folder import MANIFEST, RunFolder

_T = TypeVar("_T")
ROOT = Path(__file__).parents[1]
LAUNCHER = ROOT / "bin" / "spca"
WATCHED, PIPE = Path(__file__).with_name("watched.py"), "SPCA_FAULTS_PIPE"
RECORD = struct.Struct("3d")
SHARED = Path("/dev/shm")
STAGES = ("start", "sense", "plan", "code", "act", "report")
CHILDREN = ("spca_planner.solver.worker", "spca_sandbox.worker")
VICTIMS = {"inproc": CHILDREN, "ros": ("spca_sim.node", *CHILDREN)}
PROGRAM, INTERRUPT, BUTTON = "spca", "interrupt", "stop button"
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
HUNG = {
    f"{INTERRUPT}, {name} hangs": module for name, module in zip(("solver", "sandbox"), CHILDREN, strict=True)
}
"""What is pressed when which process, below the program, has been stopped."""
PRESSES = {INTERRUPT: signal.SIGINT, BUTTON: signal.SIGUSR1, **dict.fromkeys(HUNG, signal.SIGINT)}
AT_POINTS = {
    "inproc": (PROGRAM,),
    "ros": (PROGRAM, "spca_sim.node"),
}
MOVING = "moving"
MOVED = {"inproc": (*SIGNALS, *PRESSES), "ros": (*SIGNALS, INTERRUPT)}
ENDED = "ended"  # refused: the run had come to its end, or its simulated table had
SEARCHING = (
    "tests/test_damaged_files.py",
    "src/spca/test/test_model_faults.py::test_no_answer_of_a_model_breaks_a_run",
    "src/spca_tabletop/test/test_ros_strangers.py::test_no_message_ends_a_node",
)
"""Tests that say in a property how often they have damaged something."""
LIMIT_S = 120.0  # wall seconds after which a run counts as one that waits for ever
ARM_S = 0.2, 1.0  # simulated and wall seconds in which an arm is to stand
END_S = 5.0  # wall seconds in which a quiet machine is to see everything ended
STOPPED_S = 2.0  # wall seconds until a stopped program goes on
MOVES, STANDS = 0.3, 0.01  # rad/s of the fastest joint, above and below which the arm does


class Case(Record):
    """One fault."""

    transport: str
    process: str
    signal: str
    stage: str
    """Or the share of the wall time of a run that is left alone; after `MOVING`, of its arm's motions."""


class End(Record):
    """How the run with that fault has ended."""

    case: Case
    status: int | None
    """None: not at all."""
    seconds: float
    """Of wall time from the fault (from the start where it came too late) to the end of the last process."""
    struck: bool
    arm: tuple[float, float] | None = None
    """Simulated and wall seconds from the fault until the arm stood; None where it did not move then."""
    left: tuple[str, ...] = ()
    resumed: str = ""
    """The exit status of `spca resume`, where there was a run to resume, or `ENDED`."""
    false: bool
    """Whether it was a success that the referee has not seen."""
    wrong: bool
    words: str
    load: float = 0.0
    """Of the machine over the last minute."""


class Alone(NamedTuple):
    """A run that was left alone."""

    lines: list[float]
    """Wall seconds from its start to each line of its log, and to its end."""
    moving: list[float]
    """Stamps, in simulated seconds, at which the arm moved, where it was watched."""


class Damage(Record):
    """How a reader, or whoever else is told things, has taken damaged ones."""

    target: str
    tried: int
    asked: int
    """The option `--mutations` of the tests."""
    wrong: bool


def main(
    file: Annotated[Path, typer.Argument(help="Keeps the ends, one line each")],
    transport: Annotated[list[str] | None, typer.Option(help="ros or inproc; else both")] = None,
    level: str = "touch_02",
    stage: Annotated[list[str] | None, typer.Option(help="Only these stages")] = None,
    victim: Annotated[list[str] | None, typer.Option(help="Only these modules")] = None,
    points: Annotated[
        int, typer.Option(help="Kills, stops and Ctrl-C at so many points in time instead")
    ] = 0,
    moving: Annotated[bool, typer.Option(help="Points in which the arm moves")] = False,
    mutations: Annotated[int, typer.Option(help="Damaged versions of each file, too")] = 0,
    again: Annotated[bool, typer.Option(help="Run what stands in the file, too")] = False,
    table: Annotated[bool, typer.Option(help="Run nothing")] = False,
) -> None:
    """Run the campaign and print its table; the exit status is the number of wrong ends in it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    if "ros" in (transport or VICTIMS) and not table:
        require_ros()
    cases = [
        Case(transport=wire, process=process, signal=sign, stage=at)
        for wire, process, sign, at in (
            _in_motion(points, transport or VICTIMS)
            if moving
            else _at_points(points, transport or VICTIMS)
            if points
            else (
                (w, v, s, at)
                for w in transport or VICTIMS
                for v in victim or VICTIMS[w]
                for s in SIGNALS
                for at in stage or STAGES
            )
        )
    ]
    ends, damages = _read(file)
    if mutations and not table and (again or mutations not in {d.asked for d in damages.values()}):
        found = damage(mutations)
        damages |= {each.target: each for each in found}
        _keep(file, *found)
    quiet: dict[str, Alone] = {}
    for case in [] if table else cases:
        if again or case not in ends:
            if points and case.transport not in quiet:
                quiet[case.transport] = alone(level, case.transport, moving)
            ends[case] = end = one(level, case, quiet.get(case.transport, Alone([], [])))
            _keep(file, end)
            print(end, file=sys.stderr, flush=True)
    if ends:
        print("\n".join(lines(list(ends.values()))))
    if damages:
        print("\n".join(damage_lines(list(damages.values()))))
    raise typer.Exit(min(sum(one.wrong for one in (*ends.values(), *damages.values())), 100))


def _at_points(count: int, transports: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield what is struck, spread evenly however early the campaign is interrupted."""
    for k in range(count):
        at = f"{k * 0.618034 % 1:.3f}"
        for wire in transports:
            yield from ((wire, process, sign, at) for process in AT_POINTS[wire] for sign in SIGNALS)
            yield wire, PROGRAM, INTERRUPT, at


def _in_motion(count: int, transports: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    for k in range(count):
        for wire in transports:
            yield from ((wire, PROGRAM, sign, f"{MOVING} {k * 0.618034 % 1:.3f}") for sign in MOVED[wire])


def damage(mutations: int) -> list[Damage]:
    """Have the tests that search damage as much, and say what each of them found."""
    with tempfile.TemporaryDirectory(prefix="spca_faults_") as scratch:
        told = Path(scratch) / "told.xml"
        options = ["-q", "-p", "no:cacheprovider", "-m", "slow or not slow", f"--mutations={mutations}"]
        command = [sys.executable, "-m", "pytest", *options, f"--junitxml={told}", *SEARCHING]
        subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=False)
        cases = [*ET.parse(told).iter("testcase")]
    tried = [(case, case.find("properties/property[@name='tried']")) for case in cases]
    return [
        Damage(
            target=str(case.get("name")).removeprefix("test_").replace("_", " "),
            tried=int(count.get("value", 0)) if count is not None else 0,
            asked=mutations,
            wrong=any(case.find(bad) is not None for bad in ("failure", "error")),
        )
        for case, count in tried
        if count is not None or case.find("failure") is not None or case.find("error") is not None
    ]


def damage_lines(damages: list[Damage]) -> Iterator[str]:
    """Yield the table of what was damaged, as Markdown."""
    yield "| damaged | versions | |"
    yield "|---|---|---|"
    for each in damages:
        yield f"| {each.target} | {each.tried} | {'wrong' if each.wrong else 'taken or refused'} |"
    wrong = sum(d.wrong for d in damages)
    yield f"\n{sum(d.tried for d in damages)} damaged versions: {wrong} targets are wrong"


def _keep(file: Path, *found: Record) -> None:
    with file.open("a") as out:
        out.writelines(one.model_dump_json() + "\n" for one in found)


def lines(ends: list[End]) -> Iterator[str]:
    """Yield the tables of a campaign, as Markdown; a cell has a killed process first, then a stopped one."""
    for wire, processes in VICTIMS.items():
        found = {(e.case.process, e.case.signal, e.case.stage): e for e in ends if e.case.transport == wire}
        if rows := [at for at in STAGES if any(k[2] == at for k in found)]:
            names = (p.removesuffix(".worker").removesuffix(".node").split(".")[-1] for p in processes)
            yield f"| {wire} | " + " | ".join(names) + " |"
            yield "|---" * (len(processes) + 1) + "|"
            for at in rows:
                cells = (" / ".join(_cell(found.get((p, sign, at))) for sign in SIGNALS) for p in processes)
                yield f"| {at} | " + " | ".join(cells) + " |"
            yield ""
        if points := sorted({_fault(k) for k in found if k[2] not in STAGES}, reverse=True):
            yield f"| {wire}, at points | struck | status | resume | slowest end, s | arm moved, s |"
            yield "|---" * 6 + "|"
            yield from (
                _row(key, [e for k, e in found.items() if k[2] not in STAGES and _fault(k) == key])
                for key in points
            )
            yield ""
    left, false, wrong = (
        sum(map(bool, of)) for of in zip(*((e.left, e.false, e.wrong) for e in ends), strict=True)
    )
    busy = sum(end.load >= 20 for end in ends)
    yield (
        f"{sum(end.struck for end in ends)} faults in {len(ends)} runs ({busy} at a load of 20 or more): "
        f"{left} left something over, "
        f"{false} were false successes, {wrong} are wrong"
    )


def _fault(key: tuple[str, str, str]) -> tuple[str, str]:
    process, sign, at = key
    return process, f"{sign}, the arm {MOVING}" if at.startswith(MOVING) else sign


def _row(key: tuple[str, str], ends: list[End]) -> str:
    """The ends of one fault at many points; what had ended before it is none."""
    struck = [end for end in ends if end.struck]
    said = [
        ", ".join(f"{word} at {n}" for word, n in Counter(words).most_common())
        for words in ((str(e.status) for e in struck), (e.resumed for e in struck if e.resumed))
    ]
    busy = [e for e in struck if e.seconds > END_S]
    slow = f"{max((e.seconds for e in struck), default=0.0):.1f}"
    if busy:
        slow += f" ({len(busy)} over {END_S:.0f}, at loads from {min(e.load for e in busy):.0f} on)"
    moved = [e.arm[0] for e in struck if e.arm]
    arm = f"at most {max(moved):.2f} at {len(moved)}" if moved else "–"
    name = key[0].removesuffix(".node").split(".")[-1]
    return f"| {name}: {key[1]} | {len(struck)} | {said[0]} | {said[1]} | {slow} | {arm} |"


def _cell(end: End | None) -> str:
    """Exit status, seconds to the end; simulated and wall seconds until the arm stood, where it moved."""
    if end is None:
        return "–"
    arm = f" ({end.arm[0]:.2f}, {end.arm[1]:.1f})" if end.arm else ""
    return f"{end.status} {end.seconds:.1f}{arm}{' wrong' if end.wrong else ''}"


def _read(file: Path) -> tuple[dict[Case, End], dict[str, Damage]]:
    """The ends and the damage of a campaign; of what was run again, the last one."""
    lines_ = file.read_text().splitlines() if file.exists() else []
    ends = [End.model_validate_json(line) for line in lines_ if '"case":' in line]
    damages = [Damage.model_validate_json(line) for line in lines_ if '"target":' in line]
    return {end.case: end for end in ends}, {each.target: each for each in damages}


def one(level: str, case: Case, quiet: Alone) -> End:
    """Run a level with one fault."""
    with (
        tempfile.TemporaryDirectory(prefix="spca_faults_") as scratch,
        _watched(case.transport, case.stage.startswith(MOVING)) as (domain, arm),
    ):
        folder, own = Path(scratch) / "run", [Path(scratch) / name for name in ("runtime", "tmp")]
        for each in own:
            each.mkdir(mode=0o700)
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(own[0]), "TMPDIR": str(own[1])}
        before = {*SHARED.iterdir()}
        run = _run(level, case.transport, folder, {**environment, **domain})
        family, shared = {run}, set[Path]()
        try:
            began = time.monotonic()
            at = _strike(run, folder, case, family, shared, arm, quiet)
            hit, struck_at = at is not None, began if at is None else at
            stood = None
            if hit and case.process == PROGRAM and case.signal == "stop":
                time.sleep(STOPPED_S)
                stood, struck_at = _stood(arm, struck_at), time.monotonic()
                run.send_signal(signal.SIGCONT)
            status = _status(run)
            family |= {p for p in psutil.process_iter() if str(own[1]) in _known(p.environ, {}).values()}
            left = _alive(family)
            ended_at = time.monotonic()
            last = (folder.with_suffix(".log").read_text(errors="replace").strip().splitlines() or [""])[-1]
            if hit and case.signal != "stop" and (status != 0 or case.signal in PRESSES):
                stood = _stood(arm, struck_at)
            killed = status == -signal.SIGKILL
            left += [str(path) for path in shared - before if path.exists()]
            kept = [path for each in own for path in each.iterdir()]
            left += [path.name for path in kept if not (killed and path.name.startswith("spca-"))]
            resumed = ""
            if status in (1, 130, -signal.SIGKILL) and (folder / "run.json").exists():
                left += [] if _readable(folder) else ["a folder that cannot be read"]
                resumed = _spca(environment, "resume", folder)
        finally:
            for process in family:
                _end(process)
        false = status == 0 and _outcome(folder) != "success"
    allowed = {
        **dict.fromkeys(PRESSES, (0, 130, -signal.SIGINT)),
        "kill": (-signal.SIGKILL, 0) if case.process == PROGRAM else (0, 1),
        "stop": (0,) if case.process == PROGRAM else (0, 1),
    }[case.signal]
    bounds = ARM_S[: 1 if case.transport == "inproc" else 2]  # in process, it comes to rest after the end
    late = stood is not None and any(took > most for took, most in zip(stood, bounds, strict=False))
    wrong = status not in allowed or bool(left) or false or late
    wrong = wrong or resumed not in ("", "0", "1", ENDED)
    return End(
        case=case,
        status=status,
        seconds=round(ended_at - struck_at, 1),
        struck=hit,
        arm=stood,
        left=tuple(left),
        resumed=resumed,
        false=false,
        wrong=wrong or (not hit and status != 0),  # the run failed by itself
        words=("" if hit else "not struck: ") + last[:160],
        load=round(os.getloadavg()[0], 1),
    )


def _run(level: str, transport: str, folder: Path, environment: dict[str, str]) -> psutil.Popen:
    pipe = environment.get(PIPE)
    start = [LAUNCHER] if pipe is None else [sys.executable, WATCHED, pipe]
    words = [*start, "run", level, *["--ros"] * (transport == "ros"), "--no-video", "--rate", "2"]
    with folder.with_suffix(".log").open("wb") as out:
        return psutil.Popen(
            [*map(str, words), "--out", str(folder)],
            stdout=out,
            stderr=out,
            start_new_session=True,
            env=environment,
            pass_fds=[] if pipe is None else [int(pipe)],
        )


def alone(level: str, transport: str, moving: bool) -> Alone:
    """Leave a run alone."""
    with (
        tempfile.TemporaryDirectory(prefix="spca_faults_") as scratch,
        _watched(transport, moving) as (domain, arm),
    ):
        folder, began, found = Path(scratch) / "run", time.monotonic(), list[float]()
        run = _run(level, transport, folder, {**os.environ, **domain})
        while run.poll() is None:
            found += [time.monotonic() - began] * (_logged(folder) - len(found))
            time.sleep(0.005)
        assert run.returncode == 0, folder.with_suffix(".log").read_text()
    lines = [*found, time.monotonic() - began]
    return Alone(lines, sorted({stamp for stamp, _, v in arm if v > MOVES}))


def _logged(folder: Path) -> int:
    events = folder / "events.jsonl"
    return events.read_bytes().count(b"\n") if events.exists() else 0


def _readable(folder: Path) -> bool:
    try:
        files = RunFolder.open(folder)
        return bool(files.read(MANIFEST, Manifest)) and all(files.read_log(Event))
    except SpcaError:
        return False


@contextmanager
def _watched(
    transport: str, moving: bool
) -> Iterator[tuple[dict[str, str], list[tuple[float, float, float]]]]:
    """Record the arm of a run: simulated and wall seconds and rad/s of each message.

    With the variables that have the run use the onlooker's domain, or tell its pipe. In process it is only
    watched where it is struck when it is `moving`.
    """
    seen: list[tuple[float, float, float]] = []
    if transport == "inproc":
        with _told(seen) if moving else nullcontext({}) as variables:
            yield variables, seen
        return
    from sensor_msgs.msg import JointState  # loads ROS, as the next ones

    from spca_ros import names
    from spca_ros.convert.records import seconds
    from spca_ros.domain import own_domain
    from spca_ros.node import ros_session
    from spca_ros.qos import SENSOR

    def look(message: JointState) -> None:
        seen.append((seconds(message.header.stamp), time.monotonic(), max(map(abs, message.velocity[:6]))))

    with own_domain() as domain, ros_session("onlooker") as node:
        node.create_subscription(JointState, names.JOINT_STATES, look, SENSOR)
        yield {"SPCA_DOMAIN_ID": str(domain)}, seen


@contextmanager
def _told(seen: list[tuple[float, float, float]]) -> Iterator[dict[str, str]]:
    """Add to `seen` what `watched.py` tells; with the variable that names the pipe."""
    ours, theirs = os.pipe()

    def listen() -> None:
        with os.fdopen(ours, "rb") as told:
            while len(record := told.read(RECORD.size)) == RECORD.size:
                seen.append(RECORD.unpack(record))

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        yield {PIPE: str(theirs)}
    finally:
        os.close(theirs)
        listener.join()


def _stood(seen: list[tuple[float, float, float]], struck_at: float) -> tuple[float, float] | None:
    """Simulated and wall seconds from the fault until the arm stood; None where it did not move.

    It stands at once where no time passes any more.
    """
    before = [(stamp, v) for stamp, at, v in seen if at <= struck_at]
    later = pairwise(seen)  # while time stands still, so does the arm
    moving = [
        (now, at) for (last, _, _), (now, at, v) in later if at > struck_at and now > last and v > STANDS
    ]
    if not before or not (moving or before[-1][1] > MOVES):
        return None
    stamp, at = moving[-1] if moving else (before[-1][0], struck_at)
    return round(stamp - before[-1][0], 2), round(at - struck_at, 2)


def _spca(environment: dict[str, str], *arguments: str | Path) -> str:
    """Another command of spca; its exit status, `ENDED`, or `none` where it does not end."""
    words = [str(LAUNCHER), *map(str, arguments)]
    with tempfile.TemporaryFile() as said:
        with psutil.Popen(
            words, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True, env=environment
        ) as command:
            status = _status(command)
            if status is None:
                _end(command)
        said.seek(0)
        if status == 2 and b" has ended" in said.read():
            return ENDED
    return "none" if status is None else str(status)


def _status(process: psutil.Popen) -> int | None:
    """The exit status, None where it does not end."""
    try:
        return int(process.wait(LIMIT_S))
    except psutil.TimeoutExpired:
        return None


def _alive(family: set[psutil.Process]) -> list[str]:
    """What is still there a moment later: what is killed with its parent needs one."""
    end = time.monotonic() + END_S
    while (alive := [*filter(None, map(_words, family))]) and time.monotonic() < end:  # a zombie has none
        time.sleep(0.02)
    return [" ".join(words[3:4]) for words in alive]


def _strike(
    run: psutil.Process,
    folder: Path,
    case: Case,
    family: set[psutil.Process],
    shared: set[Path],
    arm: list[tuple[float, float, float]],
    quiet: Alone,
) -> float | None:
    """Send the signal to the process of that module below the run's as soon as the stage has begun; say when.

    To act has begun when the arm moves, where it is watched. Whatever is there then is added to `family`, and
    what it has mapped of the memory that processes share to `shared`.
    """
    end = time.monotonic() + LIMIT_S
    lines, wait, since = 0, 0.0, 0.0
    stage, _, share = case.stage.partition(" ")
    if stage == MOVING:
        since = quiet.moving[int(float(share) * len(quiet.moving))]
    elif stage not in STAGES:
        at = float(stage) * quiet.lines[-1]
        lines = sum(line <= at for line in quiet.lines)
        wait = at - (quiet.lines[lines - 1] if lines else 0.0)
    while run.is_running() and run.status() != psutil.STATUS_ZOMBIE and time.monotonic() < end:
        in_motion = stage == MOVING or (case.transport == "ros" and stage == "act")
        begun = _reached(folder, stage) if stage in STAGES else _logged(folder) >= lines
        if begun and not (in_motion and (not arm or arm[-1][0] < since)):
            time.sleep(wait)
            wait = 0.0
            for process in (there := [run, *_descendants(run)]):
                if case.process == PROGRAM or any(case.process in part for part in _words(process)):
                    family |= {*there}
                    shared |= {path for each in there for path in _shared(each)}
                    while in_motion and arm[-1][2] <= MOVES and run.is_running() and time.monotonic() < end:
                        time.sleep(0.001)
                    with suppress(psutil.NoSuchProcess):  # it ends just now
                        for child in there if (hung := HUNG.get(case.signal)) else ():
                            if any(hung in part for part in _words(child)):
                                child.suspend()
                        now = time.monotonic()
                        process.send_signal({**SIGNALS, **PRESSES}[case.signal])
                        return now
        time.sleep(0.005)
    return None


def _known(ask: Callable[[], _T], otherwise: _T) -> _T:
    """What a process says of itself; `otherwise` where it has ended."""
    try:
        return ask()
    except psutil.Error:
        return otherwise


def _shared(process: psutil.Process) -> set[Path]:
    mapped = _known(process.memory_maps, [])
    return {path for each in mapped if (path := Path(each.path)).parent == SHARED}


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
    return list(_known(lambda: run.children(recursive=True), []))


def _words(process: psutil.Process) -> list[str]:
    return list(_known(process.cmdline, []))


def _end(process: psutil.Process) -> None:
    """End a process that is still there, with its children."""
    for one_of_them in [*_descendants(process), process]:
        _known(one_of_them.kill, None)


if __name__ == "__main__":
    typer.run(main)
