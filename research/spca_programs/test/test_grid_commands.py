"""The grid worlds' commands, as a user types them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from spca.cli import make_app
from spca_core.errors import InputError
from spca_programs.grasp.policies import example
from spca_testing.models.behaviours import Say
from spca_testing.models.fallible_model import MODELS, configuration
from spca_testing.models.server import ModelServer

POLICY = str(example.__file__)
IDLE = (
    "def solve(grid, start_pos, carry_limit, cost_per_step, is_diagonals_allowed, max_actions):\n"
    "    return []\n"
)


def spca(*words: str, status: int = 0) -> str:
    """Run a command; returns what it prints, in one line."""
    result = CliRunner().invoke(make_app(), list(words), env={"COLUMNS": "200"})
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == status, (result.output, result.exception)
    return " ".join(result.output.split())


@pytest.mark.parametrize("policy", ["greedy", POLICY])
def test_bench_grasp_scores_reports_and_goes_on(policy: str, tmp_path: Path) -> None:
    command = f"bench grasp {policy} --count 1 --moves 8 --cost 0 --out {tmp_path / 'g'}".split()
    printed = spca(*command, "--workers", "1")
    assert "8,∞,0 20 " in printed and "8,2,0 20 " in printed and "all 40" in printed
    page = (tmp_path / "g" / "index.html").read_text()
    assert "By control" in page and "(published)" not in page
    assert "Agents on one grid" in page and page.count("<svg") == 2
    results = (tmp_path / "g" / "results.jsonl").stat()
    assert spca(*command, "--workers", "1").partition("rules")[2] == printed.partition("rules")[2]
    assert (tmp_path / "g" / "results.jsonl").stat().st_size == results.st_size


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("bench", "grasp", "gredy"), "unknown policy 'gredy'"),
        (("bench", "grasp", "absent.py"), "no such policy file"),
        (("bench", "grasp", "greedy", "--energy", "blob"), "--energy 'blob': Input should be"),
        (("bench", "grasp", "greedy", "--data", "absent"), "no released grids"),
        (("bench", "minigrid", "sokoban"), "no MiniGrid level matches 'sokoban'"),
        (("bench", "minigrid", "--skills", "some"), "--skills 'some': Input should be"),
        (("run", "minigrid:MiniGrid-DorKey-8x8"), "did you mean 'MiniGrid-DoorKey-8x8'"),
        (("ipp", "write", "grasp", "--strategy", "guess"), "--strategy 'guess': Input should be"),
    ],
)
def test_bad_input_is_told_in_one_line(words: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "out")) if words[0] in ("bench", "run") else ()
    with pytest.raises(InputError) as told:
        spca(*words, *out)
    assert complaint in str(told.value) and "\n" not in str(told.value)
    assert not (tmp_path / "out" / "results.jsonl").exists()


def test_bench_minigrid(tmp_path: Path) -> None:
    printed = spca(*f"bench minigrid MiniGrid-LavaGapS5 --seeds 2 --workers 1 --out {tmp_path / 'm'}".split())
    figures = ("category hazard_avoidance", "success 2/2 2/2", "% 100.0 %")
    assert all(row in printed for row in figures)
    assert "MiniGrid-LavaGapS5" in (tmp_path / "m" / "index.html").read_text()
    shown = spca("bench", "show", str(tmp_path / "m"))
    assert all(row in shown for row in figures)


def test_programs_are_written_kept_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spca_core.paths.RUNS", tmp_path / "runs")
    answers = iter(
        [
            "pseudocode",
            f"```python\n{IDLE}```",
            f"```python\n{Path(POLICY).read_text()}```",
            f"```\n{IDLE}```",
        ]
    )
    with ModelServer(lambda seen: Say(next(answers), usage=(100, 50)), models=MODELS) as server:
        (tmp_path / "llm.yaml").write_text(configuration(server.base_url))
        kept = ("--store", str(tmp_path / "store"))
        size = ("--train", "8", "--test", "8")
        printed = spca("ipp", "write", "grasp", *size, *kept, "--llm", str(tmp_path / "llm.yaml"))
        assert "3. not better: 0.000 in training" in printed and "4 questions, 400 + 200 tokens" in printed


def test_programs_and_models_are_compared_on_the_same_cases(tmp_path: Path) -> None:
    """An idle program from a model scores 0, a stored one is found by its id, and the example is the best."""
    with ModelServer(lambda seen: Say(f"```python\n{IDLE}```", usage=(100, 50)), models=MODELS) as server:
        (tmp_path / "idle.yaml").write_text(configuration(server.base_url))
        words = f"bench ipp grasp --test 16 --train 8 --workers 1 --out {tmp_path / 'c'}".split()
        rivals = ("--program", "greedy", "--program", "example", "--model", str(tmp_path / "idle.yaml"))
        printed = spca(*words, *rivals, "--way", "direct", "--way", "zero-shot")
    assert "contestant example greedy idle:direct idle:zero-shot mean score" in printed
    scores = [float(score) for score in printed.partition(" mean score ")[2].split()[:4]]
    assert scores[0] > scores[1] > scores[2] == scores[3] == 0.0  # the last one's answers hold no plan
    page = (tmp_path / "c" / "index.html").read_text()
    assert "def solve(" in page and "<svg" in page and "Pairs on the same cases" in page
    with pytest.raises(InputError, match="unknown way 'guess'"):
        spca("bench", "ipp", "grasp", "--program", "greedy", "--way", "guess")
