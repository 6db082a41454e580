"""`spca library`: a person sees what is trusted and why, and can withdraw trust and give it back."""

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from spca_coder.source import read
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
    others = spca("library", "show", "--library", str(folder))
    assert "1 more, learned by runs with --skills empty: add --from-nothing" in others.stdout + others.stderr
    assert "def wave(ctx, cube)" in library(folder, "export").stdout
    demoted = library(folder, "demote", "wave", "--reason", "it scares the cat")
    assert demoted.stdout == "demoted: wave\n" and library(folder, "export").stdout == ""
    assert "demoted" in library(folder, "show").stdout
    told = library(folder, "explain", "wave").stdout
    for words in ("it scares the cat", "proved by: wave_01", "promoted wave_01"):
        assert words in told
    assert read(library(folder, "export", "wave").stdout).functions.keys() == {"wave"}
    library(folder, "restore", "wave")
    assert "def wave" in library(folder, "export").stdout
    assert "restored" in library(folder, "explain", "wave").stdout


@pytest.mark.parametrize(
    "words", [("explain", "fly"), ("restore", "wave"), ("demote", "fly", "--reason", "x")]
)
def test_what_is_not_there_is_bad_input(folder: Path, words: tuple[str, ...]) -> None:
    assert library(folder, *words).returncode == EXIT_BAD_INPUT


@pytest.mark.parametrize("words", [("explain",), ("export",), ("restore",), ("demote", "--reason", "x")])
def test_where_else_a_skill_may_be_is_told(folder: Path, words: tuple[str, ...]) -> None:
    said = spca("library", *words, "wave", "--library", str(folder))
    assert said.returncode == EXIT_BAD_INPUT and "--from-nothing" in said.stderr
