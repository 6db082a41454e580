"""What a well-behaved skill or program can do, and how its mistakes are reported."""

import itertools
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from spca_core.skill import SkillFailure
from spca_sandbox.host import SkillHost
from spca_sandbox.limits import PROGRAM_MODULES, Limits
from spca_sandbox.process import RunOutcome
from spca_testing.sandbox import API, World

CASES = yaml.safe_load(Path(__file__).with_name("given.yaml").read_text())


@pytest.fixture(scope="module")
def host() -> Iterator[SkillHost]:
    """One for all: nothing is carried from one run to the next."""
    with SkillHost(API, Limits(worker_s=3.0, load_s=2.0)) as it:
        yield it


@pytest.fixture(scope="module")
def programs() -> Iterator[SkillHost]:
    with SkillHost(limits=Limits(modules=PROGRAM_MODULES, load_s=2.0)) as it:
        yield it


def run(host: SkillHost, source: str, *args: str, world: World | None = None, **more: Any) -> RunOutcome:
    """Load `source` and run its function `skill`."""
    loaded = host.load(source)
    assert isinstance(loaded, dict), loaded
    return host.run("skill", args, world or World(), **more)


def failure(outcome: RunOutcome) -> SkillFailure:
    assert outcome.status == "failed", outcome
    assert outcome.failure is not None
    return outcome.failure


@pytest.mark.parametrize(
    ("source", "line", "part"),
    [
        ("x = 1\n\ny = x / 0\n", 3, "ZeroDivisionError"),
        ("__import__('ctypes')\n", 1, "'ctypes' may not be imported"),
    ],
)
def test_what_cannot_be_imported(host: SkillHost, source: str, line: int, part: str) -> None:
    result = host.load(source)
    assert isinstance(result, SkillFailure)
    assert result.line == line and part in result.message


def test_an_import_that_does_not_end(host: SkillHost) -> None:
    result = host.load("while True: pass")
    assert isinstance(result, SkillFailure) and result.kind == "timeout"
    assert isinstance(host.load("def f(ctx): pass"), dict)


@pytest.mark.parametrize("name", CASES["given"])
def test_what_a_skill_is_given(host: SkillHost, name: str) -> None:
    given, world = CASES["given"][name], World()
    assert run(host, given["source"], world=world).value == given["value"]
    assert [[method, [*args], kwargs] for method, args, kwargs in world.calls] == given["calls"]


@pytest.mark.parametrize(("call", "part"), CASES["wrong calls"].items())
def test_wrong_calls_are_told_plainly(host: SkillHost, call: str, part: str) -> None:
    told = failure(run(host, f"def skill(ctx):\n    {call}\n"))
    assert part in told.message and told.line == 2


def test_wall_time_bounds_a_call_that_hangs_in_the_world(host: SkillHost) -> None:
    class Stuck(World):
        def __init__(self) -> None:
            super().__init__()
            self.freed = threading.Event()

        def call(self, method: str, args: Any, kwargs: Any) -> Any:
            assert self.freed.wait(20), "nobody stopped it"
            return super().call(method, args, kwargs)

        def stop(self) -> None:
            super().stop()
            self.freed.set()

    outcome = run(host, "def skill(ctx): ctx.wait(1)", world=Stuck(), wall_timeout_s=0.3)
    assert failure(outcome).kind == "timeout"


def test_cancelling_while_the_skill_computes(host: SkillHost) -> None:
    world, polls = World(), itertools.count()
    source = "def skill(ctx):\n    while True: pass"
    assert run(host, source, world=world, cancelled=lambda: next(polls) > 3).status == "cancelled"
    assert world.stops


def test_a_skill_leaves_nothing_behind(host: SkillHost) -> None:
    """Whatever it can change in its process, the next skill begins in another one."""
    source = (
        "import math\ndef skill(ctx):\n    math.sqrt = len\n    CtxError.count = pose.count = 1\n"
        "    CtxError.__init__.__defaults__ = ('x',)\n"
        "def told(ctx):\n    defaults = CtxError.__init__.__defaults__\n"
        "    return [math.sqrt(4.0), hasattr(CtxError, 'count'), hasattr(pose, 'count'), defaults == ('',)]\n"
    )
    assert run(host, source).status == "done"
    assert host.run("told", (), World()).value == [2.0, False, False, True]


def test_a_call_finds_the_modules_as_they_were(programs: SkillHost) -> None:
    """Many calls share a worker: a planner would else remember one case in the next."""
    names = ", ".join(PROGRAM_MODULES)
    source = f"import {names}\ndef count():\n    modules = [{names}]\n"
    source += "    for each in modules: each.seen = getattr(each, 'seen', 0) + 1\n"
    programs.load(source + "    return [each.seen for each in modules]\n")
    outcomes = programs.call_many("count", [[], [], []])
    assert [outcome.value for outcome in outcomes] == [[1] * len(PROGRAM_MODULES)] * 3


def test_a_skill_that_goes_on_after_its_end_does_not_hurt_the_next(host: SkillHost) -> None:
    source = (
        "def skill(ctx):\n"
        "    class Late:\n"
        "        def __del__(self):\n"
        "            while True: pass\n"
        "    CtxError.late = Late()\n"
        "    wire = ctx.locate.__closure__[1].cell_contents._wire\n"
        "    wire.send({'op': 'done', 'value': 1})\n"
        "    while True: pass\n"
        "def following(ctx):\n    return 2\n"
    )
    assert run(host, source).value == 1
    assert host.run("following", (), World()).value == 2


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_somebody_kills_or_stops_in_its_start_is_replaced_at_once(
    fault: signal.Signals,
) -> None:
    """Nobody waits until its start has taken too long, which here would be hours."""
    with SkillHost(API, Limits(start_s=10_000)) as host:
        first = host.worker.pid
        os.kill(first, fault)
        assert run(host, "def skill(ctx): return 1\n").value == 1
        assert host.worker.pid != first


def test_programs_take_and_give_json_and_a_batch_can_be_cancelled(programs: SkillHost) -> None:
    """Arguments that are too long fail alone."""
    programs.load("import heapq\ndef solve(grid, options):\n    return [sum(grid[0]), options['k'], (1, 2)]")
    assert programs.call("solve", [[[1, 2, 3]], {"k": None}]).value == [6, None, [1, 2]]
    programs.load("def f(x): return len(x)")
    outcomes = list(programs.call_many("f", [["a"], ["x" * (2 << 20)], ["abc"]]))
    assert [o.value for o in outcomes] == [1, None, 3]
    assert failure(outcomes[1]).kind == "refused"
    programs.load("def f():\n    while True: pass")
    outcomes = programs.call_many("f", [[], []], cancelled=lambda: True)
    assert [o.status for o in outcomes] == ["cancelled", "cancelled"]


def test_randomness_is_the_same_in_every_call(programs: SkillHost) -> None:
    source = "import random\ndef roll(): return [random.random(), list({'a', 'b', 'c', 'd', 'e'})]"
    programs.load(source)
    first, second = programs.call_many("roll", [[], []])
    with SkillHost(limits=Limits(modules=PROGRAM_MODULES)) as other:
        other.load(source)
        assert other.call("roll", []).value == first.value == second.value


def test_each_call_of_a_batch_ends_for_itself(programs: SkillHost) -> None:
    programs.load(
        "def f(n):\n"
        "    if n == 3: raise ValueError('three')\n"
        "    while n == 70: pass\n"
        "    print('n', n)\n"
        "    return n * n\n"
    )
    outcomes = list(programs.call_many("f", [[n] for n in range(150)], wall_timeout_s=1.0))
    assert len(outcomes) == 150
    wrong = {n: o for n, o in enumerate(outcomes) if o.status != "done"}
    assert {n: o.failure.kind for n, o in wrong.items() if o.failure} == {3: "error", 70: "timeout"}
    assert all(o.value == n * n and o.log == (f"n {n}",) for n, o in enumerate(outcomes) if n not in wrong)


def test_an_endless_loop_ends_by_the_time_that_it_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the last resort of wall time, nor by the limit of its process."""
    monkeypatch.setattr("spca_sandbox.host.PATIENCE", 1000.0)
    with SkillHost(API, Limits(worker_s=0.5, cpu_s=5)) as host:
        ended = failure(run(host, "def skill(ctx):\n    while True: pass"))
    assert (ended.kind, "endless loop" in ended.message) == ("timeout", True)


def test_a_worker_is_replaced_before_its_cpu_time_is_used_up() -> None:
    source = "def f():\n    n = 0\n    for i in range(8_000_000): n += i\n    return n\n"
    with SkillHost(limits=Limits(cpu_s=2)) as host:
        host.load(source)
        outcomes = [host.call("f", [], wall_timeout_s=20) for _ in range(12)]
    assert {o.status for o in outcomes} == {"done"}
