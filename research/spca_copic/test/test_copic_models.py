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
from spca_copic.bench import CopicBench, CopicRow, CopicTrial, _policies
from spca_copic.episode import ProgramChoice, SelectorChoice, run_episode
from spca_copic.evaluation import evaluate
from spca_copic.language_programs import LanguagePrograms
from spca_copic.pool import ProgramPool
from spca_copic.ports import ProgramProposer
from spca_copic.recipe import Recipe, TaskState, Trial
from spca_copic.run import CopicFolder, CopicRun, open_world
from spca_copic.training import train_task
from spca_core.errors import InputError
from spca_core.ports.proposer import ModelError
from spca_llm.chat import Chat
from spca_programs.factories import stand_in
from spca_programs.plan_world import (
    Candidate,
    Case,
    ChoiceContext,
    Decision,
    Episode,
    PlanningProgram,
    Remark,
)
from spca_testing.models.behaviours import Behaviour, Say, Status
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


def test_a_proposer_writes_different_programs_and_for_a_seed_the_same(
    make: Callable[[], ProgramProposer],
) -> None:
    """As many as wanted, each with the function that is called."""
    programs = make().write(MEDIUM, 3, 0)
    assert len({program.id for program in programs}) == 3
    assert all(program.proposer and "def plan(" in program.source for program in programs)
    assert make().write(MEDIUM, 2, 5) == make().write(MEDIUM, 2, 5)


def test_a_proposer_evolves_new_programs(make: Callable[[], ProgramProposer]) -> None:
    """None of them is an old one; they know their trial."""
    proposer = make()
    programs = proposer.write(MEDIUM, 2, 0)
    new = proposer.evolve(MEDIUM, programs, [failed(programs[0])], 2, 1)
    assert len(new) == 2
    assert not {program.id for program in new} & {program.id for program in programs}
    assert all(program.trial == 1 and "def plan(" in program.source for program in new)


def failed(program: PlanningProgram) -> Episode:
    """An episode in which a program's plan met a failed precondition."""
    decision = Decision(
        context=ChoiceContext(instruction="Do it.", facts=(), text="Nothing is done."),
        candidates=(Candidate(plan=("do it",), programs=(program.id,)),),
        chosen=0,
        probabilities=(1.0,),
        value=0.0,
        reward=0.0,
        remarks=(Remark(kind="precondition", text="do it: it lacks a hammer"),),
    )
    return Episode(
        case=Case(task="any", name="1"), decisions=(decision,), success=False, ended="the time is up"
    )


def test_what_does_not_load_is_sent_back_and_usage_is_counted(start: Start) -> None:
    server, chat = start([fenced("def plan(x): return []\n"), fenced(WORKERS)])
    proposer = LanguagePrograms(chat)
    (program,) = proposer.write(MEDIUM, 1, 0)
    assert program.source == WORKERS and program.remark == "by test-model"
    assert "`plan` takes x" in server.requests[1].text
    assert (proposer.usage.input_tokens, proposer.usage.output_tokens) == (200, 100)
    assert "Thor" in server.requests[0].text and "TRAIN Marine" in server.requests[0].text


def test_a_model_that_never_gives_a_program_is_an_error_at_first_and_none_later(start: Start) -> None:
    with pytest.raises(ModelError, match="no usable program"):
        LanguagePrograms(start(lambda seen: Say("I would rather not."))[1]).write(MEDIUM, 1, 0)
    old = PlanningProgram(source=WORKERS)
    assert LanguagePrograms(start(lambda seen: Status(400))[1]).evolve(MEDIUM, [old], [], 2, 0) == []


def test_evolution_sees_the_programs_and_their_troubles(start: Start) -> None:
    server, chat = start(numbered)
    old = PlanningProgram(source=DEPOTS)
    wanted = CASE.model_copy(update={"detail": {"wanted": {"SCV": 13, "Thor": 1}}})
    hopeless = PlanningProgram(source=DEPOTS.replace("BUILD SupplyDepot", "TRAIN Thor"))
    with ProgramPool([hopeless], PATIENT_S) as pool:
        episode = run_episode(WORLD, wanted, pool, ProgramChoice(hopeless.id))
    (new,) = LanguagePrograms(chat).evolve(MEDIUM, [old, hopeless], [episode], 1, 0)
    text = server.requests[0].text
    assert "TRAIN Thor: it needs a Factory" in text and "not solved" in text and DEPOTS.strip() in text
    assert " times in a row)" in text
    assert set(new.parents) == {old.id, hopeless.id}


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
    server, chat = start(lambda seen: Say("More workers.\nACTIONS: TRAIN SCV; TRAIN SCV; WAIT; WAIT"))
    plans = React(chat, EASY)
    assert run_episode(WORLD, CASE, plans, ProgramChoice("model")).success
    assert "TRAIN SCV" in server.requests[0].text
    nothing = React(start(lambda seen: Say("Hm."))[1], EASY)
    assert "holds no actions" in run_episode(WORLD, CASE, nothing, ProgramChoice("model")).ended
    server, chat = start(lambda seen: Say("ACTIONS: TRAIN SCV; TRAIN SCV"))
    assert run_episode(WORLD, CASE, Vanilla(chat, EASY), ProgramChoice("model")).success
    assert "Think" not in server.requests[0].text, "actions alone"
    server, chat = start(lambda seen: Say("ACTIONS: " + "; ".join(["TRAIN SCV"] * 2 + ["WAIT"] * 5)))
    solved = played(ChainOfThought(chat, EASY))
    assert solved.success and len(server.requests) == 1 and "step by step" in server.requests[0].text
    again, chat = start(lambda seen: Say("ACTIONS: WAIT"))
    failed = played(FewShots(chat, EASY, [solved]))
    assert "A task that was solved" in again.requests[0].text and "TRAIN SCV" in again.requests[0].text
    assert failed.ended == "no program had a plan: its plan has ended"


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


def test_a_judge_in_training_is_asked_and_learns_nothing(start: Start, tmp_path: Path) -> None:
    server, chat = start(lambda seen: Say("Plan 1"))
    recipe = Recipe(selector="judge", trials=1, episodes=1, published=True, programs=2, deadline_s=PATIENT_S)
    judge = ModelJudge(chat, EASY)
    state = train_task(WORLD, "easy", GrammarPrograms(), judge, recipe)
    assert state.trials[-1].asked.input_tokens == sum(one.input_tokens for one in judge.usage) > 0
    assert len(judge.usage) == len(server.requests) > 0 and set(state.trials[0].episodes) <= {True, False}
    folder = CopicFolder.create(
        CopicRun(world="build_order", tasks=("easy",), recipe=recipe), tmp_path / "run"
    )
    folder.save(state, judge)
    kept, selector = folder.trained("easy")
    (score,) = evaluate(WORLD, kept, selector, recipe, [CASE], ("selector",), chat)
    assert score.calls > 0
    with pytest.raises(InputError, match="asks a language model"):
        evaluate(WORLD, kept, selector, recipe, [CASE], ("selector",))


def test_reflexion_tries_again_with_what_it_said(start: Start) -> None:
    def answer(seen: Seen) -> Behaviour:
        if "in vain" in seen.text:
            return Say("Train workers.")
        return Say("ACTIONS: TRAIN SCV; TRAIN SCV; WAIT; WAIT" if "Train workers." in seen.text else "Hm.")

    server, chat = start(answer)
    with closing(Reflexion(chat, EASY)) as plans:
        assert plans.play(WORLD, CASE, ProgramChoice("model")).success
        assert len(plans.usage) == len(server.requests) == 3
        assert plans.play(WORLD, CASE, ProgramChoice("model")).success
        assert plans.by_try == (0, 1, 1)
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
    idle = fenced("def plan(observation, actions, task):\n    return ['WAIT']\n")
    _, chat = start(lambda seen: fenced(WORKERS) if "the time is up" in seen.text else idle)
    with closing(AdaPlanner(chat, EASY, (), PATIENT_S)) as plans:
        assert plans.play(WORLD, CASE, ProgramChoice("model")).success
        assert plans.by_try == (0, 1, 1), "the second try begins with the program of the first, and its end"
    nothing = AdaPlanner(start(lambda seen: Say("Hm."))[1], EASY)
    assert "no Python code" in played(nothing).ended


def test_a_program_of_adaplanner_asks_for_single_facts(start: Start) -> None:
    asking = """def plan(observation, actions, task):
    question = "Which unit is a worker?"
    known = observation["answers"].get(question)
    return ["TRAIN " + known] if known else ["ask " + question]
"""
    server, chat = start(lambda seen: Say("SCV\n") if "Answer it" in seen.text else fenced(asking))
    assert played(AdaPlanner(chat, EASY, (), PATIENT_S)).success
    assert len(server.requests) == 2 and "Which unit is a worker?" in server.requests[1].text
    endless = fenced("def plan(observation, actions, task):\n    return ['ask why']\n")
    server, chat = start(lambda seen: Say("Because.") if "Answer it" in seen.text else endless)
    ended = played(AdaPlanner(chat, EASY, (), PATIENT_S)).ended
    assert "5 questions in a row: why" in ended
    assert len(server.requests) < 3 * 30, "in three tries"


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
    ("answer", "ended"),
    [
        ("def f(:", "no action within"),
        ("return ['act']", "no action within"),
        ("answer('done')", "it has ended with 'done'"),
        ("deeper()", "no action within"),
        ("raise _Pause()", "no action within"),
    ],
)
def test_a_session_of_repl_plan_that_never_acts_ends_the_episode(
    start: Start, answer: str, ended: str
) -> None:
    server, chat = start(lambda seen: fenced(answer + "\n"))
    assert ended in played(ReplPlan(chat, EASY, (), PATIENT_S)).ended
    assert len(server.requests) <= 20


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
    scores = evaluate(
        WORLD, state, HashedSelector(), recipe, [CASE], ("selector", "selector", "judge", "react"), chat
    )
    by = {s.policy.split(" (")[0]: s for s in scores}
    assert len(by) == len(scores)
    assert by["selector"].tokens == by["selector"].calls == 0
    assert by["model as judge"].tokens == 31 * by["model as judge"].calls > 0
    assert by["model at every step"].calls == 1
    done = [Done(CopicTrial(world="build_order", task="easy", seed=0),
                 CopicRow(scores=tuple(scores), train_seconds=1, diversity=0.25, trials=(
                     Trial(number=1, programs=("p",), success=0.5, score=1.0, steps=9),)))]  # fmt: skip
    assert [row[1] for row in _policies(done, asked=False)] == ["selector (hashed)"]
    assert [row[1] for row in _policies(done, asked=True)] == ["model as judge", "model at every step"]
    page = Page("the grammar's programs, with two policies that ask a model")
    CopicBench(policies=("judge", "vanilla")).report(done, page)
    text = page.write(tmp_path / "page.html").read_text()
    assert "CoPiC (LaJ)" in text and "GPT-3.5" in text, "published beside the policies that were asked"
    assert "CoPiC (Ours)" not in text and "AdaPlanner" not in text, "and beside no others"
    assert "0.25 (0.25)" in str(CopicBench().table(done).rows)
    with pytest.raises(InputError, match="asks a language model"):
        evaluate(WORLD, state, HashedSelector(), recipe, [CASE], ("judge",))
    with pytest.raises(InputError, match="unknown policy"):
        evaluate(WORLD, state, HashedSelector(), recipe, [CASE], ("best",))


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
    assert [d.chosen for d in episode.decisions] == [0, 1] * (len(episode.decisions) // 2)


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
