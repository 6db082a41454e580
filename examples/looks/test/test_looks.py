"""The bench runs as a command, and its results can be read."""

from __future__ import annotations

import sys

import pytest

from spca.cli import main


def test_the_bench_runs(tmp_path, monkeypatch, capsys) -> None:
    folder = tmp_path / "campaign"
    monkeypatch.setattr(
        sys, "argv", ["spca", "bench", "looks", "--tables", "2", "--workers", "1", "--out", str(folder)]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert "2/2" in capsys.readouterr().out
    assert (folder / "results.jsonl").exists()
