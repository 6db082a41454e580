"""One level through the supervisor, in this process."""

from __future__ import annotations

from spca.events import Listener
from spca.interrupt import stopping_on_interrupt
from spca.looking import JudgedByLook
from spca.stages import Stages
from spca.supervisor import Supervisor
from spca_core.ports.environment import Environment, ShowsRuns
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder


def supervisor_of(
    environment: Environment, stages: Stages, folder: RunFolder, listeners: tuple[Listener, ...]
) -> Supervisor:
    """The supervisor of one level, with the stages of its run."""
    if isinstance(environment, ShowsRuns):
        tell = environment.tell
        listeners = (*listeners, lambda event: tell(event.kind, event.text, event.data))
    if environment.task.judge == "look":
        environment = JudgedByLook(environment, stages.readers.plans)
    return Supervisor(environment, stages, folder, listeners)


def drive(
    environment: Environment, stages: Stages, folder: RunFolder, listeners: tuple[Listener, ...], resume: bool
) -> RunResult:
    """Run the level to its end, or go on where the folder's run was; the first Ctrl-C stops it."""
    supervisor = supervisor_of(environment, stages, folder, listeners)
    with stopping_on_interrupt(supervisor.cancel):
        return supervisor.resume() if resume else supervisor.run()
