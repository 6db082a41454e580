"""The node `planner`: any `Planner` behind an action."""

from __future__ import annotations

from spca_interfaces.action import MakePlan
from spca_interfaces.msg import DraftRecord as DraftRecordMsg
from spca_interfaces.msg import Plan as PlanMsg
from spca_interfaces.msg import PlanResult as PlanResultMsg
from spca_interfaces.srv import Learned

from spca_core.errors import BudgetExhausted, InputError, SpcaError
from spca_core.plan import DraftRecord, PlanRequest, PlanResult
from spca_core.ports.stages import Planner
from spca_ros import names
from spca_ros.action_server import Job, LongAction
from spca_ros.convert.records import from_msg, to_msg
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, answering
from spca_ros.qos import STATE


class PlannerNode(SpcaNode):
    """Plans one request at a time; every judged draft is sent as feedback.

    `planner` may be set and changed later.
    """

    def __init__(self, planner: Planner | None = None, loop: Loop | None = None) -> None:
        super().__init__(names.PLANNER, loop)
        self.planner = planner
        self._plan = self.create_publisher(PlanMsg, names.PLAN, STATE)
        self._planning = LongAction(self, MakePlan, names.MAKE_PLAN, self._make_plan)
        self.create_service(Learned, names.LEARNED, self._learned)

    def close(self) -> None:
        """End the planning under way."""
        self._planning.close()

    def _make_plan(self, job: Job) -> MakePlan.Result:
        request, planner = from_msg(PlanRequest, job.goal.request), self.planner
        if planner is None:
            return MakePlan.Result(input_error="no planner has been set up")

        def on_draft(draft: DraftRecord) -> None:
            job.feedback(MakePlan.Feedback(attempt=request.attempt, draft=to_msg(draft, DraftRecordMsg())))

        try:
            result = planner.plan(request, on_draft, job.cancelled)
        except InputError as error:
            return MakePlan.Result(input_error=str(error))
        except BudgetExhausted as error:
            return MakePlan.Result(budget_exhausted=str(error))
        message = to_msg(result, PlanResultMsg())
        if message.plan:
            self._plan.publish(message.plan[0])
        return MakePlan.Result(result=message)

    def _learned(self, request: Learned.Request, response: Learned.Response) -> Learned.Response:
        with answering(response):
            if (planner := self.planner) is None:
                raise SpcaError("no planner has been set up")
            planner.learned(from_msg(PlanRequest, request.request), from_msg(PlanResult, request.result))
        return response
