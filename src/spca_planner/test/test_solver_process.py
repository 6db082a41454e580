"""The solver process judges drafts and leaves nothing behind after a deadline or a cancellation."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from spca_core.errors import Cancelled
from spca_core.processes import service
from spca_planner.solver.judgement import Case
from spca_planner.solver.process import SolverProcess
from spca_testing.contracts.engine_contract import DOMAIN as SWITCH
from spca_testing.contracts.engine_contract import pigeons, switches
from spca_testing.processes import outliving, python

PIGEONS, WIDE, COSTS = (
    Path(__file__).with_name(f"{name}.pddl").read_text() for name in ("pigeons", "wide", "costs")
)


def wide() -> str:
    names = [f"o{i}" for i in range(12)]
    init = " ".join(f"(r {a} {b})" for a in names for b in names)
    goal = f"(and (done) {' '.join(f'(r {name} {name})' for name in names)})"  # so that all of them matter
    return f"(define (problem p) (:domain wide) (:objects {' '.join(names)}) (:init {init}) (:goal {goal}))"


@pytest.fixture(scope="module")
def solver() -> Iterator[SolverProcess]:
    with SolverProcess() as process:
        yield process


def children(pid: int) -> list[int]:
    return outliving((p.pid for p in psutil.Process(pid).children(recursive=True)), 0)


def once_searching(solver: SolverProcess, act: Callable[[list[int]], object]) -> Callable[[], bool]:
    """What a judge may ask while it waits: the first time that a search is there, `act` gets all pids."""
    assert solver.judge(Case(domain=SWITCH, problem=switches("(lit a)"), timeout_s=60)).steps  # it is warm
    seen: list[int] = []

    def look() -> bool:
        if not seen and (found := children(solver.pid or 0)):
            seen.extend([solver.pid or 0, *found])
            act(seen)
        return False

    return look


def test_the_cheapest_plan_is_found(solver: SolverProcess) -> None:
    problem = """(define (problem p) (:domain detour) (:init (at0) (= (total-cost) 0)) (:goal (there))
      (:metric minimize (total-cost)))"""
    answer = solver.judge(Case(domain=COSTS, problem=problem, timeout_s=20))
    assert answer.steps == (("walk",), ("arrive",))
    assert answer.parse_seconds > 0 and answer.validate_seconds > 0


@pytest.mark.parametrize(
    ("domain", "problem"), [(PIGEONS, pigeons(13)), (WIDE, wide())], ids=["search", "translator"]
)
def test_a_timeout_leaves_no_child(solver: SolverProcess, domain: str, problem: str) -> None:
    solver.start()
    worker = solver.pid
    answer = solver.judge(Case(domain=domain, problem=problem, timeout_s=0.7))
    assert answer.critic == "solve" and answer.timed_out
    assert "within 0.7 s" in answer.message
    assert solver.pid == worker is not None and children(worker) == []
    assert ("combinations" in answer.message) == (domain == WIDE), "only what could not be grounded is blamed"
    assert solver.judge(Case(domain=SWITCH, problem=switches("(lit a)"), timeout_s=20)).critic == ""


def test_cancelling_kills_search_and_process() -> None:
    with SolverProcess() as solver:
        seen: list[int] = []
        look = once_searching(solver, seen.extend)
        with pytest.raises(Cancelled):
            solver.judge(
                Case(domain=PIGEONS, problem=pigeons(13), timeout_s=100),
                cancelled=lambda: look() or bool(seen),
            )
        assert len(seen) >= 2 and not outliving(seen)  # the process and the search


@pytest.mark.slow
def test_the_search_dies_with_a_stopped_process_which_is_replaced() -> None:
    with SolverProcess() as solver:
        seen: list[int] = []

        def strike(pids: list[int]) -> None:
            seen.extend(pids)
            os.kill(pids[0], signal.SIGSTOP)

        look = once_searching(solver, strike)
        answer = solver.judge(Case(domain=PIGEONS, problem=pigeons(13), timeout_s=3), cancelled=look)
        assert answer.timed_out  # of the second try
        assert not outliving(seen)
        assert solver.pid not in seen


OWNER = """
import sys, psutil
from spca_planner.solver.judgement import Case
from spca_planner.solver.process import SolverProcess
solver, told = SolverProcess(), []
def tell():
    found = [] if told else psutil.Process(solver.pid).children(recursive=True)
    if found:
        told.append(1)
        print(solver.pid, *(child.pid for child in found), flush=True)
    return False
solver.judge(Case(domain=sys.argv[1], problem=sys.argv[2], timeout_s=100), cancelled=tell)
"""


def test_nothing_outlives_a_killed_owner() -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, PIGEONS, pigeons(13)], stdout=subprocess.PIPE, text=True
    )
    pids = [int(word) for word in owner.stdout.readline().split()]
    owner.kill()
    owner.wait()
    assert len(pids) >= 2 and not outliving(pids)


WHILE_FORKING = """
import os, signal, sys
from spca_planner.solver.child import BoundedChild
class Rung(BaseException): pass
def ring(*_): raise Rung
signal.signal(signal.SIGIO, ring)
os.register_at_fork(before=lambda: os.kill(os.getpid(), signal.SIGIO))
try:
    BoundedChild(signal.pause, 100)
except Rung:
    os.waitpid(-1, os.WNOHANG)  # an error where the child was ended
"""


def test_no_signal_is_lost_that_comes_while_a_search_starts() -> None:
    """As that of an owner who has gone: what the handler raised there was ignored."""
    ended = python("-c", WHILE_FORKING, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    assert "ChildProcessError" in ended.stderr and "ignored" not in ended.stderr


WITHIN = """
import resource, sys
from spca_planner.solver.judgement import Case
from spca_planner.solver.process import SolverProcess
for kind, most in (resource.RLIMIT_AS, 2**31 - 2**20), (resource.RLIMIT_CPU, 40):
    resource.setrlimit(kind, (most, most))
with SolverProcess() as solver:
    answer = solver.judge(Case(domain=sys.argv[1], problem=sys.argv[2], timeout_s=60))
    print(len(answer.steps), answer.message)
"""


def test_the_limits_of_the_user_are_kept() -> None:
    """`ulimit -v` and `-t` below its own. Only the superuser may ask for more, who is none in a namespace."""
    alone = ["unshare", "--user"] if os.getuid() == 0 else []
    if alone and (tried := subprocess.run([*alone, "true"], capture_output=True, check=False)).returncode:
        pytest.skip(f"user namespaces are not allowed here: {tried.stderr.decode().strip()}")
    command = [*alone, sys.executable, "-c", WITHIN, SWITCH, switches("(and (lit a) (lit b))")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "2"


BUSY = """
import sys
from spca_planner.solver.worker import OwnerGone, while_owned
try:
    with while_owned():
        print("busy", flush=True)
        while True:
            sum(range(1000))
except OwnerGone:
    sys.exit(7)
"""


def test_a_case_that_looks_at_no_pipe_ends_with_its_owner() -> None:
    """As reading and validating do, which are Python of other people."""
    command = [sys.executable, "-c", BUSY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdin is not None and worker.stdout is not None
        assert worker.stdout.readline() == b"busy\n"
        worker.stdin.close()
        assert worker.wait(60) == 7


STARTING = """
import os, time
from spca_planner.solver import worker
def import_for_long():
    os.write(2, b"busy")
    time.sleep(120)
worker.import_unified_planning = import_for_long
worker.main()
"""


def test_a_process_that_still_starts_ends_with_its_owner(tmp_path: Path) -> None:
    """As it does for some seconds on a busy machine."""
    log = tmp_path / "log"
    setup = {"folder": str(tmp_path / "scratch")}
    worker = service.Worker([sys.executable, "-c", STARTING], setup, env=os.environ, log=log)
    while log.read_text() != "busy":
        assert worker.alive
        time.sleep(0.01)
    worker.stdin.close()
    assert worker.wait(60) == 0
    worker.end()
