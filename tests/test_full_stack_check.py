"""The table of docs/full-stack.md, which scripts/full_stack_check writes, and the domain of its launches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
from full_stack_launch import launched
from full_stack_table import rows_of

from spca_core.errors import InputError
from spca_ros.domain import claim

ROOT = Path(__file__).resolve().parents[1]


def test_nobody_else_takes_the_domain_of_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other runs on this machine draw theirs; one of them was met in a launch's, which was refused."""
    monkeypatch.setattr("full_stack_launch.LINE", ("true",))
    with launched(), pytest.raises(InputError, match=f"process {os.getpid()} of "):
        claim(int(os.environ["ROS_DOMAIN_ID"]), "graph")


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The script as on a machine that has none of the real parts."""
    command = [sys.executable, str(ROOT / "scripts" / "full_stack_check"), *arguments]
    return subprocess.run(
        command, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_a_machine_without_the_real_parts_says_what_is_missing_and_keeps_what_was_run(tmp_path: Path) -> None:
    table = tmp_path / "table.md"
    done = check("--table", str(table), "Gazebo", "killed", "MoveIt")
    assert done.returncode == 0, done.stderr
    shown, now = rows_of((ROOT / "docs" / "full-stack.md").read_text()), rows_of(table.read_text())
    assert [row for row in shown if row.ran] == [row for row in now if row.ran]
    fresh = [row for row in now if row not in shown or not row.ran]
    assert "missing: " in done.stdout and all(row.outcome.startswith("missing: ") for row in fresh)
    assert shown and {row.what for row in shown} <= set(check("--list").stdout.splitlines())
