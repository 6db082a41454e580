"""Options that mean the same in every folder."""

from pathlib import Path

import pytest

from spca.runs import settled
from spca_core.options import RunOptions


def test_paths_become_absolute_and_names_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.yaml", "models.yaml", "stack_01", "tabletop"):
        Path(name).touch()
    assert settled(RunOptions(level="nope.yaml", llm="gpt")) == RunOptions(level="nope.yaml", llm="gpt")
    options = RunOptions(level="mine.yaml", world="tabletop", llm="models.yaml", library="learned")
    assert settled(options) == RunOptions(
        level=str(tmp_path / "mine.yaml"),
        world="tabletop",
        llm=str(tmp_path / "models.yaml"),
        library=str(tmp_path / "learned"),
    )
    replayed = RunOptions(level="stack_01", llm="replay:old/llm")
    assert settled(replayed) == RunOptions(level="stack_01", llm=f"replay:{tmp_path / 'old/llm'}")
