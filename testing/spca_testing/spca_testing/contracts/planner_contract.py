"""The contract of the port `Planner`."""

from __future__ import annotations

from spca_core.plan import DraftRecord, PlanRequest, PlanResult
from spca_core.ports.stages import Planner


class PlannerContract:
    """Subclass it with fixtures `planner` and `request_`.

    The request must be solvable with a plan of several steps.
    """

    def test_a_solved_request_has_a_plan(self, planner: Planner, request_: PlanRequest) -> None:
        """With steps, and the answer bears the request's attempt."""
        result = planner.plan(request_)
        assert (result.status, result.attempt) == ("solved", request_.attempt)
        assert result.plan is not None
        assert result.plan.steps

    def test_every_action_comes_with_its_whole_schema(self, planner: Planner, request_: PlanRequest) -> None:
        """Parentheses balanced, and as many parameters as the steps have arguments."""
        plan = planner.plan(request_).plan
        assert plan is not None
        schemas = {schema.name: schema for schema in plan.schemas}
        assert set(schemas) == {step.action for step in plan.steps}
        for schema in plan.schemas:
            assert schema.pddl.count("(") == schema.pddl.count(")") > 0
            assert ":effect" in schema.pddl
        for step in plan.steps:
            assert len(step.args) == len(schemas[step.action].parameters)

    def test_drafts_are_told_as_they_come(self, planner: Planner, request_: PlanRequest) -> None:
        """The accepted one last, and it is the one the plan was made from."""
        told: list[DraftRecord] = []
        result = planner.plan(request_, on_draft=told.append)
        assert tuple(told) == result.drafts
        assert [d.rejection is None for d in told] == [False] * (len(told) - 1) + [True]
        assert result.plan is not None
        assert told[-1].draft == result.plan.draft

    def test_it_can_be_cancelled(self, planner: Planner, request_: PlanRequest) -> None:
        """And works again afterwards."""
        result = planner.plan(request_, cancelled=lambda: True)
        assert (result.status, result.plan, result.attempt) == ("cancelled", None, request_.attempt)
        assert planner.plan(request_).status == "solved"

    def test_an_answer_survives_writing_and_reading(self, planner: Planner, request_: PlanRequest) -> None:
        """It goes to disk and over the wire."""
        result = planner.plan(request_)
        assert PlanResult.model_validate_json(result.model_dump_json()) == result

    def test_it_still_solves_what_it_has_learned(self, planner: Planner, request_: PlanRequest) -> None:
        """A success may be used for the next request of the task group."""
        planner.learned(request_, planner.plan(request_))
        result = planner.plan(request_)
        assert result.status == "solved"
        assert result.plan is not None
