"""Whatever a model does wrong, a run recovers within its budgets or ends with a clear verdict."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from spca_core.errors import EXIT_NOT_SOLVED, EXIT_SUCCESS
from spca_core.options import Budgets
from spca_core.plan import Draft
from spca_testing.damage import damaged
from spca_testing.models.behaviours import Behaviour, Raw, Say, Stall, Status, cut_off, refuse
from spca_testing.models.fallible_model import (
    CODER,
    CoderFault,
    FallibleModel,
    PlannerFault,
    drafted,
    miswritten,
    written,
)
from spca_testing.models.model_run import ModelRun, Script, run_with_model

pytestmark = pytest.mark.slow

LEVEL = "touch_02"
QUICK = {"attempts": 2, "wait_s": 0.01, "max_wait_s": 0.1}
SMALL_BUDGET = Budgets(rounds=2, drafts=2, code_drafts=2, code_retries=1)


def run(script: Script, tmp_path: Path, **options: object) -> ModelRun:
    settings = {**QUICK, **options.pop("settings", {})}  # type: ignore[dict-item]
    return run_with_model(LEVEL, script, tmp_path, settings=settings, **options)  # type: ignore[arg-type]


# --- faults that pass: recovery -----------------------------------------------------------------------------

SERVER_FAULTS: dict[str, Behaviour] = {
    "refusal": refuse(),
    "cut off": cut_off('{"domain": "(define'),
    "not the API": Raw(b"<html>Bad gateway</html>", "text/html"),
    "429 for long": Status(429, "slow down", headers={"retry-after": "3600"}),
}

SKILL_FAULTS: dict[str, tuple[CoderFault, str]] = {
    "too high": (miswritten("tool.z, tool.yaw)", "tool.z + 0.05, tool.yaw)"),
                 "(touched cube_blue), which nothing can show"),
    "raises": (miswritten("ctx.close()", "raise RuntimeError('the fingers hurt')"), "the fingers hurt"),
    "waits for ever": (miswritten("ctx.close()", "while True:\n        ctx.wait(5.0)"),
                       "still running when the time was over"),
}  # fmt: skip


def test_a_server_s_faults_pass_and_skills_that_fail_are_repaired(tmp_path: Path) -> None:
    """Each role meets each fault twice, because the client retries; then the loop goes on."""
    faults = [fault for fault in SERVER_FAULTS.values() for _ in range(2)]
    model = FallibleModel(faults, [*faults, *(fault for fault, _ in SKILL_FAULTS.values())])
    budgets = Budgets(drafts=30, code_drafts=30, code_retries=len(SKILL_FAULTS))
    ended = run(model, tmp_path, budgets=budgets)
    assert ended.result.success, ended.result.reason
    assert {critic for critic, _ in ended.plan_rejections()} == {"model"}
    assert len(ended.code_rejections()) >= len(SERVER_FAULTS)
    assert (ended.result.rounds, ended.result.coder.semantic) == (1, len(SKILL_FAULTS))
    assert len(ended.acts()) == len(SKILL_FAULTS) + 1
    repairs = ended.asked(CODER)[-len(SKILL_FAULTS) :]
    for (name, (_, words)), repair in zip(SKILL_FAULTS.items(), repairs, strict=True):
        assert words in repair, name


def spoilt(number: int) -> tuple[PlannerFault, CoderFault]:
    """A planner's and a coder's good answer, damaged: inside, where it still is JSON, or as a whole."""
    dice = random.Random(number)

    def harm(text: str) -> str:
        return damaged(text.encode(), dice).decode(errors="replace")

    def plan(draft: Draft) -> Behaviour:
        where = dice.choice(["domain", "problem", ""])
        if where:
            return drafted(draft.model_copy(update={where: harm(getattr(draft, where))}))
        return Say(harm(json.dumps(draft.model_dump(mode="json"))))

    return (
        plan,
        lambda source: written(harm(source)) if number % 4 else Say(harm(f"```python\n{source}\n```")),
    )


def test_no_answer_of_a_model_breaks_a_run(
    tmp_path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    """Whatever it says: the level is solved, or it is not."""
    record_property("tried", count := max(10, pytestconfig.getoption("mutations") // 25))
    planner, coder = zip(*map(spoilt, range(count)), strict=True)
    budgets = Budgets(drafts=count + 1, code_drafts=count + 1, code_retries=count)
    ended = run(FallibleModel(planner, coder), tmp_path, budgets=budgets)
    assert ended.result.exit_status in (EXIT_SUCCESS, EXIT_NOT_SOLVED)
    assert len(ended.plan_rejections()) + len(ended.code_rejections()) > count / 2


# --- faults that stay: a clear verdict ----------------------------------------------------------------------


def always(planner: PlannerFault | None = None, coder: CoderFault | None = None) -> FallibleModel:
    return FallibleModel([planner] * 99 if planner else [], [coder] * 99 if coder else [])


HOPELESS: dict[str, tuple[FallibleModel, str]] = {
    "a planner that refuses": (always(refuse("I must not.")), "refused: I must not."),
    "a coder that stalls": (always(coder=Stall()), "2 requests in a row had no answer; the last: model"),
    "a skill that never works": (
        always(coder=miswritten("tool.z, tool.yaw)", "tool.z + 0.05, tool.yaw)")),
        "cobot touches blue cube",
    ),
}


@pytest.mark.parametrize("name", HOPELESS)
def test_a_model_that_never_gets_it_right_ends_in_a_clear_verdict(name: str, tmp_path: Path) -> None:
    model, words = HOPELESS[name]
    patience = {"timeout_s": 2.0} if "stalls" in name else {}  # else a busy machine would stall, too
    ended = run(model, tmp_path, budgets=SMALL_BUDGET, settings=patience)
    assert (ended.result.outcome, ended.result.exit_status) == ("gave_up", 1)
    assert ended.result.rounds == (1 if "stalls" in name else 2)  # where nothing is answered
    assert words in ended.result.reason
    assert ended.result.skills.promoted == ()
    assert not list(tmp_path.rglob("skills/*/*.py"))  # what failed is not learned


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({"tokens": 1500}, "1500 tokens are used up"),
        ({"seconds": 1.0}, "1 s for language models are over"),
    ],
)
def test_a_spent_budget_ends_the_level(budget: dict[str, float], words: str, tmp_path: Path) -> None:
    """In the middle of planning, in the middle of coding: no crash, and everything used is counted."""
    coder: list[CoderFault] = [Stall()] * 9 if "seconds" in budget else [miswritten("ctx", "ctx(")] * 9
    ended = run(FallibleModel(coder=coder), tmp_path, settings={"budget": budget, "timeout_s": 9})
    assert (ended.result.outcome, ended.result.exit_status) == ("gave_up", 1)
    assert words in ended.result.reason
    assert "seconds" in budget or ended.result.usage["planner_big"].input_tokens == 1000
