"""One table that stays: look at it, ask for plans, have sentences carried out, one after the other.

import spca

with spca.session(preset="shuffled", seed=3) as table:
    print(table.look().sentences)
    print(table.do("put the red cube on the blue plate").reason)

Every sentence is a run of its own through the supervisor, with its critics, limits and budgets, and leaves a
folder as any run does. What counts as done is the goal as it was understood, judged by a look afterwards.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from spca.api import OnEvent, Run, document, settled
from spca.assembly import open_stages
from spca.drive import supervisor_of
from spca.inproc import warm_solver
from spca.interrupt import stopping_on_interrupt
from spca.kits import checked_kit, kits
from spca.logs import log_to
from spca.single import Given, single_step
from spca.stages import Approve, Stages
from spca.state import RunState
from spca.supervisor import Supervisor
from spca_core.checked import checked
from spca_core.errors import InputError
from spca_core.observation import Observation
from spca_core.options import Ablations, RunOptions, manifest
from spca_core.plan import Plan, PlanRequest, Step
from spca_core.ports.environment import TakesUp
from spca_core.ports.kit import Kit, TakesSentences
from spca_core.rehearsal import Rehearsed
from spca_core.run_folder import MANIFEST, RunFolder
from spca_core.scene import Fact, SceneObject
from spca_core.task import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class View:
    """What a look showed."""

    observation: Observation
    picture: NDArray[np.uint8]
    """The camera's picture with the detections drawn in: RGB (height, width, 3)."""

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
        """The same in plain words."""
        return self.observation.sentences


@dataclass(frozen=True)
class Proposal:
    """How a sentence was understood: a validated plan and its goal, or the question that is left."""

    sentence: str
    plan: Plan | None
    goal: str
    question: str
    """Why there is no plan; empty where there is one."""
    seen: Observation

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the plan, as text."""
        return tuple(map(str, self.plan.steps)) if self.plan else ()


class Session:
    """A world that stays. Use it as a context manager, from one thread; `stop` may be called from any.

    See `session` for the arguments. `listener` hears of every event of every run, `approve` is asked before
    each plan is carried out.
    """

    def __init__(
        self,
        options: RunOptions,
        kit: Kit,
        listener: OnEvent | None = None,
        approve: Approve | None = None,
        report: bool = True,
    ) -> None:
        assert isinstance(kit, TakesSentences)
        self._kit, self._sentences = kit, kit
        self._options, self._listeners = options, (listener,) if listener else ()
        self._approve, self._report = approve, report
        self._open = ExitStack()
        self._supervisor: Supervisor | None = None
        self.view: View | None = None
        """What the last look showed."""
        self.runs: list[Run] = []
        """Everything that was done, in order."""

    def __enter__(self) -> Session:
        with self._open:
            scratch = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="spca-")))
            options = self._ordered("Look at the table.", scratch)
            warm_solver()
            checked_kit(options)
            environment = self._kit.build(options)
            self._open.callback(environment.close)
            assert isinstance(environment, TakesUp)
            self._env, self._table = environment, environment
            if options.view:
                self._open.enter_context(environment.live_view())  # type: ignore[attr-defined]
            self._scratch = scratch
            self._open = self._open.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    # --- what can be asked for ------------------------------------------------------------------------------

    def look(self) -> View:
        """Move the arm out of the camera's view and look. Raises MotionError where it cannot be moved."""
        self.view = View(self._env.sense(), self._table.picture())
        return self.view

    def plan(self, sentence: str) -> Proposal:
        """Look, and plan for a sentence; nothing else moves. The plan has passed every critic."""
        seen = self.look().observation
        folder = RunFolder(self._scratch)
        with open_stages(self._ordered(sentence, self._scratch), self._kit, folder, warm_solver()) as stages:
            skills = stages.readers.skills.signatures(stages.library)
            request = PlanRequest(attempt="plan", task=_task(sentence), observation=seen, skills=skills)
            found = stages.planner.plan(request)
            goal = stages.readers.plans.goal(found.plan.draft) if found.plan else ""
        return Proposal(sentence, found.plan, goal, found.message if found.plan is None else "", seen)

    def rehearse(self, proposal: Proposal) -> Rehearsed:
        """Try a plan in a twin of what was seen when it was made; the arm does not move."""
        if proposal.plan is None:
            raise InputError("there is no plan to rehearse", hint=proposal.question)
        options = self._ordered(proposal.sentence, self._scratch).model_copy(update={"rehearse": "always"})
        with open_stages(options, self._kit, RunFolder(self._scratch), warm_solver()) as stages:
            if stages.rehearsing is None:
                raise InputError("no rehearsal", hint=f"{self._kit.name} has no twin to rehearse in")
            state = RunState(library=stages.library).sensed(proposal.seen).planned(proposal.plan)
            return stages.rehearsing.try_out("rehearsal", _task(proposal.sentence), state, lambda: False)

    def do(self, sentence: str, out: Path | None = None) -> Run:
        """Have a sentence carried out: look, plan, act, look again; repaired and planned anew as any run."""
        return self._run(sentence, lambda stages: stages, out)

    def execute(self, proposal: Proposal, out: Path | None = None) -> Run:
        """Carry out a plan as it is, once; it is refused where things have moved since it was made."""
        if proposal.plan is None:
            raise InputError("there is no plan to carry out", hint=proposal.question)
        return self._once(proposal.sentence, proposal.plan, proposal.seen, out)

    def act(self, action: str, *args: str, out: Path | None = None) -> Run:
        """Carry out a single action, such as `act("pick_up", "cube_red", "table")`.

        Raises InputError for an unknown action, arguments that do not fit, and unmet preconditions.
        """
        seen = self.look().observation
        plan = single_step(self._sentences.situation(seen), Step(action=action, args=args))
        return self._once(str(plan.steps[0]), plan, seen, out)

    def stop(self) -> None:
        """Stop the arm, and end the run under way. From any thread; the session stays."""
        if (supervisor := self._supervisor) is not None:
            supervisor.cancel()

    # --- runs -----------------------------------------------------------------------------------------------

    def _once(self, sentence: str, plan: Plan, seen: Observation, out: Path | None) -> Run:
        def given(stages: Stages) -> Stages:
            budgets = stages.budgets.model_copy(update={"rounds": 1})
            return replace(stages, planner=Given(plan, seen), budgets=budgets)

        return self._run(sentence, given, out)

    def _run(self, sentence: str, adapted: Callable[[Stages], Stages], out: Path | None) -> Run:
        folder = RunFolder.create("_".join(sentence.split())[:40], out)
        options = self._ordered(sentence, folder.path)
        folder.write(MANIFEST, manifest(options))
        log_to(folder.path)
        self._table.take_up(options)
        with open_stages(options, self._kit, folder, warm_solver()) as opened:
            stages = replace(adapted(opened), approve=self._approve)
            self._supervisor = supervisor_of(self._env, stages, folder, self._listeners)
            try:
                with stopping_on_interrupt(self._supervisor.cancel):
                    result = self._supervisor.run()
            finally:
                self._supervisor = None
                self._table.save_recording(folder.path)
        if self._report:
            document(options, folder)
        self.runs.append(Run(result, folder.path))
        return self.runs[-1]

    def _ordered(self, sentence: str, folder: Path) -> RunOptions:
        """The options of a run with that sentence as its task; its level file is written to `folder`."""
        if not sentence.strip():
            raise InputError("no task", hint='say what to do, such as "put the red cube on the blue plate"')
        path = folder / "task.yaml"
        path.write_text(self._sentences.sentence_level(sentence, self._options.world))
        return self._options.model_copy(update={"level": str(path)})


def _task(sentence: str) -> Task:
    return Task(group="sentence", id="sentence_01", title=sentence, description=sentence, judge="look")


def open_session(
    *,
    on_event: OnEvent | None = None,
    approve: Approve | None = None,
    report: bool = True,
    environment: str = "",
    **options: Any,
) -> Session:
    """See `spca.session`."""
    able = [kit for kit in kits() if isinstance(kit, TakesSentences) and environment in ("", kit.name)]
    if not able:
        names = ", ".join(kit.name for kit in kits() if isinstance(kit, TakesSentences))
        raise InputError(f"environment '{environment}' takes no sentences", hint=f"these do: {names}")
    wanted = {"transport": "inproc", "video": False, "proposer": "builtin", **options}
    # What a failed attempt has done to the table stays done: nobody expects it to be put back by magic.
    kept = Ablations(no_rewind=True)
    chosen = settled(checked(RunOptions, level="sentence", ablations=kept, **wanted))
    return Session(chosen, able[0], on_event, approve, report)
