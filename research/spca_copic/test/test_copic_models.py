"""What asks a language model: program writer, judge and step-by-step planner, with a scripted server."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from spca_copic.baselines.adaplanner import AdaPlanner
from spca_copic.baselines.base import ChainOfThought, FewShots, React
from spca_copic.baselines.repl_plan import ReplPlan
from spca_copic.episode import ProgramChoice, SelectorChoice, run_episode
from spca_copic.evaluation import evaluate
from spca_copic.language_programs import LanguagePrograms
from spca_copic.pool import ProgramPool
from spca_copic.ports import ProgramProposer
from spca_copic.recipe import WITH_MODEL, Recipe, TaskState
from spca_copic.run import open_world
from spca_core.errors import InputError
from spca_core.ports.proposer import ModelError
from spca_llm.chat import Chat
from spca_programs.factories import stand_in
from spca_programs.plan_world import Case, Episode, PlanningProgram
from spca_testing.models.behaviours import Behaviour, Say
from spca_testing.models.server import ModelServer, Seen

GrammarPrograms, HashedSelector = stand_in("grammar"), stand_in("hashed")
WORLD = open_world("build_order")
CASE = Case(task="easy", name="few", detail={"wanted": {"SCV": 14}})
WORKERS = "def plan(observation, actions, task):\n    return ['TRAIN SCV']\n"
DEPOTS = "def plan(observation, actions, task):\n    return ['BUILD SupplyDepot']\n"
PATIENT_S = 5.0
MEDIUM, EASY = WORLD.briefing("medium"), WORLD.briefing("easy")

Start = Callable[..., tuple[ModelServer, Chat]]
"""See the fixture `start`."""


def played(plans: Any) -> Episode:
    """An episode of one that asks a model at every step."""
    with closing(plans):
        return plans.play(WORLD, CASE, ProgramChoice("model"))


def numbered(seen: Seen) -> Behaviour:
    """A program that is another one at every request."""
    return fenced(f"# draft {seen.index}\n{WORKERS}")


def fenced(source: str) -> Say:
    return Say(f"Here it is.\n```python\n{source}```\n", usage=(100, 50))


@pytest.mark.parametrize("writer", ["grammar", "language"])
def test_a_proposer_writes_different_programs_for_a_seed_the_same_and_evolves_new_ones(
    writer: str, start: Start
) -> None:
    def make() -> ProgramProposer:
        return GrammarPrograms() if writer == "grammar" else LanguagePrograms(start(numbered)[1])

    proposer = make()
    programs = proposer.write(MEDIUM, 3, 0)
    new = proposer.evolve(MEDIUM, programs, [], 2, 1)
    assert len({program.id for program in [*programs, *new]}) == 5
    assert all(p.proposer and "def plan(" in p.source for p in [*programs, *new])
    assert make().write(MEDIUM, 2, 5) == make().write(MEDIUM, 2, 5)


def test_what_does_not_load_is_sent_back_and_usage_is_counted(start: Start) -> None:
    server, chat = start([fenced("def plan(x): return []\n"), fenced(WORKERS)])
    proposer = LanguagePrograms(chat)
    (program,) = proposer.write(MEDIUM, 1, 0)
    assert program.source == WORKERS and program.remark == "by test-model"
    assert "`plan` takes x" in server.requests[1].text
    assert (proposer.usage.input_tokens, proposer.usage.output_tokens) == (200, 100)
    assert "Thor" in server.requests[0].text and "TRAIN Marine" in server.requests[0].text


def test_a_model_that_never_gives_a_program_is_an_error_at_first_and_none_later(start: Start) -> None:
    _, chat = start(lambda seen: Say("I would rather not."))
    with pytest.raises(ModelError, match="no usable program"):
        LanguagePrograms(chat).write(MEDIUM, 1, 0)
    assert LanguagePrograms(chat).evolve(MEDIUM, [PlanningProgram(source=WORKERS)], [], 2, 0) == []


def test_a_model_plans_step_by_step_or_at_once_or_from_what_was_solved(start: Start) -> None:
    plan = "; ".join(["TRAIN SCV"] * 2 + ["WAIT"] * 5)
    server, chat = start(lambda seen: Say(f"More workers.\nACTIONS: {plan}"))
    solved = played(ChainOfThought(chat, EASY))
    assert solved.success and len(server.requests) == 1
    asked, chat = start(lambda seen: Say("One more worker.\nACTIONS: TRAIN SCV"))
    assert played(React(chat, EASY)).success and len(asked.requests) > 1
    again, chat = start(lambda seen: Say("ACTIONS: WAIT"))
    assert played(FewShots(chat, EASY, [solved])).ended == "no program had a plan: its plan has ended"
    assert "A task that was solved" in again.requests[0].text


@pytest.mark.parametrize(
    ("method", "answer", "ended"),
    [
        (ReplPlan, "def f(:", "no action within"),
        (ReplPlan, "raise _Pause()", "no action within"),
        (AdaPlanner, "def plan(observation, actions, task):\n    return ['ask why']", "5 questions in a row"),
    ],
)
def test_a_program_that_never_acts_ends_the_episode(
    start: Start, method: Any, answer: str, ended: str
) -> None:
    server, chat = start(lambda seen: Say("Why.") if "Answer it" in seen.text else fenced(answer + "\n"))
    assert ended in played(method(chat, EASY, (), PATIENT_S)).ended
    assert len(server.requests) < 90, "in three tries"


def test_a_comparison_counts_tokens_and_a_test_costs_none(start: Start) -> None:
    _, chat = start(lambda seen: Say("2", usage=(30, 1)))
    both = (PlanningProgram(source=DEPOTS), PlanningProgram(source=WORKERS))
    state = TaskState(task="easy", programs=both, all_programs=both)
    recipe = Recipe(deadline_s=PATIENT_S)
    policies = ("selector", *WITH_MODEL)  # a model that understands nothing ends none with an exception
    scores = evaluate(WORLD, state, HashedSelector(), recipe, [CASE], policies, chat)
    by = {s.policy.split(" (")[0]: s for s in scores}
    assert len(by) == len(policies)
    assert [policy for policy, score in by.items() if not score.calls] == ["selector"]
    assert by["selector"].tokens == 0
    assert by["model as judge"].tokens == 31 * by["model as judge"].calls > 0
    with pytest.raises(InputError, match="asks a language model"):
        evaluate(WORLD, state, HashedSelector(), recipe, [CASE], ("judge",))


def test_programs_that_fail_are_masked_and_equal_plans_merged() -> None:
    sources = {
        "first": WORKERS,
        "same": "# another text\n" + WORKERS,
        "empty": "def plan(observation, actions, task):\n    return []\n",
        "broken": "def plan(observation, actions, task):\n    return observation['no such thing']\n",
        "endless": "def plan(observation, actions, task):\n    while True: pass\n",
        "hostile": "import os\ndef plan(observation, actions, task):\n    return [os.getcwd()]\n",
        "long": "def plan(observation, actions, task):\n    return ['WAIT'] * 50\n",
    }
    programs = {name: PlanningProgram(source=source) for name, source in sources.items()}
    with ProgramPool(list(programs.values()), 0.1) as pool:
        candidates, problems = pool.propose(WORLD.reset(CASE), [])
        assert [c.plan for c in candidates] == [("TRAIN SCV",), ("WAIT",) * 5]
        assert candidates[0].programs == (programs["first"].id, programs["same"].id)
        told = {name: problems[p.id] for name, p in programs.items() if p.id in problems}
        assert told["empty"] == "an empty plan"
        assert "KeyError" in told["broken"] and told["endless"].startswith("timeout")
        assert "'os' may not be imported" in told["hostile"]
        with pytest.raises(InputError, match="cannot be used"):
            pool.check()
    bad = PlanningProgram(source=WORKERS.replace("SCV", "Thor"))
    with ProgramPool([bad, programs["first"]], PATIENT_S) as pool:  # untrained: the first of equals
        episode = run_episode(WORLD, CASE, pool, SelectorChoice(HashedSelector()))
    assert episode.success, "what has just failed is not repeated"


def test_only_what_the_grammar_makes_runs_outside_the_sandbox() -> None:
    trusted = Recipe().trusted(MEDIUM)
    own = GrammarPrograms().write(MEDIUM, 1, 0)[0]
    forged = own.model_copy(update={"source": own.source + "import os\n"})
    assert trusted(own) and not trusted(forged) and not Recipe(proposer="model").trusted(MEDIUM)(own)
    other = own.fragments | {"goals": "none such"}
    assert not trusted(own.model_copy(update={"fragments": other}))
    situation = WORLD.reset(CASE)
    with (
        ProgramPool([own, forged], PATIENT_S, trusted) as direct,
        ProgramPool([own], PATIENT_S) as safe,
    ):
        candidates, problems = direct.propose(situation, [])
        assert "'os' may not be imported" in problems[forged.id]
        assert candidates == safe.propose(situation, [])[0]
