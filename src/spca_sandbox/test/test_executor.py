"""Executing plans in the real sandbox, against a small world of its own."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from spca_core.errors import Cancelled, InputError, MotionError
from spca_core.plan import ActionSchema, ActResult, Draft, Plan, Step
from spca_core.ports.environment import CtxServer
from spca_core.scene import Fact, Observation
from spca_core.skill import CtxApi, CtxMethod, StepReport
from spca_sandbox.executor import PlanExecutor
from spca_sandbox.limits import Limits

API = CtxApi(
    environment="line",
    methods=(
        CtxMethod(name="go", signature="go(metres: float) -> float", doc="Drive; a metre takes a second."),
        CtxMethod(name="where", signature="where() -> Place", doc="Where it is: .x"),
    ),
)


class Line(CtxServer):
    """A vehicle on a line of 10 metres."""

    api = API

    def __init__(self) -> None:
        self.x = 0.0
        self.clock = 0.0
        self.stopped = False
        self.events: list[str] = []
        self.on_go: Callable[[], None] = lambda: None

    def call(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        if self.stopped:
            raise Cancelled("stopped")
        if method == "where":
            return {"x": self.x}
        self.on_go()
        metres = kwargs.get("metres", args[0] if args else 0.0)
        if self.stopped:
            raise MotionError("cancelled", "stopped on the way")
        if self.x + metres > 10:
            raise MotionError("limit", "the line ends at 10 m", "buffer")
        self.x += metres
        self.clock += abs(metres)
        self.events.append(f"go {metres}")
        return self.x

    def now(self) -> float:
        return self.clock

    def notice(self, since: float) -> Observation:
        place = Fact(predicate="at", args=(f"metre_{self.x:.0f}",))
        return Observation(stamp=self.clock, objects={}, facts=(place,), sentences=())

    def stop(self) -> None:
        self.stopped = True
        self.events.append("stop")


LIBRARY = '''
def ahead(ctx, metres):
    """Drive ahead."""
    ctx.go(float(metres))
    return ctx.where().x > 0

def to_and_fro(ctx):
    while True:
        ctx.go(1)
        ctx.go(-1)

def nothing(ctx):
    return {"success": False, "reason": "not today"}

def no(ctx):
    return False

def careful(ctx):
    try:
        ctx.go(99)
    except MotionError as error:
        print("did not:", error.kind, error.hit)
'''


def plan(*steps: tuple[str, ...]) -> Plan:
    return Plan(
        steps=tuple(Step(action=s[0], args=s[1:]) for s in steps),
        schemas=tuple(ActionSchema(name=s[0], parameters=(), pddl="") for s in steps),
        draft=Draft(domain="", problem=""),
    )


@pytest.fixture
def executor() -> Iterator[PlanExecutor]:
    with PlanExecutor(API, Limits(worker_s=1.5), step_deadline_s=20.0, step_wall_s=30.0) as it:
        yield it


def run(executor: PlanExecutor, *steps: tuple[str, ...], **more: Any) -> tuple[ActResult, Line]:
    line = more.pop("line", None) or Line()
    result = executor.execute("a1", plan(*steps), more.pop("library", LIBRARY), line, **more)
    return result, line


def test_runs_the_steps_in_order_and_reports_each(executor: PlanExecutor) -> None:
    seen: list[StepReport] = []
    result, line = run(executor, ("ahead", "2"), ("ahead", "3"), on_step=seen.append)
    assert result.status == "done"
    assert result.attempt == "a1"
    assert line.x == 5.0
    assert [(r.started, r.ended) for r in result.steps] == [(0.0, 2.0), (2.0, 5.0)]
    assert tuple(seen) == result.steps
    assert "stop" not in line.events


@pytest.mark.parametrize(
    ("steps", "kind", "message"),
    [
        (("ahead 2", "ahead 9", "ahead 1"), "limit", "step 2, ahead(9): the line ends at 10 m"),
        (("nothing",), "result", "not today"),
        (("no",), "result", "the skill returned False"),
        (("to_and_fro",), "timeout", "20"),
    ],
)
def test_a_step_that_fails_is_the_last_and_says_why(
    executor: PlanExecutor, steps: tuple[str, ...], kind: str, message: str
) -> None:
    """Of a motion error that is not caught, of a result, of a deadline, which is in the world's time."""
    result, line = run(executor, *(tuple(step.split()) for step in steps))
    *before, last = result.steps
    assert (result.status, last.status, last.failure.kind) == ("failed", "failed", kind)
    assert all(step.status == "done" for step in before) and message in result.message
    assert line.stopped and line.clock <= 21
    if kind == "limit":
        assert LIBRARY.splitlines()[(last.failure.line or 0) - 1].strip() == "ctx.go(float(metres))"
        assert line.events == ["go 2.0", "stop"]


def test_a_step_that_finds_no_place_at_its_own_thing_says_so(executor: PlanExecutor) -> None:
    class Full(Line):
        def lacking(self) -> tuple[str, ...]:
            return ("spots_on", "plate")

    library = 'def put(ctx, thing, where):\n    raise RuntimeError("no room")\n'
    for where, kind, told in (("plate", "no_place", "spots_on(plate): none; "), ("mat", "error", "")):
        failure = run(executor, ("put", "cube", where), library=library, line=Full())[0].steps[0].failure
        assert failure is not None and failure.kind == kind and failure.line == 2
        assert failure.message.startswith(f"{told}RuntimeError: no room")


def test_a_caught_motion_error_does_not(executor: PlanExecutor) -> None:
    result, _ = run(executor, ("careful",))
    assert result.status == "done"
    assert result.steps[0].log == ("did not: limit buffer",)


def test_cancelling_between_steps(executor: PlanExecutor) -> None:
    reports: list[StepReport] = []
    result, line = run(
        executor, ("ahead", "1"), ("ahead", "1"), on_step=reports.append, cancelled=lambda: bool(reports)
    )
    assert result.status == "cancelled"
    assert [r.status for r in result.steps] == ["done", "cancelled"]
    assert line.events == ["go 1.0", "stop"]


def test_cancelling_within_a_step(executor: PlanExecutor) -> None:
    line = Line()
    line.on_go = line.stop
    result, _ = run(executor, ("ahead", "1"), line=line)
    assert result.status == "cancelled"
    assert line.x == 0


@pytest.mark.parametrize(
    ("library", "part"),
    [
        ("def ahead(ctx, metres:\n    pass", "SyntaxError"),
        ("raise ValueError('at once')", "ValueError: at once"),
        ("def other(ctx): pass", "there is no function 'ahead'; known: other"),
    ],
)
def test_a_bad_library_fails_the_first_step(executor: PlanExecutor, library: str, part: str) -> None:
    result, line = run(executor, ("ahead", "1"), library=library)
    assert result.status == "failed"
    assert part in result.message
    assert line.stopped


def test_a_weak_sandbox_runs_the_builtin_skills_only(
    kernel_offers: Callable[[dict[str, str]], None],
) -> None:
    kernel_offers({})
    with PlanExecutor(API, builtin=LIBRARY) as executor:
        assert run(executor, ("ahead", "1"))[0].status == "done"
        with pytest.raises(InputError, match="generated code is not run: sandbox level process"):
            run(executor, ("ahead", "1"), library=LIBRARY + "# changed")


def test_what_the_world_itself_raises_is_passed_on(executor: PlanExecutor) -> None:
    line = Line()

    def broken() -> None:
        raise OSError("a fault of the world")

    line.on_go = broken
    with pytest.raises(OSError, match="a fault of the world"):
        run(executor, ("ahead", "1"), line=line)
    assert line.stopped
    assert run(executor, ("ahead", "1"))[0].status == "done"


def test_when_there_is_enough_the_step_under_way_runs_to_its_end(executor: PlanExecutor) -> None:
    """The referee's success does not cut a skill off: it is recorded as done, and no other step begins."""
    line = Line()
    line.on_go = lambda: None
    result = executor.execute(
        "a", plan(("ahead", "1"), ("ahead", "2")), LIBRARY, line, enough=lambda: line.x > 0
    )
    assert result.status == "done"
    assert [(s.action, s.status, s.failure) for s in result.steps] == [("ahead", "done", None)]
    assert "stop" not in line.events


def test_what_is_certain_at_the_end_of_a_step_is_reported(executor: PlanExecutor) -> None:
    result = executor.execute("a", plan(("ahead", "3"), ("no",)), LIBRARY, Line())
    first, second = result.steps
    assert first.seen.facts == (Fact(predicate="at", args=("metre_3",)),)
    assert second.seen is None, "of a step that failed nothing is taken for certain"
