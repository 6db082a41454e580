"""The contract of the port `PlanProposer`."""

from __future__ import annotations

import pytest

from spca_core.plan import Draft, PlanRequest, Rejection
from spca_core.ports.proposer import Impossible, ModelError, NotUnderstood, PlanProposer


class PlanProposerContract:
    """Subclass it with fixtures `proposer` and `request_`, a request that it can draft for."""

    def test_it_has_a_name(self, proposer: PlanProposer) -> None:
        """For records."""
        assert proposer.name

    def test_a_draft_is_a_domain_and_a_problem(self, proposer: PlanProposer, request_: PlanRequest) -> None:
        """As PDDL text; whether it is any good is for critics."""
        draft = proposer.draft(request_, None, None)
        assert draft.domain.replace(" ", "").find("(define(domain") >= 0
        assert draft.problem.replace(" ", "").find("(define(problem") >= 0

    def test_the_problem_is_about_what_was_observed(
        self, proposer: PlanProposer, request_: PlanRequest
    ) -> None:
        """At least one of its objects is named."""
        draft = proposer.draft(request_, None, None)
        assert any(symbol in draft.domain + draft.problem for symbol in request_.observation.objects)

    @pytest.mark.parametrize("mode", ["replan", "repair"])
    def test_it_takes_the_last_draft_and_what_was_wrong_with_it(
        self, proposer: PlanProposer, request_: PlanRequest, mode: str
    ) -> None:
        """Of any length."""
        first = proposer.draft(request_, None, None)
        long = Draft(domain=first.domain + "\n; x" * 20_000, problem=first.problem)
        again = request_.model_copy(update={"mode": mode, "failure": "it fell " * 5000})
        rejection = Rejection(critic="parse", message="line 1: no " * 5000)
        assert isinstance(proposer.draft(again, long, rejection), Draft)

    def test_nonsense_is_refused_or_drafted_but_never_breaks(
        self, proposer: PlanProposer, request_: PlanRequest
    ) -> None:
        """With one of the port's own exceptions."""
        task = request_.task.model_copy(update={"title": "", "description": "Frobnicate ((( ;\n the wug."})
        try:
            draft = proposer.draft(request_.model_copy(update={"task": task}), None, None)
        except (NotUnderstood, Impossible, ModelError) as refusal:
            assert str(refusal)
        else:
            assert isinstance(draft, Draft)
