"""`spca library`: a person sees what is trusted and why."""

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from spca_coder.trusted import TrustedLibrary
from spca_core.errors import EXIT_BAD_INPUT
from spca_testing.command import spca

SKILL = '"""Skills."""\n\n\ndef wave(ctx, cube):\n    """Wave with a cube."""\n    ctx.open()\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    library = TrustedLibrary(tmp_path / "from_nothing/skills/tabletop")
    library.promote(SKILL, ["wave"], "wave_01")
    return tmp_path


def library(folder: Path, *words: str) -> CompletedProcess[str]:
    return spca("library", *words, "--library", str(folder), "--from-nothing")


def test_a_skill_s_life(folder: Path) -> None:
    shown = library(folder, "show").stdout
    assert "wave" in shown and "learned" in shown
    told = library(folder, "show", "wave").stdout
    for words in ("proved by: wave_01", "promoted wave_01", "skills/tabletop/wave.py"):
        assert words in told.replace("\n", "")


def test_what_is_not_there_is_bad_input_and_where_else_it_may_be_is_told(folder: Path) -> None:
    assert library(folder, "show", "fly").returncode == EXIT_BAD_INPUT
    said = spca("library", "show", "wave", "--library", str(folder))
    assert said.returncode == EXIT_BAD_INPUT and "--from-nothing" in said.stderr
