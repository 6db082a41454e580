"""The node `supervisor`: runs a level on request, together with the planner's and the coder's nodes."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError
from spca_interfaces.action import RunLevel
from spca_interfaces.msg import Verdict as VerdictMsg

from spca.events import Event
from spca.kits import checked_kit, kit_named, kits
from spca.logs import log_to
from spca.ros.asked import as_asked, asked_of
from spca.ros.events import event_msg
from spca.runs import supervised
from spca.stages import Stages
from spca.supervisor import Supervisor
from spca_core.errors import InputError, SpcaError
from spca_core.options import Manifest, RunOptions, manifest
from spca_core.result import RunResult
from spca_core.run_folder import MANIFEST, RunFolder
from spca_core.validation import first_problem
from spca_ros import names
from spca_ros.action_server import Job, LongAction
from spca_ros.convert.records import to_msg
from spca_ros.kit import RosSide
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode
from spca_ros.stages import RosCoder, RosPlanner

OpenStages = Callable[[RunOptions, RunFolder], AbstractContextManager[Stages]]
"""Gives the planner's and the coder's nodes what a run's options ask for, while the context lasts."""
_READY_S = 60.0


class SupervisorNode(SpcaNode):
    """One run at a time.

    What a goal leaves empty is as in the parameters; without a run folder a new one is made.

    A run folder that has a manifest already says itself how it is to be run.
    """

    def __init__(self, open_stages: OpenStages, loop: Loop | None = None) -> None:
        super().__init__(names.SUPERVISOR, loop)
        self._open_stages = open_stages
        self._defaults = {
            "level": self.parameter("level", "stack_01", "name or path of a level"),
            "preset": self.parameter(
                "preset", "nominal", "one of the environment's presets, such as shuffled"
            ),
            "seed": self.parameter("seed", 0, "draws the table and the sensor's noise"),
            "proposer": self.parameter(
                "proposer", "builtin", "who drafts plans and skills: builtin or openai"
            ),
            "vision": self.parameter("vision", False, "whether a vision model adds remarks to first looks"),
        }
        name = self.parameter("environment", kits()[0].name, "name of an installed environment")
        self._kit = kit_named(name)
        self.side: RosSide = self._kit.ros()
        if self.side is None:
            raise InputError(f"the environment '{name}' has no ROS side", where="parameter environment")
        self._environment = self.side.environment(self)
        self._supervisor: Supervisor | None = None
        self._last = ""  # the folder of the run that has left the world as it is
        self._planner, self._coder = RosPlanner(self), RosCoder(self)
        self._running = LongAction(self, RunLevel, names.RUN_LEVEL, self._run, self._cancel)

    def close(self) -> None:
        """Stop the arm and end the run."""
        self._cancel()
        self._running.close()

    def _cancel(self) -> None:
        if self._supervisor is not None:
            self._supervisor.cancel()

    def _run(self, job: Job) -> RunLevel.Result:
        try:
            options, folder = self._ordered(job.goal)
            result = self._drive(job, options, folder)
        except Exception as error:
            self.get_logger().error(traceback.format_exc())
            bad_input = isinstance(error, InputError)
            message = str(error) if isinstance(error, SpcaError) else f"{type(error).__name__}: {error}"
            return RunLevel.Result(message=message, input_error=bad_input)
        return RunLevel.Result(
            outcome=result.outcome.value,
            message=result.reason,
            verdict=to_msg(result.verdict, VerdictMsg()),
            run_folder=str(folder.path),
        )

    def _ordered(self, goal: RunLevel.Goal) -> tuple[RunOptions, RunFolder]:
        """The options and the folder of the run that is asked for.

        Raises InputError for what makes no sense.
        """
        if goal.run_folder and (Path(goal.run_folder) / MANIFEST).is_file():
            folder = RunFolder.open(Path(goal.run_folder))
            options = folder.read(MANIFEST, Manifest).options
            checked_kit(options)
            return options, folder
        wanted = {name: getattr(goal, name) for name in ("level", "preset", "seed") if getattr(goal, name)}
        try:
            options = RunOptions.model_validate({**self._defaults, **wanted})
        except ValidationError as error:
            raise InputError("no such run", hint=first_problem(error)) from error
        if checked_kit(options).name != self._kit.name:  # before anything is written
            raise InputError(f"level '{options.level}' is not of the environment '{self._kit.name}'")
        path = Path(goal.run_folder) if goal.run_folder else None
        folder = RunFolder.create(Path(options.level).stem, path)
        folder.write(MANIFEST, manifest(options))
        return options, folder

    def _lay(self, options: RunOptions, folder: RunFolder, resume: bool) -> None:
        """Begin the level on a table of its own, or on the one that the last run of its session has left."""
        after, last, self._last = asked_of(folder).after, self._last, ""
        if not after or resume:
            self._environment.begin(options, _READY_S)
        elif after == last:
            self._environment.take_up(options)
        else:
            raise InputError("another run has used the graph", hint="the table is laid anew for the next one")
        self._last = str(folder.path)

    def _drive(self, job: Job, options: RunOptions, folder: RunFolder) -> RunResult:
        attempt = job.goal.attempt
        log_to(folder.path)

        def tell(event: Event) -> None:
            job.feedback(RunLevel.Feedback(attempt=attempt, event=event_msg(event)))

        with self._open_stages(options, folder) as opened:
            self._lay(options, folder, job.goal.resume)
            own = replace(opened, planner=self._planner, coder=self._coder)
            # Nobody is there to answer for a run that is taken up again.
            stages = as_asked(folder, own, lambda: job.goal.resume or job.cancelled())
            self._supervisor = supervisor = supervised(self._environment, stages, folder, (tell,))
            try:
                if job.cancelled():
                    supervisor.cancel()
                return supervisor.resume() if job.goal.resume else supervisor.run()
            finally:
                self._supervisor = None
                self._environment.save_recording(folder.path)
