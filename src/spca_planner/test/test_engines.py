"""The planning engines: one contract, and how one is chosen."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from spca_core.errors import InputError
from spca_core.ports.engine import Engine
from spca_planner.solver import downward
from spca_planner.solver.engines import open_engine, require_engine
from spca_planner.solver.factory import FactoryEngine
from spca_planner.solver.judgement import Case
from spca_planner.solver.process import SolverProcess
from spca_tabletop.plan.problem import domain, problem
from spca_testing.contracts.engine_contract import DOMAIN, EngineContract, switches
from spca_testing.observations import goals, scene

PYPERPLAN = pytest.mark.skipif(find_spec("up_pyperplan") is None, reason="up-pyperplan is not installed")


class TestFastDownward(EngineContract):
    @pytest.fixture(scope="class")
    def engine(self) -> Engine:
        return open_engine("fast-downward")


def test_a_search_depends_on_neither_the_working_folder_nor_pythons_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fast Downward's driver writes its translation into the working folder, always by this name."""
    (tmp_path / "output.sas").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    with SolverProcess(engine="fast-downward-opt") as solver:
        answer = solver.judge(Case(domain=DOMAIN, problem=switches("(lit a)"), timeout_s=60))
    assert (answer.critic, answer.message) == ("", "")
    assert [words[0] for words in answer.steps] == ["flip"]


def test_invariants_that_are_remembered_change_no_translation(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one problem's translation found out serves another's; where bridges are wanted, others hold."""
    wishes = ("on R B, on B T", "touched G", "across R B G", "on B R")
    texts = [problem(scene(), sorted(goals(wish), key=sorted)) for wish in wishes]

    def translated(text: str, known: dict[bytes, list[Any]]) -> str:
        monkeypatch.setattr(downward, "_INVARIANTS", known)
        search = downward.FastDownward().start(domain(), text, 60)
        search.wait()
        found = (search._folder / "output.sas").read_text()
        search.close()
        return found

    known: dict[bytes, list[Any]] = {}
    alone = [translated(text, {}) for text in texts]
    assert [translated(text, known) for text in texts] == alone
    assert 1 <= len(known) < len(texts)


def test_an_engine_that_fails_has_proved_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "argparse.py").write_text("raise SystemExit('no such driver')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    answer = EngineContract.solve(FactoryEngine("fast-downward-opt"), DOMAIN, switches("(lit a)"), 60)
    assert answer.status == "refused" and answer.message == "fast-downward-opt failed: no such driver"


@PYPERPLAN
def test_what_an_engine_does_not_support_is_rewritten_for_it_or_said() -> None:
    text = problem(scene(), sorted(goals("on R B, on B T"), key=sorted))
    disjunction = switches("(or (lit a) (not (dark b)))")
    with SolverProcess(engine="pyperplan") as solver:
        refused = solver.judge(Case(domain=domain(), problem=text, timeout_s=60))
        answer = solver.judge(Case(domain=DOMAIN, problem=disjunction, timeout_s=60))
    assert refused.critic == "parse" and refused.message == "pyperplan does not support equalities"
    assert answer.critic == "" and [words[0] for words in answer.steps] == ["flip"]


def test_an_unknown_engine_is_refused_with_what_there_is() -> None:
    with pytest.raises(InputError) as caught:
        require_engine("slow-upward")
    assert str(caught.value).startswith("unknown engine 'slow-upward' (--engine): installed: fast-downward, ")
    assert "tamer" in str(caught.value) and "[" not in str(caught.value)
