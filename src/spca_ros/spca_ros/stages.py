"""The ports `Planner` and `Coder`, and perception, over ROS actions. Their calls block: not for callbacks."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError
from spca_interfaces.action import MakePlan, Perceive, WriteSkills
from spca_interfaces.msg import CodeRequest as CodeRequestMsg
from spca_interfaces.msg import PlanRequest as PlanRequestMsg
from spca_interfaces.msg import PlanResult as PlanResultMsg
from spca_interfaces.srv import Learned

from spca_core.errors import SpcaError
from spca_core.geometry import Pose
from spca_core.options import RunOptions
from spca_core.plan import CodeRequest, CodeResult, DraftRecord, PlanRequest, PlanResult
from spca_core.ports.chat import VisionModel
from spca_core.ports.environment import Environment
from spca_core.ports.stages import OnDraft, unheard
from spca_core.scene import Scene
from spca_core.stopping import Stop, never
from spca_core.trajectory import JointState
from spca_core.validation import first_problem
from spca_ros import names
from spca_ros.calls import ActionCall, ServiceCall
from spca_ros.convert.records import from_msg, pose_msg, to_msg
from spca_ros.convert.robot import joint_state_msg
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode

_R = TypeVar("_R", bound=BaseModel)
_ROUNDED = 0.01  # by which a rotation's quaternion may be longer or shorter than 1


class RosPlanner:
    """See `spca_core.ports.stages.Planner`. Raises what the planner's node says it could not begin with."""

    def __init__(self, node: SpcaNode, name: str = names.PLANNER) -> None:
        self._make_plan = ActionCall(node, MakePlan, names.of(name, names.MAKE_PLAN))
        self._learned = ServiceCall(node, Learned, names.of(name, names.LEARNED))

    def plan(self, request: PlanRequest, on_draft: OnDraft = unheard, cancelled: Stop = never) -> PlanResult:
        """Ask the planner's node for a plan; report every draft once, in order."""
        told: list[DraftRecord] = []

        def tell(draft: DraftRecord) -> None:
            told.append(draft)
            on_draft(draft)

        def on_feedback(message: MakePlan.Feedback) -> None:
            if message.attempt == request.attempt:
                tell(_record(DraftRecord, message.draft, self._make_plan))

        goal = MakePlan.Goal(request=to_msg(request, PlanRequestMsg()))
        answer = self._make_plan(goal, on_feedback, cancelled)
        result = _record(PlanResult, answer.result, self._make_plan)
        if result.status == "solved" and result.plan is None:
            raise self._make_plan.wrong("plan: is empty, though it is solved")
        for draft in result.drafts[len(told) :]:  # feedback that has not arrived
            tell(draft)
        return result

    def learned(self, request: PlanRequest, result: PlanResult) -> None:
        """Tell the planner's node that the plan has solved its level."""
        message = Learned.Request(
            request=to_msg(request, PlanRequestMsg()), result=to_msg(result, PlanResultMsg())
        )
        answer = self._learned(message)
        if not answer.success:
            raise SpcaError(f"the planner could not keep what it has learned: {answer.message}")


class RosCoder:
    """See `spca_core.ports.stages.Coder`. Raises what the coder's node says it could not begin with."""

    def __init__(self, node: SpcaNode, name: str = names.CODER) -> None:
        self._write = ActionCall(node, WriteSkills, names.of(name, names.WRITE_SKILLS))

    def complete(self, request: CodeRequest, cancelled: Stop = never) -> CodeResult:
        """Ask the coder's node for the skills that a plan needs."""
        answer = self._write(WriteSkills.Goal(request=to_msg(request, CodeRequestMsg())), cancelled=cancelled)
        result = _record(CodeResult, answer.result, self._write)
        try:
            ast.parse(result.library)
        except (SyntaxError, ValueError) as error:
            raise self._write.wrong(f"library: is no Python: {error}") from error
        return result


class RosSense:
    """Perception by somebody else's node: a picture is taken and perceived where that is."""

    def __init__(self, node: SpcaNode, name: str, joints: Sequence[str]) -> None:
        self._joints = joints
        self._perceive = ActionCall(node, Perceive, names.of(name, names.PERCEIVE))

    def __call__(self, held: str | None, tool: Pose | None, joints: JointState | None) -> Scene:
        """Return what is seen, given what is held, where the tool is, and the arm's joints."""
        goal = Perceive.Goal(
            held=held or "",
            tool=[pose_msg(tool)] if tool is not None else [],
            joints=[joint_state_msg(joints, self._joints)] if joints is not None else [],
        )
        scene = _record(Scene, self._perceive(goal).scene, self._perceive)
        for i, thing in enumerate(scene.objects):
            turned = abs(math.hypot(*thing.pose.quaternion) - 1.0) < _ROUNDED
            extended = all(0.0 < side < math.inf for side in thing.size)
            if not (turned and extended and all(map(math.isfinite, thing.pose.position))):
                raise self._perceive.wrong(f"objects.{i}: no pose or size that can be")
        if scene.stamp <= 0.0:
            raise self._perceive.wrong("header.stamp: is no time at which a picture was taken")
        return scene


def _record(kind: type[_R], answer: Any, call: ActionCall) -> _R:
    """Return the record that is in the answer of another node. Raises Lost where none is."""
    try:
        return from_msg(kind, answer)
    except ValidationError as error:
        raise call.wrong(first_problem(error)) from error


class RosSide(Protocol):
    """The nodes of an environment, made on one loop."""

    nodes: Sequence[SpcaNode]

    def __init__(self, loop: Loop, sense: str = "") -> None:
        """Make the nodes; `sense` names a node of somebody else's that perceives in place of the one here."""

    def build(
        self, options: RunOptions, vision: VisionModel | None, check: Callable[[], None], anew: bool
    ) -> Environment:
        """Build the environment of a run. `check` may raise while the world is waited for.

        Without `anew` nothing is laid: the table is taken as it is.
        """

    def using(self) -> AbstractContextManager[None]:
        """Keep the environment for oneself while the context lasts. Raises SpcaError while another has it."""

    def rest(self) -> None:
        """Stop all motion."""

    def part(self) -> None:
        """Close the environment that was built last; the nodes stay."""
