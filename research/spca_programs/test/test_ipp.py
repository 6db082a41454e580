"""Programs written by a (scripted) language model: strategies, refinement, store."""

from pathlib import Path

import pytest

from spca_core.errors import InputError
from spca_core.ports.proposer import ModelError
from spca_programs.grasp.domain import GraspDomain
from spca_programs.grasp.policies import example
from spca_programs.ipp.develop import develop
from spca_programs.ipp.program import Program, ProgramRunner
from spca_programs.ipp.store import ProgramStore
from spca_programs.options import Recipe
from spca_testing.models.behaviours import Say, Status

GOOD = Path(example.__file__).read_text()
HEAD = "def solve(grid, start_pos, carry_limit, cost_per_step, is_diagonals_allowed, max_actions):\n"
IDLE = HEAD + "    return []\n"
WASTEFUL = HEAD + "    return ['UP'] * 10\n"
NEIGHBOUR = HEAD + (
    "    r, c = start_pos\n"
    "    for name, back, dr, dc in (('UP', 'DOWN', -1, 0), ('DOWN', 'UP', 1, 0)):\n"
    "        if 0 <= r + dr < 11 and grid[r + dr][c + dc] == 'E' and cost_per_step == 0:\n"
    "            return [name, 'TAKE', back, 'DROP']\n"
    "    return []\n"
)
FAILING = HEAD + "    return [grid[99][0]]\n"


def fenced(source: str) -> Say:
    return Say(f"Here is the program.\n```python\n{source}```\n", usage=(100, 50))


RECIPE = Recipe(train=16, test=16)


@pytest.fixture(scope="module")
def domain() -> GraspDomain:
    return GraspDomain()


def test_a_program_is_run_in_the_sandbox_and_its_faults_are_told(domain: GraspDomain) -> None:
    case = domain.split(1, 1, 0)[0]
    sources = {
        "error: IndexError": FAILING,
        "timeout": HEAD + "    while True: pass\n",
        "result: the list holds a int": HEAD + "    return [1]\n",
        "`solve` takes grid; it must be": "def solve(grid): return []\n",
        "error: ImportError: 'os' may not be imported": "import os\n" + IDLE,
    }
    with ProgramRunner(deadline_s=0.5) as runner:
        for problem, source in sources.items():
            evaluation = runner.evaluate(Program(source=source), domain, case)
            assert evaluation.problems == 1
            assert evaluation.results[0].answer.problem.startswith(problem)
        # One that never ends does not harm the next.
        assert runner.evaluate(Program(source=GOOD), domain, case).problems == 0


def test_split_keeps_training_grids_out_of_the_test(domain: GraspDomain) -> None:
    train, test = domain.split(24, 80, 5)
    assert (len(train), len(test)) == (24, 80)
    assert not {c.grid for c in train} & {c.grid for c in test}
    assert len({str(c.rules) for c in train}) == len({str(c.rules) for c in test}) == 8
    assert [c.name for c in domain.split(24, 80, 5)[0]] == [c.name for c in train]


def test_direct_asks_for_pseudocode_then_code_and_mends_what_does_not_load(
    start, domain: GraspDomain
) -> None:
    server, chat = start(
        [Say("go near, take, return"), Say("I would rather not."), fenced("def solve(:"), fenced(GOOD)]
    )
    made = develop(domain, chat, RECIPE)
    assert made.program.source == GOOD
    assert (made.questions, made.usage.output_tokens) == (4, 5 + 5 + 50 + 50)
    texts = [request.text for request in server.requests]
    assert "No Python yet" in texts[0] and "+---+" in texts[0] and "go near" in texts[1]
    assert "the answer holds no Python code" in texts[2] and "SyntaxError" in texts[3]
    assert made.test.mean > 2.5 and made.test.problems == 0
    with pytest.raises(ModelError, match="no usable program after 3 repairs"):
        develop(domain, start(lambda seen: Say("I cannot program."))[1], RECIPE)


def test_step_by_step_is_one_conversation_and_the_best_stage_is_kept(start, domain: GraspDomain) -> None:
    stages = [fenced(WASTEFUL), fenced(IDLE), fenced(GOOD), fenced(NEIGHBOUR), fenced(FAILING)]
    server, chat = start(stages)
    made = develop(domain, chat, RECIPE.model_copy(update={"strategy": "steps"}))
    assert made.program.source == GOOD
    assert [a.best for a in made.attempts] == [True, True, True, False, False]
    assert len(server.requests[-1].body["messages"]) == 1 + 5 + 4
    assert made.usage.input_tokens == 500


def test_refinement_improves_and_returns_the_best_not_the_last(start, domain: GraspDomain) -> None:
    server, chat = start([Say("pseudo"), fenced(FAILING), fenced(NEIGHBOUR), fenced(GOOD), fenced(WASTEFUL)])
    made = develop(domain, chat, RECIPE.model_copy(update={"refine": 10}))
    assert made.program.source == GOOD
    means = [a.train.mean for a in made.attempts]
    assert made.train.mean == max(means) == means[2] > means[1] > means[0] == 0
    assert made.ended == "1 round without improvement"
    assert made.program.origin.questions == 4 and made.questions == 5
    first, second, third = (request.text for request in server.requests[2:])
    assert "IndexError" in first and "grid[99][0]" in first
    assert second.count("## Instance") == 3 and GOOD in third


def test_a_failing_model_ends_refinement_but_keeps_the_program(start, domain: GraspDomain) -> None:
    answers = iter([Say("pseudo"), fenced(IDLE), fenced(NEIGHBOUR)])
    _, chat = start(lambda seen: next(answers, Status(500)))
    made = develop(domain, chat, RECIPE.model_copy(update={"refine": 5}))
    assert made.program.source == NEIGHBOUR
    assert made.ended.startswith("the model gave no further program")


def test_store_keeps_finds_and_sorts(start, domain: GraspDomain, tmp_path: Path) -> None:
    store = ProgramStore(tmp_path / "programs")
    _, chat = start([Say("pseudo"), fenced(IDLE), Say("pseudo"), fenced(GOOD)])
    idle, good = develop(domain, chat, RECIPE), develop(domain, chat, RECIPE)
    place, _ = [store.save(idle), store.save(good)]
    assert store.all("grasp") == [good, idle]
    assert store.find("grasp", idle.program.id[:6]) == idle.program
    (place / "development.json").write_text("{")
    with pytest.raises(InputError, match="not the record of a program"):
        store.all("grasp")
