"""One table that stays: look at it, ask for plans, have sentences carried out, one after the other.

Every sentence is a run of its own through the supervisor, with its critics, limits and budgets, and leaves a
folder as any run does. What counts as done is the goal as it was understood, judged by a look afterwards.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import cv2

from spca.dialogue import Dialogue
from spca.interrupt import STOPPED
from spca.journal import Listener
from spca.kits import checked_kit
from spca.order import Order, single_step
from spca.proposals import open_stages
from spca.runs import Run
from spca.stages import Approve
from spca.state import RunState
from spca_core.errors import Cancelled, InputError, Lost, SpcaError
from spca_core.model import checked
from spca_core.options import RunOptions
from spca_core.plan import Plan, Rehearsed, Step, Task
from spca_core.ports.environment import Environment
from spca_core.ports.kit import Kit
from spca_core.result import Ending
from spca_core.run_folder import EVENTS, RunFolder, scratch
from spca_core.scene import Fact, Observation, SceneObject
from spca_planner.solver.process import warm_solver

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spca.ros.program import Program
    from spca.web_page import WebPage


SENTENCE = "sentence"
"""The level of a session that is opened with none."""


@dataclass(frozen=True, repr=False)
class View:
    """Observation and picture of a look."""

    observation: Observation
    picture: NDArray[np.uint8]
    """The camera's picture with the detections drawn in: RGB (height, width, 3)."""

    def __repr__(self) -> str:
        return f"<seen: {'; '.join(self.sentences) or 'nothing'}>"

    def _repr_jpeg_(self) -> bytes:
        """Return the picture as a JPEG, for notebooks."""
        return cv2.imencode(".jpg", cv2.cvtColor(self.picture, cv2.COLOR_RGB2BGR))[1].tobytes()

    @property
    def objects(self) -> tuple[SceneObject, ...]:
        """The things in sight or remembered, with their poses (metres, in the frame `world`)."""
        return self.observation.things

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The relations that hold."""
        return self.observation.facts

    @property
    def sentences(self) -> tuple[str, ...]:
        """The relations that hold, in plain words."""
        return self.observation.sentences


@dataclass(frozen=True)
class Proposal:
    """Interpretation of a sentence: a validated plan and its goal, or the question that is left."""

    sentence: str
    plan: Plan | None
    goal: str
    question: str
    """Question that is left, or another reason why there is no plan; empty where there is one."""
    seen: Observation

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the plan, as text."""
        return tuple(map(str, self.plan.steps)) if self.plan else ()


def _plan_of(proposal: object) -> Plan:
    if isinstance(proposal, Proposal) and proposal.plan is not None:
        return proposal.plan
    raise InputError("there is no plan", hint=getattr(proposal, "question", "one is what `plan` returns"))


class Session:
    """A world that stays. Use it as a context manager, from one thread; `stop` may be called from any.

    See `session` for the arguments. `listener` hears of every event of every run, `approve` is asked before
    each plan is carried out.
    """

    def __init__(
        self,
        options: RunOptions,
        kit: Kit,
        listener: Listener | None = None,
        approve: Approve | None = None,
        report: bool = True,
        program: Program | None = None,
    ) -> None:
        self._kit, self.program = kit, program
        """The program that acts, where the table is on the ROS graph."""
        self._options, self._listeners = options, (listener,) if listener else ()
        self._approve, self._report = approve, report
        self._dialogue = Dialogue(kit, lambda: self.look().observation)
        self._open = ExitStack()
        self._folder: Path | None = None
        self._table: Environment | None = None
        self._unlaid = False
        self._run: Run | None = None
        self._told: str | None = None  # while an order is carried out: why it is to end, or nothing
        self.page: WebPage | None = None
        """The page to speak on, with `view="web"`."""
        self.view: View | None = None
        """View of the last look; None before the first."""
        self.runs: list[Run] = []
        """All runs of the session, in order."""

    def __enter__(self) -> Session:
        with self._open:
            self._process = os.getpid()
            self._folder = Path(self._open.enter_context(scratch("session")))
            self._open.callback(setattr, self, "_folder", None)
            options = self._options
            if options.level == SENTENCE:
                options = self._ordered("Look at the table.", self._scratch)
            checked_kit(options)
            if options.transport == "inproc":
                warm_solver()
                self._table = self._open.enter_context(self._kit.session(options))
            elif self.program is None:
                from spca.ros.graph import acting, robot_is_there  # not everywhere is there a ROS

                self._unlaid = not (found := robot_is_there())  # a table that is there is taken as it is
                self.program = self._open.enter_context(acting(options, self._scratch, found))
                fixed = {"world", "preset", "seed", *self.program.laid()}
                table = self._options.model_dump(include=fixed, exclude_defaults=True)
                if found and table and self._options.level == SENTENCE:
                    hint = "leave it away, or end the simulator that is there"
                    raise InputError("the table that is there stays as it is", f"--{min(table)}", hint)
            if options.view == "web":
                self._show()
            self._open = self._open.pop_all()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._process == os.getpid():  # else it has been forked off, and nothing of the session is its own
            self._open.close()

    def _show(self) -> None:
        from spca.web_page import WebPage  # what serves it takes its time to load

        self.page = page = WebPage(self)
        approved = self._approve
        self._approve = lambda plan, goal: (
            (approved is None or approved(plan, goal)) and page.approve(plan, goal)
        )
        self._open.callback(page.close)
        self._listeners = (*self._listeners, page.hear)

    def look(self) -> View:
        """Move the arm out of the camera's view and look. Raises SpcaError where it cannot be moved."""
        run = self._aside("Look at the table.", Order(moves=False), proposer="builtin")
        self.view = View(run.seen[-1], list(run.looks())[-1])
        return self.view

    def ask(self, question: str) -> str | None:
        """Answer a question about the table or about what was done; return None for what is no question."""
        return self._dialogue.answer(question)

    @property
    def asks(self) -> bool:
        """The last sentence leaves a question open, so that an answer may follow."""
        return self._dialogue.asks

    def plan(self, sentence: str) -> Proposal:
        """Look and plan for a sentence, moving nothing else; a plan in the result has passed every critic."""
        sentence = self._dialogue.meant(sentence)
        run = self._aside(sentence, Order(moves=False, plans=True))
        plan = run.planning.plan if run.planning else None
        goal = "".join([event.text for event in run.events if event.kind == "plan"][-1:])
        return Proposal(sentence, plan, goal, "" if plan else run.result.reason, run.seen[-1])

    def rehearse(self, proposal: Proposal) -> Rehearsed:
        """Try a plan in a twin of what was seen when it was made; the arm does not move."""
        plan = _plan_of(proposal)
        options = self._ordered(proposal.sentence, self._scratch).model_copy(update={"rehearse": "always"})
        with open_stages(options, self._kit, RunFolder(self._scratch)) as stages:
            if stages.rehearsing is None:
                raise InputError("no rehearsal", hint=f"{self._kit.name} has no twin to rehearse in")
            state = RunState(library=stages.library).sensed(proposal.seen).planned(plan)
            said = proposal.sentence
            task = Task(group="sentence", id="sentence_01", title=said, description=said, judge="look")
            return stages.rehearsing.try_out("rehearsal", task, state, lambda: False)

    def do(self, sentence: str, out: str | Path | None = None) -> Run:
        """Carry out a sentence: look, plan, act, look again; repair and plan anew as in any run.

        It may refer to what was done before ("put it back"), or answer what the last one left open. One that
        is refused, and for which no model was asked, leaves its run in a folder that is gone in the end.
        """
        with self._order():
            return self._done(self._dialogue.meant(sentence), Order(), out, sentence)

    def execute(self, proposal: Proposal, out: str | Path | None = None) -> Run:
        """Carry out a plan as it is, once; it is refused where things have moved since it was made."""
        plan = _plan_of(proposal)
        with self._order():
            return self._done(proposal.sentence, Order(plan=plan, seen=proposal.seen), out)

    def act(self, action: str, *args: str, out: str | Path | None = None) -> Run:
        """Carry out a single action, such as `act("pick_up", "cube_red", "table")`.

        Raises InputError for an unknown action, arguments that do not fit, and unmet preconditions.
        """
        with self._order():
            seen = self.look().observation
            plan = single_step(self._kit.situation(seen), checked(Step, action=action, args=args))
            return self._done(str(plan.steps[0]), Order(plan=plan, seen=seen), out)

    def stop(self, reason: str = STOPPED) -> None:
        """Stop the arm and end the order under way; may be called from any thread. The session stays."""
        reason = str(reason or STOPPED)  # whatever is given: the arm is to stop
        if self._told is not None:
            self._told = reason
        if (run := self._run) is not None:
            run.cancel(reason)

    @contextmanager
    def _order(self) -> Iterator[None]:
        """Keep that an order is to end for all of its runs, also those that have not begun."""
        self._told = ""
        try:
            yield
        finally:
            self._told = None

    @property
    def stopping(self) -> bool:
        """Whether the order under way has been told to stop."""
        return bool(self._told) or ((run := self._run) is not None and bool(run.cancelled))

    @property
    def environment(self) -> Environment | None:
        """The world that the last run acted on, if there is one still."""
        return self._table or (self.program.environment if self.program else None)

    def do_level(self, out: str | Path | None = None, options: RunOptions | None = None) -> Run:
        """Carry out the level that the session was opened with, or another one, on a table laid for it.

        What was said before was about another table, and is forgotten.
        """
        options = options or self._options.model_copy(update={"rewind": True})
        if not isinstance(options, RunOptions):
            raise InputError(f"--options {options!r}", hint="they are RunOptions")
        run = Run(options, RunFolder.create(Path(options.level).stem, out))
        self._dialogue = Dialogue(self._kit, lambda: self.look().observation)
        with self._order():
            self._advance(run, self._listeners, anew=True)
        self._dialogue.remember("", run.result.level, run)
        self.runs.append(run)
        return run

    @property
    def _scratch(self) -> Path:
        if self._folder is None or self._process != os.getpid():
            hint = "use it inside its `with`, in the process that opened it"
            raise InputError("the session is not open", hint=hint)
        return self._folder

    def _done(self, sentence: str, asked: Order, out: str | Path | None, said: str = "") -> Run:
        """Carry out an order, in these words of the user's, in a run that is kept, and return the run."""
        said, aside = said or sentence, self._scratch
        conversation = self._dialogue.conversation(said, sentence)
        folder = RunFolder.create("_".join(said.split())[:40], out)
        run = Run(self._ordered(sentence, folder.path, conversation), folder, asked)
        try:
            self._advance(run, self._listeners)
        except InputError:
            if out is None and not (folder.path / EVENTS).exists():  # it has not begun
                shutil.rmtree(folder.path)
            raise
        refused = run.result.refused and not (folder.path / "llm").exists() and out is None
        if self._report and not refused:
            run.document()
        kept = Path(shutil.move(folder.path, tempfile.mkdtemp(dir=aside))) if refused else folder.path
        run.files = RunFolder(kept)  # without its claim, which is a descriptor
        self._dialogue.remember(said, sentence, run)
        self.runs.append(run)
        return run

    def _aside(self, sentence: str, asked: Order, **changes: str) -> Run:
        """Carry out an order in a run that nobody hears of and that leaves nothing behind; return the run.

        Raises SpcaError where nothing was seen.
        """
        folder = RunFolder.create("aside", parent=self._scratch)
        run = Run(self._ordered(sentence, folder.path).model_copy(update=changes), folder, asked)
        self._advance(run, ())
        planned = asked.plans and run.planning is not None and run.planning.plan is not None
        if run.result.outcome is Ending.CANCELLED and not planned:
            raise Cancelled(run.result.reason)
        if not run.seen:
            raise (Lost if run.result.outcome is Ending.LOST else SpcaError)(run.result.reason)
        return run

    def _advance(self, run: Run, listeners: tuple[Listener, ...], anew: bool = False) -> None:
        if self._run is not None:  # of another thread, or a listener's: two would move one arm
            raise InputError("the session is at work", hint="it does one thing at a time; `stop` ends it")
        self._run, run.order = run, replace(run.order or Order(), approve=self._approve)
        if self._told:
            run.cancel(self._told)
        try:
            if self.program is not None:
                anew, self._unlaid = anew or self._unlaid, False
                self.program.conduct(run, listeners, anew)
                return
            assert self._table is not None
            if not anew:
                self._table.take_up(run.options)
            run.advance(*listeners, environment=self._table)
        finally:
            self._run = None

    def _ordered(self, sentence: str, folder: Path, conversation: tuple[str, ...] = ()) -> RunOptions:
        """Return the options of a run with that sentence as its task; write its level file to `folder`."""
        # Somebody else, or a level, may have laid the table on the graph.
        there = self.program.laid() if self.program is not None and not self._unlaid else {}
        path, world = folder / "task.yaml", there.get("world", self._options.world)
        path.write_text(self._kit.sentence_level(sentence, world, conversation))
        changes, ours = {"level": str(path), **there}, self._options.proposer == "builtin"
        if not ours and self._options.skills != "empty" and self._dialogue.known(sentence):
            changes["proposer"] = "builtin"  # the move is known: no model is asked for it
        return self._options.model_copy(update=changes)
