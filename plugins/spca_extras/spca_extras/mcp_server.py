"""A table offered to language models over the Model Context Protocol: `spca mcp`.

Everything goes through one `Session`: plans pass the same critics, motion keeps the same limits and budgets,
and nothing moves that was refused. Physics is not for two threads, so that one worker does all the work.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import cv2
from mcp.server.fastmcp import Context, FastMCP, Image
from mcp.server.fastmcp.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import PlainTextResponse

from spca import __version__
from spca.api import levels, session
from spca.interrupt import STOPPED
from spca.journal import Event
from spca.runs import Run
from spca.sessions import Proposal, Session
from spca_core.errors import Cancelled, SpcaError
from spca_core.plan import Plan
from spca_core.validation import first_problem

T = TypeVar("T")

_MOST_BYTES = 1_000_000
_READS = ToolAnnotations(readOnlyHint=True)
_MOVES = ToolAnnotations(readOnlyHint=False, destructiveHint=True)
_WHAT = (
    "A robot arm over a table. `look` first. `plan` shows how a sentence is understood and what would be "
    "done, without moving; `run_plan` carries that plan out, `do` plans and carries out in one go, `act` "
    "does a single action. A look afterwards judges what was done. `stop` stops the arm at once."
)


class Approval(BaseModel):
    """Question to a person before the arm moves."""

    approve: bool = Field(description="Carry this plan out?")


class TableServer(FastMCP):
    """The server; its session opens when the first tool is called and closes with the process.

    Args:
        options: Of `spca.session`.
        approval: Whether the client's user is asked before each plan; a client that cannot ask moves nothing.
        allowed: The actions that plans may contain; all if empty.
        port: For HTTP, the port, on this machine.
        path: For HTTP, the path, which nobody else is to know.
    """

    def __init__(
        self, options: dict[str, Any], approval: bool, allowed: tuple[str, ...], port: int, path: str
    ) -> None:
        super().__init__("spca", _WHAT, port=port, streamable_http_path=path, log_level="CRITICAL")
        self._mcp_server.version = __version__
        self._options, self._approval, self._allowed = options, approval, allowed
        self._worker = ThreadPoolExecutor(1, "spca-session")
        self._session: Session | None = None
        self._context: Context[Any, Any, Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._plans: dict[str, Proposal] = {}
        self._asked: set[str] = set()  # the goals that the client's user was asked about
        self._stops = self._heeded = 0  # how often it was stopped, and before what is under way was asked for
        for tool, hints in (
            (self.look, _READS), (self.plan, _READS), (self.rehearse, _READS), (self.read_run, _READS),
            (self.run_plan, _MOVES), (self.do, _MOVES), (self.act, _MOVES), (self.stop, _MOVES),
        ):  # fmt: skip
            self.add_tool(tool, annotations=hints, structured_output=False)
        self.resource("spca://levels", mime_type="application/json")(self.levels)
        self.resource("spca://report", mime_type="text/html")(self.report)

    def streamable_http_app(self) -> Starlette:
        """See `FastMCP.streamable_http_app`; over nonsense, and depths, that ends in a fault."""

        async def read(request: Any, answer: Any) -> Any:
            try:
                if request.method == "POST" and request.url.path == self.settings.streamable_http_path:
                    body = b""
                    async for part in request.stream():
                        if len(body := body + part) > _MOST_BYTES:
                            return PlainTextResponse(f"a message has at most {_MOST_BYTES} bytes", 413)
                    request._body = body  # as its `body()` keeps it
                    json.loads(body)
            except (ValueError, RecursionError) as error:
                return PlainTextResponse(f"no message: {error}", 400)
            return await answer(request)

        (app := super().streamable_http_app()).add_middleware(BaseHTTPMiddleware, dispatch=read)
        return app

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """See `FastMCP.call_tool`; what is wrong with the arguments is said in one line."""
        try:
            return await super().call_tool(name, arguments)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            raise ToolError(f"{name}: {first_problem(error.__cause__)}") from error

    # --- tools ----------------------------------------------------------------------------------------------

    async def look(self, ctx: Context) -> list[Any]:
        """Look at the table: sentences, objects with positions (metres), facts, and the camera's picture."""
        view = await self._work(ctx, lambda table: table.look())
        things = [o.model_dump(include={"id", "kind", "colour"}) for o in view.objects]
        for thing, o in zip(things, view.objects, strict=True):
            thing["position"] = [round(v, 3) for v in o.pose.position]
        coded = cv2.imencode(".jpg", cv2.cvtColor(view.picture, cv2.COLOR_RGB2BGR))[1]
        facts = [f"{fact.predicate}({', '.join(fact.args)})" for fact in view.facts]
        told = {"sentences": view.sentences, "objects": things, "facts": facts}
        return [told, Image(data=coded.tobytes(), format="jpeg")]

    async def plan(self, ctx: Context, sentence: str) -> dict[str, Any]:
        """Plan for a sentence without moving: the goal as understood, steps, a `plan_id`; or a question."""
        proposal = await self._work(ctx, lambda table: table.plan(sentence))
        if proposal.plan is None:
            return {"question": proposal.question}
        self._plans[name := f"plan_{len(self._plans) + 1}"] = proposal
        return {"plan_id": name, "goal": proposal.goal, "steps": proposal.steps}

    async def rehearse(self, ctx: Context, plan_id: str) -> dict[str, Any]:
        """Try a plan in a twin of what was seen, without moving the arm; says whether it would work."""
        proposal = self._known(plan_id)
        return await self._work(ctx, lambda table: table.rehearse(proposal).model_dump(mode="json"))

    async def run_plan(self, ctx: Context, plan_id: str) -> dict[str, Any]:
        """Carry out a plan; refused where things have moved since it was made."""
        proposal = self._known(plan_id)
        return _told(await self._work(ctx, lambda table: table.execute(proposal)))

    async def do(self, ctx: Context, sentence: str) -> dict[str, Any]:
        """Have a sentence carried out: look, plan, act, look again; or a question answered."""

        def carry_out(table: Session) -> dict[str, Any]:
            answer = table.ask(sentence)
            return _told(table.do(sentence)) if answer is None else {"outcome": "answered", "reason": answer}

        return await self._work(ctx, carry_out)

    async def act(self, ctx: Context, action: str, args: list[str]) -> dict[str, Any]:
        """Carry out one action of the planning domain, such as pick_up with ["cube_red", "table"]."""
        return _told(await self._work(ctx, lambda table: table.act(action, *args)))

    async def stop(self) -> str:
        """Stop the arm at once, and end the run under way and whatever was asked for before."""
        self._stops += 1
        if self._session is not None:
            self._session.stop()
        return "stopped"

    async def read_run(self, number: int = -1) -> dict[str, Any]:
        """Return what happened in a run of this session, by its number from 1; the last one by default."""
        runs = self._session.runs if self._session else []
        if not runs or not -len(runs) <= (index := number - 1 if number > 0 else number) < len(runs):
            raise ToolError(f"there is no run {number}; there are {len(runs)}")
        run = runs[index]
        # Every plan is a question to this server, which asks the user only with --approve.
        told = [e for e in run.events if e.kind != "question" or e.text in self._asked]
        return _told(run) | {"events": [f"{event.kind}: {event.text or event.stage}" for event in told]}

    def levels(self) -> str:
        """Every level that comes with spca."""
        return json.dumps([info.model_dump() for info in levels()])

    def report(self) -> str:
        """The report of the last run of this session that has one, as HTML."""
        reports = [report for run in (self._session.runs if self._session else []) if (report := run.report)]
        return reports[-1].read_text() if reports else "there is none yet"

    # --- behind them ----------------------------------------------------------------------------------------

    def _known(self, plan_id: str) -> Proposal:
        if plan_id not in self._plans:
            raise ToolError(f"unknown plan '{plan_id}'; known: {', '.join(self._plans) or 'none'}")
        return self._plans[plan_id]

    async def _work(self, ctx: Context, ask: Callable[[Session], T]) -> T:
        """Do it in the session's thread; a client that gives up on what is under way stops the arm."""
        loop, heeded = asyncio.get_running_loop(), self._stops

        def work() -> T:
            self._context, self._loop, self._heeded = ctx, loop, heeded
            table = self._table()
            if self._stops != heeded:
                raise Cancelled(STOPPED)
            return ask(table)

        try:
            return await loop.run_in_executor(self._worker, work)
        except SpcaError as error:
            raise ToolError(str(error)) from error
        except asyncio.CancelledError:
            if self._context is ctx:  # else it has not begun
                await self.stop()
            raise

    def _table(self) -> Session:
        if self._session is None:
            self._session = session(on_event=self._tell, approve=self._approved, **self._options).__enter__()
        return self._session

    def _tell(self, event: Event) -> None:
        if event.kind == "run_started" and self._session is not None and self._stops != self._heeded:
            self._session.stop()  # it was told so between two runs
        if self._context is not None and event.text and event.kind != "question":
            self._wait(self._context.info(f"{event.kind}: {event.text}"))

    def _approved(self, plan: Plan, goal: str) -> bool:
        actions = dict.fromkeys(step.action for step in plan.steps)
        if self._allowed and (refused := [action for action in actions if action not in self._allowed]):
            assert self._session is not None
            allowed = f"--allow {','.join(self._allowed)}"
            self._session.stop(f"not allowed: {', '.join(refused)} ({allowed}); nothing was moved")
            return False
        if not self._approval:
            return True
        steps = ", ".join(map(str, plan.steps)) or "nothing to do"
        self._asked.add(goal)
        try:
            assert self._context is not None
            answer = self._wait(self._context.elicit(f"Goal: {goal}. Plan: {steps}.", Approval))
        except Exception:  # a client that cannot ask its user
            return False
        return answer.action == "accept" and answer.data.approve

    def _wait(self, work: Any) -> Any:
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result() if work is not None else None


def _told(run: Run) -> dict[str, Any]:
    result = run.result
    steps = [event.text for event in run.events if event.kind == "step"]
    return {"outcome": result.words, "reason": result.reason, "steps": steps, "report": str(run.report or "")}
