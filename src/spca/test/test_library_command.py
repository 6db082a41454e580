"""`spca library`: a person sees what is trusted and why, and can withdraw trust and give it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from spca.cli import make_app
from spca_coder.source import read
from spca_coder.trusted import TrustedLibrary
from spca_core.errors import InputError

SKILL = '"""Skills."""\n\n\ndef wave(ctx, cube):\n    """Wave with a cube."""\n    ctx.open()\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    library = TrustedLibrary(tmp_path / "from_nothing/skills/tabletop")
    library.promote(SKILL, ["wave"], "wave_01")
    return tmp_path


def spca(folder: Path, *words: str) -> str:
    result = CliRunner().invoke(
        make_app(), ["library", *words, "--library", str(folder), "--from-nothing"], catch_exceptions=False,
        standalone_mode=False,
    )  # fmt: skip
    if isinstance(result.exception, Exception):
        raise result.exception
    return result.output


def test_a_skill_s_life(folder: Path) -> None:
    assert "wave" in spca(folder, "show")
    assert "learned" in spca(folder, "show")
    others = CliRunner().invoke(make_app(), ["library", "show", "--library", str(folder)])
    assert "1 more were learned" in others.output + others.stderr
    assert "def wave(ctx, cube)" in spca(folder, "export")
    assert spca(folder, "demote", "wave", "--reason", "it scares the cat") == "demoted: wave\n"
    assert spca(folder, "export") == ""
    assert "demoted" in spca(folder, "show")
    told = spca(folder, "explain", "wave")
    for words in ("it scares the cat", "proved by: wave_01", "promoted wave_01"):
        assert words in told
    assert read(spca(folder, "export", "wave")).functions.keys() == {"wave"}
    spca(folder, "restore", "wave")
    assert "def wave" in spca(folder, "export")
    assert "restored" in spca(folder, "explain", "wave")


@pytest.mark.parametrize(
    "words", [("explain", "fly"), ("restore", "wave"), ("demote", "fly", "--reason", "x")]
)
def test_what_is_not_there_is_bad_input(folder: Path, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        spca(folder, *words)
