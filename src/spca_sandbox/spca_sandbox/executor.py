"""Executes a plan: one skill per step, each in the sandbox with a deadline.

The plan ends when a step fails or all are done.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

from spca_core.log import log
from spca_core.plan import ActResult, Plan, Step
from spca_core.ports.environment import CtxServer
from spca_core.skill import CtxApi, SkillFailure, StepReport, python_name
from spca_core.skill_package import origin
from spca_core.stopping import Closing, Stop, never
from spca_sandbox.host import SkillHost
from spca_sandbox.limits import Limits, SandboxLevel
from spca_sandbox.process import RunOutcome


class PlanExecutor(Closing):
    """Runs plans in any environment. The sandbox's worker starts with it, so make it early, and `close` it.

    `step_deadline_s` is in the environment's time, `step_wall_s` in wall time (a watchdog over everything). A
    library that is just `builtin`, the skills that come with the environment, runs at any sandbox level; any
    other has been written by a model and needs the level of the limits.
    """

    def __init__(
        self,
        api: CtxApi,
        limits: Limits | None = None,
        step_deadline_s: float = 60.0,
        step_wall_s: float = 600.0,
        builtin: str = "",
    ) -> None:
        self._builtin = builtin
        self._step_deadline_s, self._step_wall_s = step_deadline_s, step_wall_s
        self._host = SkillHost(api, limits)
        self._loaded: str | None = None

    def close(self) -> None:
        """End the sandbox; harmless when called twice."""
        self._host.close()

    def execute(
        self,
        attempt: str,
        plan: Plan,
        library: str,
        server: CtxServer,
        on_step: Callable[[StepReport], None] | None = None,
        cancelled: Stop = never,
        enough: Stop = never,
    ) -> ActResult:
        """Run the steps in order.

        The first step that fails ends the plan; the world is stopped before that.

        When there has been `enough`, the step under way runs to its end and no other begins.

        A step fails when its skill raises, runs over a bound, or returns False or a result that says failure.
        Never raises for a bad skill or library; what the environment itself raises is passed on, after a
        stop. Raises InputError where generated skills may not run because this machine's sandbox is too weak.
        """
        reports: list[StepReport] = []
        server.prefer(plan.choices)
        try:
            broken = self._load(library) if plan.steps else None
            for index, step in enumerate(plan.steps):
                if enough():
                    break
                report = self._step(index, step, server, cancelled, broken)
                if report.status != "done":
                    server.stop()
                reports.append(report)
                told = {"step": str(step), "status": report.status, "message": report.message}
                log.info("step", told)
                if on_step is not None:
                    on_step(report)
                if report.status != "done":
                    message = f"step {index + 1}, {step}: {report.message}"
                    return ActResult(
                        attempt=attempt, status=report.status, steps=tuple(reports), message=message
                    )
        except BaseException:
            server.stop()
            raise
        return ActResult(attempt=attempt, status="done", steps=tuple(reports))

    def _load(self, library: str) -> SkillFailure | None:
        if library != self._loaded:  # each run finds it freshly imported anyway
            self._loaded, reviewed = None, library == self._builtin
            result = self._host.load(library, SandboxLevel.PROCESS if reviewed else None)
            if isinstance(result, SkillFailure):
                return result
            self._loaded = library
        return None

    def _step(
        self, index: int, step: Step, server: CtxServer, cancelled: Stop, broken: SkillFailure | None
    ) -> StepReport:
        started, wall = server.now(), time.monotonic()
        if cancelled():
            failure = SkillFailure(kind="cancelled", message="cancelled")
            outcome = RunOutcome(status="cancelled", failure=failure)
        elif broken is not None:
            told = f"the skills could not be imported: {broken.message}"
            outcome = RunOutcome(status="failed", failure=broken.model_copy(update={"message": told}))
        else:
            within = self._step_deadline_s, self._step_wall_s
            outcome = self._host.run(python_name(step.action), step.args, server, *within, cancelled)
        why = outcome.failure or _says_failure(outcome.value)
        status: Literal["done", "failed", "cancelled"] = outcome.status
        if status == "done" and why is not None:
            status = "failed"
        call, *of = server.lacking() or ("",)
        if why and why.kind in ("error", "result") and {*of} & {*step.args}:
            told = f"{call}({', '.join(of)}): none; {why.message}"
            why = SkillFailure(kind="no_place", message=told, line=why.line)
        # A RuntimeError is raised on purpose, and explains itself.
        fault = why and why.kind == "error" and not why.message.startswith("RuntimeError: ")
        if why and fault and self._loaded == self._builtin and why.line:
            place = origin(server.api.environment, self._builtin, why.line)
            why = why.model_copy(update={"message": f"{place}{why.message}"})
        seen = server.notice(started) if status == "done" else None
        return StepReport(
            index=index, action=step.action, args=step.args, status=status,
            started=started, ended=server.now(), wall_seconds=time.monotonic() - wall,
            message=why.message if why else "", failure=why, log=outcome.log, seen=seen,
        )  # fmt: skip


def _says_failure(value: Any) -> SkillFailure | None:
    """Return the failure that a skill's own result reports; None if it reports none.

    It is False, or a record whose `success`, `ok` or `status` says so.
    """
    if value is False:
        return SkillFailure(kind="result", message="the skill returned False")
    if isinstance(value, dict):
        bad_status = str(value.get("status", "")).lower() in ("failed", "failure", "error")
        if value.get("success") is False or value.get("ok") is False or bad_status:
            reason = value.get("message") or value.get("reason") or "the skill's result says failure"
            return SkillFailure(kind="result", message=str(reason)[:600])
    return None
