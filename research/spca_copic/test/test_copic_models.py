"""What asks a language model: program writer, judge and step-by-step planner, with a scripted server."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from spca_benchmarks.campaigns.bench import Done
from spca_benchmarks.campaigns.page import Page
from spca_copic.baselines.adaplanner import AdaPlanner
from spca_copic.baselines.base import ChainOfThought, FewShots, Prospector, React, Reflexion, Vanilla
from spca_copic.baselines.judge import ModelJudge
from spca_copic.baselines.llm_dp import LlmDp
from spca_copic.baselines.repl_plan import ReplPlan
from spca_copic.bench import CopicBench, CopicRow, CopicTrial
from spca_copic.episode import ProgramChoice, SelectorChoice, run_episode
from spca_copic.evaluation import evaluate
from spca_copic.language_programs import LanguagePrograms
from spca_copic.pool import ProgramPool
from spca_copic.ports import ProgramProposer
from spca_copic.recipe import Recipe, TaskState, Trial
from spca_copic.run import open_world
from spca_core.errors import InputError
from spca_core.ports.proposer import ModelError
from spca_llm.chat import Chat
from spca_programs.factories import stand_in
from spca_programs.plan_world import (
    Case,
    Episode,
    PlanningProgram,
)
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


@pytest.fixture(params=["grammar", "language"])
def make(request: pytest.FixtureRequest, start: Start) -> Callable[[], ProgramProposer]:
    """A function that makes a writer of programs, each time the same."""
    return GrammarPrograms if request.param == "grammar" else lambda: LanguagePrograms(start(numbered)[1])


def test_a_proposer_writes_different_programs_for_a_seed_the_same_and_evolves_new_ones(
    make: Callable[[], ProgramProposer],
) -> None:
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


def test_evolution_sees_the_programs_and_their_troubles(start: Start) -> None:
    server, chat = start(numbered)
    wanted = CASE.model_copy(update={"detail": {"wanted": {"SCV": 13, "Thor": 1}}})
    hopeless = PlanningProgram(source=DEPOTS.replace("BUILD SupplyDepot", "TRAIN Thor"))
    with ProgramPool([hopeless], PATIENT_S) as pool:
        episode = run_episode(WORLD, wanted, pool, ProgramChoice(hopeless.id))
    (new,) = LanguagePrograms(chat).evolve(MEDIUM, [hopeless], [episode], 1, 0)
    text = server.requests[0].text
    assert "TRAIN Thor: it needs a Factory" in text and hopeless.source.strip() in text
    assert set(new.parents) == {hopeless.id}


def test_a_judge_chooses_by_number(start: Start) -> None:
    server, chat = start(lambda seen: Say("Plan 2 is best." if seen.index else "I like none."))
    judge = ModelJudge(chat, EASY)
    both = [PlanningProgram(source=DEPOTS), PlanningProgram(source=WORKERS)]
    with ProgramPool(both, PATIENT_S) as pool:
        episode = run_episode(WORLD, CASE, pool, SelectorChoice(judge, plain=True))
    assert len(episode.decisions) > 1 and episode.decisions[0].chosen == 0
    assert all(d.candidates[d.chosen].plan == ("TRAIN SCV",) for d in episode.decisions[1:])
    assert len(judge.usage) == len(server.requests) == len(episode.decisions)


def test_a_model_plans_step_by_step_or_at_once(start: Start) -> None:
    server, chat = start(
        lambda seen: Say("More workers.\nACTIONS: " + "; ".join(["TRAIN SCV"] * 2 + ["WAIT"] * 5))
    )
    assert run_episode(WORLD, CASE, React(chat, EASY), ProgramChoice("model")).success
    assert run_episode(WORLD, CASE, Vanilla(chat, EASY), ProgramChoice("model")).success
    assert "Think" not in server.requests[-1].text, "actions alone"
    before = len(server.requests)
    solved = played(ChainOfThought(chat, EASY))
    assert solved.success and len(server.requests) == before + 1
    _, chat = start(lambda seen: Say("ACTIONS: WAIT" if "A task that was solved" in seen.text else "Hm."))
    assert played(FewShots(chat, EASY, [solved])).ended == "no program had a plan: its plan has ended"
    assert "holds no actions" in run_episode(WORLD, CASE, React(chat, EASY), ProgramChoice("model")).ended


def test_prospector_follows_the_attempt_that_it_thinks_best(start: Start) -> None:
    """The second of three, which is the only one that is right; how an attempt ended is not told."""
    rated: list[str] = []

    def answer(seen: Seen) -> Behaviour:
        if "How likely" in seen.text:
            rated.append(seen.text)
            return Say("I say 9." if "Done: TRAIN SCV" in seen.text else "2 of 10: nothing was trained.")
        return Say("ACTIONS: " + ("TRAIN SCV; TRAIN SCV" if len(rated) == 1 else "BUILD SupplyDepot"))

    server, chat = start(answer)
    assert played(Prospector(chat, EASY)).success
    assert len(rated) == 3 and "Ask yourself" in server.requests[0].text
    assert not any("the time is up" in text or "success" in text for text in rated)


def test_reflexion_tries_again_with_what_it_said(start: Start) -> None:
    def answer(seen: Seen) -> Behaviour:
        if "in vain" in seen.text:
            return Say("Train workers.")
        return Say("ACTIONS: TRAIN SCV; TRAIN SCV; WAIT; WAIT" if "Train workers." in seen.text else "Hm.")

    server, chat = start(answer)
    with closing(Reflexion(chat, EASY)) as plans:
        for _ in range(2):
            assert plans.play(WORLD, CASE, ProgramChoice("model")).success
    assert len(server.requests) == 6, "another case begins without the words of the first"


def test_adaplanner_refines_its_program_where_it_went_wrong_and_keeps_what_worked(start: Start) -> None:
    def answer(seen: Seen) -> Behaviour:
        if "KeyError" in seen.text:
            return fenced(WORKERS.replace("SCV", "Thor"))
        known = "Thor: it needs" in seen.text or "solved another task" in seen.text
        return fenced(
            WORKERS if known else WORKERS.replace("return", "return observation['no such thing'] +")
        )

    server, chat = start(answer)
    with closing(AdaPlanner(chat, EASY, (), PATIENT_S)) as plans:
        assert plans.play(WORLD, CASE, ProgramChoice("model")).success
        assert len(server.requests) == 3, "a program that raises, one that is refused, one that works"
        assert plans.play(WORLD, CASE, ProgramChoice("model")).success
        assert len(server.requests) == 4


def test_repl_plan_works_in_sessions_that_act_ask_and_open_others(start: Start) -> None:
    cells = {
        "Nothing yet": "for n in range(2):\n    train(ask('Which unit?').strip())\nworkers[0]",
        "NameError: name 'workers'": "while True:\n    act('WAIT')",
    }

    def reply(seen: Seen) -> Behaviour:
        if "Answer it" in seen.text:
            return Say("SCV\n")
        if "made by" in seen.text:
            return fenced("act('TRAIN SCV')\nanswer([1, 2])\n")
        return fenced(next(cell for words, cell in cells.items() if words in seen.text.split("far\n")[-1]))

    server, chat = start(reply)
    episode = played(ReplPlan(chat, EASY, (), PATIENT_S))
    assert episode.success, episode.ended
    assert [d.candidates[0].plan for d in episode.decisions][:3] == [("TRAIN SCV",)] * 2 + [("WAIT",)]
    assert len(server.requests) == 6, "three cells, two facts, and the cell of each call of `train`"
    assert "How such a call was carried out before" in server.requests[4].text
    assert "NameError: name 'workers'" in server.requests[5].text


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


DOMAIN = """```pddl
(define (domain economy) (:requirements :strips) (:predicates (enough) (more) (built))
  (:action WAIT :parameters () :precondition (and {}) :effect (and (more)))
  (:action TRAIN_SCV :parameters () :precondition (more) :effect (enough)))
```
"""
STATE = "```pddl\n(:objects) (:init {})\n```\n"


def test_llm_dp_follows_the_shortest_plan_of_what_the_model_believes(start: Start) -> None:
    goal = "```pddl\n(:goal (enough))\n```\n"

    def answer(seen: Seen) -> Behaviour:
        if seen.index == 0:
            return Say(DOMAIN.format("(nonsense)") + goal + STATE.format("(built)"))
        if "Your goal so far" in seen.text and "nonsense" in seen.text.split("went wrong here")[-1]:
            return Say(DOMAIN.format("(built)") + STATE.format("(built)") + STATE.format("(built) (more)"))
        return Say(STATE.format("(built)"))

    server, chat = start(answer)
    with closing(LlmDp(chat, EASY)) as plans:
        episode = plans.play(WORLD, CASE, ProgramChoice("model"))
        assert episode.success, episode.ended
        followed = [d.candidates[0].plan for d in episode.decisions]
        assert followed[:2] == [("TRAIN SCV",), ("WAIT", "TRAIN SCV")], "one state is nearer to the goal"
        asked = len(server.requests)
        assert asked == 1 + len(followed), "one refusal, and a question for each plan"
        plans.play(WORLD, CASE, ProgramChoice("model"))
    assert "Your domain so far" in server.requests[asked].text, "the domain is for all cases"
    assert "Your goal so far" not in server.requests[asked].text, "the goal for one"


def test_a_comparison_counts_tokens_and_a_test_costs_none(start: Start, tmp_path: Path) -> None:
    _, chat = start(lambda seen: Say("2", usage=(30, 1)))
    both = (PlanningProgram(source=DEPOTS), PlanningProgram(source=WORKERS))
    state = TaskState(task="easy", programs=both, all_programs=both)
    recipe = Recipe(deadline_s=PATIENT_S)
    scores = evaluate(WORLD, state, HashedSelector(), recipe, [CASE], ("selector", "judge", "react"), chat)
    by = {s.policy.split(" (")[0]: s for s in scores}
    assert by["selector"].tokens == by["selector"].calls == 0
    assert by["model as judge"].tokens == 31 * by["model as judge"].calls > 0
    trial = Trial(number=1, programs=("p",), success=0.5, score=1.0, steps=9)
    row = CopicRow(scores=tuple(scores), train_seconds=1, diversity=0.25, trials=(trial,))
    page = Page("the grammar's programs, with two policies that ask a model")
    CopicBench(policies=("judge", "vanilla")).report(
        [Done(CopicTrial(world="build_order", task="easy", seed=0), row)], page
    )
    text = page.write(tmp_path / "page.html").read_text()
    assert "CoPiC (LaJ)" in text and "GPT-3.5" in text, "published beside the policies that were asked"
    assert "CoPiC (Ours)" not in text and "AdaPlanner" not in text, "and beside no others"
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
