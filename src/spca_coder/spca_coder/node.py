"""The node `coder`: any `Coder` behind an action, and itself one."""

from __future__ import annotations

from spca_interfaces.action import WriteSkills
from spca_interfaces.msg import CodeResult as CodeResultMsg

from spca_core.errors import InputError
from spca_core.plan import CodeRequest, CodeResult
from spca_core.ports.stages import Coder
from spca_core.stopping import Stop, never
from spca_ros import names
from spca_ros.action_server import Job, LongAction
from spca_ros.convert.records import from_msg, to_msg
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode


class CoderNode(SpcaNode):
    """Completes one library at a time. `coder` may be set and changed later. See `Coder`, too."""

    def __init__(self, coder: Coder | None = None, loop: Loop | None = None) -> None:
        super().__init__(names.CODER, loop)
        self.coder = coder
        LongAction(self, WriteSkills, names.WRITE_SKILLS, self._write)

    def complete(self, request: CodeRequest, cancelled: Stop = never) -> CodeResult:
        """See `Coder`."""
        if self.coder is None:
            raise InputError("no coder has been set up: no run is under way")
        return self.coder.complete(request, cancelled)

    def _write(self, job: Job) -> WriteSkills.Result:
        request = from_msg(CodeRequest, job.goal.request)
        actions = ", ".join(dict.fromkeys(step.action for step in request.plan.steps))
        job.feedback(WriteSkills.Feedback(attempt=request.attempt, message=f"skills for {actions}"))
        result = self.complete(request, job.cancelled)
        return WriteSkills.Result(result=to_msg(result, CodeResultMsg()))
