"""The drafting loop, with real critics and proposers that are told what to draft."""

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from spca_core.errors import BudgetExhausted
from spca_core.plan import Draft, DraftRecord, PlanRequest, Rejection
from spca_core.ports.proposer import ModelError, PlanProposer
from spca_planner.pddl.syntax import with_actions
from spca_planner.planner import DraftingPlanner
from spca_planner.solver.process import SolverProcess
from spca_planner.trusted import TrustedDomains
from spca_tabletop.plan.problem import domain
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.observations import scene, task

REQUEST = PlanRequest(
    attempt="7", task=task("Stack the red cube on the blue cube."), observation=scene(), skills=()
)
AGAIN = REQUEST.model_copy(update={"task": REQUEST.task.model_copy(update={"title": "Once more"})})
GOOD = BuiltinProposer().draft(REQUEST, None, None)
USED = GOOD.model_copy(update={"domain": with_actions(GOOD.domain, ("pick_up", "stack_on"))})
"""The same draft, with nothing in its domain but what its plan uses."""
UNREADABLE = GOOD.model_copy(update={"domain": GOOD.domain[:-20]})
UNSOLVABLE = GOOD.model_copy(update={"domain": GOOD.domain.replace("(holding ?c)\n      (not", "(not")})


class Scripted(PlanProposer):
    """A proposer that returns its drafts in order, then repeats the last one, and records requests."""

    name = "scripted"

    def __init__(self, *script: Draft | Exception) -> None:
        self.script = script
        self.asked: list[tuple[PlanRequest, Draft | None, Rejection | None]] = []

    def draft(self, request: PlanRequest, previous: Draft | None, rejection: Rejection | None) -> Draft:
        self.asked.append((request, previous, rejection))
        item = self.script[min(len(self.asked), len(self.script)) - 1]
        if isinstance(item, Exception):
            raise item
        return item


@pytest.fixture(scope="module")
def solver() -> Iterator[SolverProcess]:
    with SolverProcess((domain(),)) as process:
        yield process


Make = Callable[..., DraftingPlanner]


@pytest.fixture
def make(solver: SolverProcess, tmp_path: Path) -> Make:
    def planner(*proposers: object, **options: object) -> DraftingPlanner:
        trusted = TrustedDomains(tmp_path / "domains")
        one = proposers[0] if proposers else BuiltinProposer()
        return DraftingPlanner("tabletop", one, trusted, TabletopVocabulary(), solver=solver, **options)  # type: ignore[arg-type]

    return planner


def statuses(records: Sequence[DraftRecord]) -> list[tuple[str, str]]:
    return [(r.mode, r.rejection.critic if r.rejection else "") for r in records]


def test_rejections_go_back_to_the_proposer_until_it_gets_it_right(make: Make) -> None:
    proposer = Scripted(UNREADABLE, UNSOLVABLE, GOOD)
    told: list[DraftRecord] = []
    result = make(proposer).plan(REQUEST, told.append)
    assert result.status == "solved"
    assert statuses(result.drafts) == [("fresh", "parse"), ("repair", "solve"), ("repair", "")]
    asked = [(request.mode, previous, r and r.critic) for request, previous, r in proposer.asked]
    assert asked == [("fresh", None, None), ("repair", UNREADABLE, "parse"), ("repair", UNSOLVABLE, "solve")]
    assert "holding" in proposer.asked[2][2].message
    assert told == list(result.drafts)


def test_a_place_without_room_is_told_before_anything_moves(make: Make) -> None:
    """A plate covered it: the arm moved first, and a round was lost. The environment's own makes room."""
    whys = iter(["no free place 5 cm left of it: the blue plate is in the way", ""])
    first = GOOD.model_copy(update={"goals": ()})
    second = first.model_copy(update={"problem": f"{GOOD.problem}; elsewhere"})
    result = make(Scripted(first, second), no_room=lambda *_: next(whys)).plan(REQUEST)
    assert statuses(result.drafts) == [("fresh", "scene"), ("repair", "")]
    assert result.drafts[0].rejection.message.endswith("the blue plate is in the way")
    assert make(no_room=lambda *_: "full").plan(REQUEST).status == "solved"


def test_the_budget_bounds_the_drafts_and_what_failed_teaches_nothing(make: Make, tmp_path: Path) -> None:
    drafts = [UNREADABLE.model_copy(update={"problem": f"; {i}"}) for i in range(20)]
    result = make(Scripted(*drafts), budget=4).plan(REQUEST)
    assert (result.status, result.plan, len(result.drafts)) == ("exhausted", None, 4)
    assert "4 drafts were rejected; last: " in result.message
    make().learned(REQUEST, result)
    assert TrustedDomains(tmp_path / "domains").in_group("tabletop", REQUEST.task.group) == (), "in vain"


def test_a_proposer_that_repeats_itself_is_not_asked_eight_times(make: Make) -> None:
    result = make(Scripted(UNREADABLE)).plan(REQUEST)
    assert [r.rejection.critic for r in result.drafts if r.rejection] == ["parse", "draft", "draft"]
    assert "nothing new" in result.message and "never closed" in result.message
    result = make(Scripted(UNREADABLE, UNREADABLE, UNSOLVABLE, UNSOLVABLE, GOOD)).plan(REQUEST)
    critics = [critic for _, critic in statuses(result.drafts)]
    assert critics == ["parse", "draft", "solve", "draft", ""], "twice in a row is too often"


def test_a_failing_model_costs_a_draft_and_the_mode_stays(make: Make) -> None:
    result = make(Scripted(ModelError("no answer", kind="timeout"), GOOD)).plan(REQUEST)
    assert statuses(result.drafts) == [("fresh", "model"), ("fresh", "")]
    result = make(Scripted(ModelError("no answer")), budget=3).plan(REQUEST)
    assert result.status == "exhausted" and result.message.endswith("last: no answer")
    with pytest.raises(BudgetExhausted):  # that of the level is for the caller
        make(Scripted(BudgetExhausted("tokens"))).plan(REQUEST)


def test_cancelling_does_not_wait_for_a_slow_proposer(make: Make) -> None:
    release, waited = threading.Event(), list[bool]()
    polls = itertools.count()

    class Slow(PlanProposer):
        name = "slow"

        def draft(self, *_: object) -> Draft:
            waited.append(release.wait(30))
            return GOOD

    result = make(Slow()).plan(REQUEST, cancelled=lambda: next(polls) > 1)
    assert result.status == "cancelled" and not waited
    release.set()


def test_success_makes_a_domain_trusted_and_reused(make: Make, tmp_path: Path) -> None:
    planner = make()
    planner.learned(REQUEST, planner.plan(REQUEST))
    trusted = TrustedDomains(tmp_path / "domains")
    (kept,) = trusted.in_group("tabletop", REQUEST.task.group)
    assert (kept.text, kept.solved) == (USED.domain, (REQUEST.task.id,))

    proposer = Scripted(USED)
    again = make(proposer)
    result = again.plan(AGAIN)
    assert statuses(result.drafts) == [("reuse", "")]
    assert proposer.asked[0][0].mode == "reuse"
    assert proposer.asked[0][1] == Draft(domain=USED.domain, problem="")
    again.learned(AGAIN, result)
    assert [d.text for d in trusted.in_group("tabletop", REQUEST.task.group)] == [USED.domain]
    said = AGAIN.model_copy(update={"task": AGAIN.task.model_copy(update={"judge": "look"})})
    assert statuses(make().plan(said).drafts) == [("fresh", "")], "sentences are no group"
    failing = Scripted(USED.model_copy(update={"problem": "(define"}), USED)
    assert statuses(make(failing).plan(AGAIN).drafts) == [("reuse", "parse"), ("repair", "")]


def test_a_replan_tells_what_failed_and_what_was_tried_and_each_mode_has_its_own_proposer(make: Make) -> None:
    again = {"mode": "replan", "failure": "the cube slipped", "previous": UNSOLVABLE}
    big, small = Scripted(UNREADABLE), Scripted(GOOD)
    planner = make({"fresh": small, "replan": big, "reuse": small, "repair": small})
    result = planner.plan(REQUEST.model_copy(update=again))
    assert statuses(result.drafts) == [("replan", "parse"), ("repair", "")]
    request, previous, rejection = big.asked[0]
    assert (request.failure, previous, rejection) == ("the cube slipped", UNSOLVABLE, None)


def test_what_a_conversation_s_words_name_is_for_the_model_to_say(make: Make) -> None:
    """With "stack them" it is the two cubes of the sentence before, not all that there are."""
    text = GOOD.problem.replace("(:goal", "(:goal (on cube_red cube_green)) ;", 1)
    other = GOOD.model_copy(update={"problem": text, "goals": ()})
    said = ("user: touch the red cube and the green one", "robot: success: touched", "user: stack them")
    talk = REQUEST.task.model_copy(update={"conversation": said})
    result = make(Scripted(other)).plan(REQUEST.model_copy(update={"task": talk}))
    assert result.status == "solved"
    assert "does not mention" in str(make(Scripted(other)).plan(REQUEST).drafts[0].rejection)
