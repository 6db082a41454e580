"""The answers to each kind of question, on a small problem whose answers can be worked out by hand."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from spca_acpbench.answers import Answerer
from spca_acpbench.ipc import IpcBench, pairs_in
from spca_acpbench.pairs import Pairs
from spca_acpbench.questions import KINDS, Question, load
from spca_acpbench.scoring import score
from spca_acpbench.task import Task
from spca_core.errors import InputError

DOMAIN, PROBLEM = (
    (Path(__file__).with_name("data") / f"{part}.pddl").read_text() for part in ("domain", "problem")
)
PLAN = "(take-key k hall) (unlock k attic) (walk hall attic)"


@pytest.fixture(scope="module")
def answerer() -> Answerer:
    return Answerer()


def question(kind: str, gold: Any, text: str = "") -> Question:
    return Question(kind=kind, number=0, text=text, domain=DOMAIN, problem=PROBLEM, gold=gold)


@pytest.mark.parametrize(
    ("kind", "text", "gold", "wrong"),
    [
        ("app", "", ["(take-key k hall)"], ["(take-key k hall)", "(walk hall attic)"]),
        ("prog", 'doing "take the key k from hall"', {"pos": ["(held k)"], "neg": ["(lies k hall)"]}, None),
        ("val", f'In "{PLAN} (walk hall attic)"?', "3", "2"),
        ("val", f'In "{PLAN}"?', "-1", "0"),
        ("just", f'Simplify "{PLAN} (walk attic hall) (walk hall attic)"', [], None),
        ("nexta", "", {"yes": ["(take-key k hall)"], "no": [], "maybe": [], "opt": "3"}, None),
        ("land", "", {"yes": ["(held k)", "(open attic)"], "no": []}, {"yes": [], "no": []}),
        ("reach", "", ["at cellar"], []),
        ("areach", "", ["(take-key k attic)"], []),
    ],
)
def test_each_kind_is_answered(answerer: Answerer, kind: str, text: str, gold: Any, wrong: Any) -> None:
    asked = question(kind, gold, text)
    answer = answerer.answer(asked)
    found = score(asked, answer, answerer)
    assert found.evaluator and found.proven, answer
    if wrong is not None:
        assert not score(asked.model_copy(update={"gold": wrong}), answer, answerer).evaluator


def test_pairs_prove_what_the_relaxation_cannot() -> None:
    task = Task(DOMAIN, PROBLEM)
    both = {("locked", "attic"), ("open", "attic")}
    assert both <= task.relaxed() and not Pairs(task).possible(both)
    assert Pairs(task).possible({("at", "attic"), ("open", "attic"), ("door", "hall", "attic")})
    assert ("at", "attic") not in task.relaxed(banned=("held", "k"))


def test_the_files_are_read_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    write_questions(tmp_path, "['(at hall)']")
    assert load(tmp_path)["app/000"].gold == ["(at hall)"]
    file = tmp_path / "dataset" / next(iter(KINDS)) / "test.gen.json.gz"
    file.write_bytes(file.read_bytes()[:-9])
    load.cache_clear()
    with pytest.raises(InputError, match=r"test\.gen\.json\.gz"):
        load(tmp_path)


def write_questions(folder: Path, answer: str) -> None:
    """One question of each kind, in the data set's files."""
    entry = {"question": "?", "answer": answer, "PDDL_domain": DOMAIN, "PDDL_problem": PROBLEM}
    for kind in KINDS:
        (folder / "dataset" / kind).mkdir(parents=True)
        with gzip.open(folder / "dataset" / kind / "test.gen.json.gz", "wt") as file:
            json.dump([entry], file)


def test_files_of_competitions_are_read_or_refused_with_the_reason(tmp_path: Path) -> None:
    derived = DOMAIN.replace("(:action", "(:derived (open ?a) (locked ?a)) (:action", 1)
    texts = {
        "d.pddl": DOMAIN, "derived.pddl": derived, "p.pddl": PROBLEM,
        "long.pddl": PROBLEM + "; long" * 10_000, "wrong.pddl": PROBLEM.replace("hall", "moon", 1),
    }  # fmt: skip
    folder = tmp_path / "classical" / "rooms"
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    table = [("d", "p"), ("d", "long"), ("d", "wrong"), ("d", "missing"), ("derived", "p")]
    pairs = [tuple(f"rooms/{name}.pddl" for name in pair) for pair in table]
    (folder / "api.py").write_text("domains = [1]")
    with pytest.raises(InputError, match=r"api\.py"):
        pairs_in(tmp_path)
    (folder / "api.py").write_text(f"domains = [{{'problems': {pairs}}}]")
    pairs_in.cache_clear()
    bench = IpcBench(domains=tmp_path, each=9)
    found = [bench.run_trial(trial, tmp_path) for trial in bench.trials()]
    assert [one.outcome.rpartition(" ")[2] for one in found] == ["read", "be", "file", "supported"]
    assert [one.same for one in found] == [True, False, True, False]
