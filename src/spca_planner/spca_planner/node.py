"""The node `planner`: any `Planner` behind an action, and itself one that tells of its plans."""

from __future__ import annotations

from spca_interfaces.action import MakePlan
from spca_interfaces.msg import DraftRecord as DraftRecordMsg
from spca_interfaces.msg import Plan as PlanMsg
from spca_interfaces.msg import PlanResult as PlanResultMsg
from spca_interfaces.srv import Learned

from spca_core.errors import InputError
from spca_core.plan import DraftRecord, PlanRequest, PlanResult
from spca_core.ports.stages import OnDraft, Planner, unheard
from spca_core.stopping import Stop, never
from spca_ros import names
from spca_ros.action_server import Job, LongAction
from spca_ros.convert.records import from_msg, to_msg
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, answering
from spca_ros.qos import STATE


class PlannerNode(SpcaNode):
    """Plans one request at a time; every judged draft is sent as feedback. `planner` may be changed later.

    See `spca_core.ports.stages.Planner`, too: what it plans for whoever calls it is published.
    """

    def __init__(self, planner: Planner | None = None, loop: Loop | None = None) -> None:
        super().__init__(names.PLANNER, loop)
        self.planner = planner
        self._plan = self.create_publisher(PlanMsg, names.PLAN, STATE)
        LongAction(self, MakePlan, names.MAKE_PLAN, self._make_plan)
        self.create_service(Learned, names.LEARNED, self._learned)

    def plan(self, request: PlanRequest, on_draft: OnDraft = unheard, cancelled: Stop = never) -> PlanResult:
        """See `Planner`."""
        result = self._set_up().plan(request, on_draft, cancelled)
        if result.plan is not None:
            self._plan.publish(to_msg(result.plan, PlanMsg()))
        return result

    def learned(self, request: PlanRequest, result: PlanResult) -> None:
        """See `Planner`."""
        self._set_up().learned(request, result)

    def _set_up(self) -> Planner:
        if self.planner is None:
            raise InputError("no planner has been set up: no run is under way")
        return self.planner

    def _make_plan(self, job: Job) -> MakePlan.Result:
        request = from_msg(PlanRequest, job.goal.request)

        def on_draft(draft: DraftRecord) -> None:
            job.feedback(MakePlan.Feedback(attempt=request.attempt, draft=to_msg(draft, DraftRecordMsg())))

        result = self.plan(request, on_draft, job.cancelled)
        return MakePlan.Result(result=to_msg(result, PlanResultMsg()))

    def _learned(self, request: Learned.Request, response: Learned.Response) -> Learned.Response:
        with answering(response):
            self.learned(from_msg(PlanRequest, request.request), from_msg(PlanResult, request.result))
        return response
