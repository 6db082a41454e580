"""Executing plans in the real sandbox, against a small world of its own."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from spca_core.errors import InputError
from spca_core.plan import ActResult
from spca_core.scene import Fact, Observation
from spca_core.skill import StepReport
from spca_sandbox.executor import PlanExecutor
from spca_sandbox.limits import Limits
from spca_testing.observations import plan_of
from spca_testing.sandbox import API
from spca_testing.sandbox import World as Answering

LIBRARY = '''
def ahead(ctx, seconds):
    """Drive ahead."""
    ctx.wait(float(seconds))

def to_and_fro(ctx):
    while True:
        ctx.wait(1)

def blocked(ctx):
    ctx.move_to(pose(0, 0, 0))

def nothing(ctx):
    return {"success": False, "reason": "not today"}

def no(ctx):
    return False
'''
NOTICED = Observation(stamp=0, objects={}, facts=(Fact(predicate="at", args=("a",)),), sentences=())


class World(Answering):
    """It notices something, and something may happen when it is called."""

    def __init__(self, happening: Callable[[Answering], None] = lambda world: None) -> None:
        super().__init__()
        self.happening = happening

    def call(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        self.happening(self)
        return super().call(method, args, kwargs)

    def notice(self, since: float) -> Observation:
        return NOTICED


@pytest.fixture
def executor() -> Iterator[PlanExecutor]:
    with PlanExecutor(API, Limits(worker_s=1.5), step_deadline_s=20.0, step_wall_s=30.0) as it:
        yield it


def run(
    executor: PlanExecutor, *steps: str, world: Answering | None = None, library: str = LIBRARY, **more: Any
) -> ActResult:
    return executor.execute("a1", plan_of(*steps), library, world or World(), **more)


def test_runs_the_steps_in_order_and_reports_each(executor: PlanExecutor) -> None:
    seen: list[StepReport] = []
    result = run(executor, "ahead 2", "ahead 3", world=(world := World()), on_step=seen.append)
    assert (result.status, result.attempt, tuple(seen)) == ("done", "a1", result.steps)
    assert [(r.started, r.ended) for r in result.steps] == [(0.0, 2.0), (2.0, 5.0)]
    assert not world.stops


@pytest.mark.parametrize(
    ("steps", "kind", "message"),
    [
        (("ahead 2", "blocked", "ahead 1"), "collision", "step 2, blocked(): the table is in the way"),
        (("nothing",), "result", "not today"),
        (("no",), "result", "the skill returned False"),
        (("to_and_fro",), "timeout", "20"),
    ],
)
def test_a_step_that_fails_is_the_last_and_says_why(
    executor: PlanExecutor, steps: tuple[str, ...], kind: str, message: str
) -> None:
    """Of a motion error that is not caught, of a result, of a deadline, which is in the world's time."""
    result = run(executor, *steps, world=(world := World()))
    *before, last = result.steps
    assert (result.status, last.status, last.failure.kind) == ("failed", "failed", kind)
    assert all(step.status == "done" for step in before) and message in result.message
    assert world.stops and world.clock <= 21
    if kind == "collision":
        assert LIBRARY.splitlines()[(last.failure.line or 0) - 1].strip() == "ctx.move_to(pose(0, 0, 0))"
        assert [method for method, *_ in world.calls] == ["wait", "move_to"]
        seen = before[0].seen, last.seen
        assert seen == (NOTICED, None), "of a step that failed nothing is taken for certain"


def test_a_step_that_finds_no_place_at_its_own_thing_says_so(executor: PlanExecutor) -> None:
    class Full(World):
        def lacking(self) -> tuple[str, ...]:
            return ("spots_on", "plate")

    library = 'def put(ctx, thing, where):\n    raise RuntimeError("no room")\n'
    for where, kind, told in (("plate", "no_place", "spots_on(plate): none; "), ("mat", "error", "")):
        failure = run(executor, f"put cube {where}", library=library, world=Full()).steps[0].failure
        assert failure is not None and failure.kind == kind and failure.line == 2
        assert failure.message.startswith(f"{told}RuntimeError: no room")


def test_cancelling_between_and_within_steps(executor: PlanExecutor) -> None:
    reports: list[StepReport] = []
    more = {"on_step": reports.append, "cancelled": lambda: bool(reports)}
    result = run(executor, "ahead 1", "ahead 1", world=(world := World()), **more)
    assert [r.status for r in result.steps] == ["done", result.status] == ["done", "cancelled"]
    assert (world.clock, world.stops) == (1.0, 1)
    assert run(executor, "ahead 1", world=(world := World(Answering.stop))).status == "cancelled"
    assert world.clock == 0


def test_a_bad_library_fails_the_first_step(executor: PlanExecutor) -> None:
    result = run(executor, "ahead 1", library="def other(ctx): pass", world=(world := World()))
    assert result.status == "failed" and world.stops
    assert "there is no function 'ahead'; known: other" in result.message


def test_a_weak_sandbox_runs_the_builtin_skills_only(
    kernel_offers: Callable[[dict[str, str]], None],
) -> None:
    kernel_offers({})
    with PlanExecutor(API, builtin=LIBRARY) as executor:
        assert run(executor, "ahead 1").status == "done"
        with pytest.raises(InputError, match="generated code is not run: sandbox level process"):
            run(executor, "ahead 1", library=LIBRARY + "# changed")


def test_what_the_world_itself_raises_is_passed_on(executor: PlanExecutor) -> None:
    def break_(world: Answering) -> None:
        raise OSError("a fault of the world")

    with pytest.raises(OSError, match="a fault of the world"):
        run(executor, "ahead 1", world=(world := World(break_)))
    assert world.stops and run(executor, "ahead 1").status == "done"


def test_when_there_is_enough_the_step_under_way_runs_to_its_end(executor: PlanExecutor) -> None:
    """The referee's success does not cut a skill off: it is recorded as done, and no other step begins."""
    world = World()
    result = run(executor, "ahead 1", "ahead 2", world=world, enough=lambda: world.clock > 0)
    assert [(s.action, s.status, s.failure) for s in result.steps] == [("ahead", "done", None)]
    assert result.status == "done" and not world.stops
