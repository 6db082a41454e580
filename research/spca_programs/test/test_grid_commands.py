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


def spca(*words: str) -> str:
    """Run a command; returns what it prints, in one line."""
    result = CliRunner().invoke(make_app(), list(words), env={"COLUMNS": "200"})
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == 0, (result.output, result.exception)
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("bench", "grasp", "gredy"), "unknown policy 'gredy'"),
        (("run", "minigrid:MiniGrid-DorKey-8x8"), "did you mean 'MiniGrid-DoorKey-8x8'"),
        (("bench", "ipp", "grasp", "--program", "greedy", "--way", "guess"), "unknown way 'guess'"),
    ],
)
def test_bad_input_is_told_in_one_line(words: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "out")) if words[0] in ("bench", "run") else ()
    with pytest.raises(InputError) as told:
        spca(*words, *out)
    assert complaint in str(told.value) and "\n" not in str(told.value)
    assert not (tmp_path / "out" / "results.jsonl").exists()


def test_a_program_is_written_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spca_core.paths.RUNS", tmp_path / "runs")
    sources = (f"```python\n{source}```" for source in (IDLE, Path(POLICY).read_text(), IDLE))
    answers = iter(["pseudocode", *sources])
    with ModelServer(lambda seen: Say(next(answers), usage=(100, 50)), models=MODELS) as server:
        (tmp_path / "llm.yaml").write_text(configuration(server.base_url))
        words = (
            f"ipp write grasp --train 8 --test 8 --store {tmp_path / 'store'} --llm {tmp_path / 'llm.yaml'}"
        )
        printed = spca(*words.split())
        assert "3. not better: 0.000 in training" in printed and "4 questions, 400 + 200 tokens" in printed
