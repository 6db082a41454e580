"""The trusted library: what gets in, what may change, and what stays on disk."""

import subprocess
import sys
from pathlib import Path

import pytest

from spca_coder.source import read
from spca_coder.trusted import TrustedLibrary

BUILTIN = '''"""Builtin."""

ABOVE = 0.1


def touch(ctx, a):
    """Touch."""
    return _raise(ctx, a)


def _raise(ctx, a):
    return ctx.up(a, ABOVE)
'''
WAVE = (
    '\n\nSPEED = 2\n\n\ndef wave(ctx, a):\n    """Wave."""\n    return _swing(touch(ctx, a))\n\n\n'
    "def _swing(x):\n    return x * SPEED\n"
)
UNUSED = '\n\ndef unused(ctx):\n    """Never used."""\n'
WORKING = BUILTIN + WAVE + UNUSED
CHANGED = WORKING.replace('"""Touch."""', '"""Touch well."""')


def passes(library: str, level: str) -> bool:
    return True


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tabletop"


@pytest.fixture
def trusted(folder: Path) -> TrustedLibrary:
    return TrustedLibrary(folder, BUILTIN)


def test_a_success_promotes_what_was_used_with_what_it_needs(trusted: TrustedLibrary, folder: Path) -> None:
    promotion = trusted.promote(WORKING, ["wave"], "wave_01")
    assert (promotion.promoted, promotion.refused) == (("wave",), {})
    source = read(trusted.source())
    assert set(source.functions) == {"touch", "_raise", "wave", "_swing"}
    assert set(source.constants) == {"ABOVE", "SPEED"}
    assert trusted.source().startswith(BUILTIN)
    assert set(read((folder / "wave.py").read_text()).functions) == {"wave", "_swing"}
    assert trusted.levels("wave") == ("wave_01",)


def test_what_is_on_disk_is_there_for_the_next_run(trusted: TrustedLibrary, folder: Path) -> None:
    trusted.promote(WORKING, ["wave"], "wave_01")
    again = TrustedLibrary(folder, BUILTIN)
    assert again.source() == trusted.source()
    assert again.promote(again.source(), ["wave", "touch"], "wave_02").promoted == ()
    assert (again.levels("wave"), again.levels("touch")) == (("wave_01", "wave_02"), ("wave_02",))
    for file in folder.glob("wave.*"):  # by somebody who distrusts it
        file.unlink()
    assert set(read(trusted.source()).functions) == {"touch", "_raise"} and trusted.levels("wave") == ()


def test_a_changed_trusted_skill_is_refused_unless_tried_again(trusted: TrustedLibrary) -> None:
    trusted.promote(WORKING, ["touch"], "touch_01")
    promotion = trusted.promote(CHANGED, ["touch", "wave"], "wave_01")
    assert promotion.promoted == ()
    assert "touch_01 were not tried again" in promotion.refused["touch"]
    assert set(promotion.refused) == {"touch", "wave"}, "wave stands on the changed touch"
    assert trusted.source() == BUILTIN and trusted.levels("wave") == ()
    beside = trusted.promote(CHANGED, ["touch", "unused"], "touch_02")
    assert (beside.promoted, set(beside.refused)) == (("unused",), {"touch"}), "it does not stand on that"
    laid_out = WORKING.replace("return _raise", "return  _raise")
    assert trusted.promote(laid_out, ["touch"], "touch_02").refused == {}, "layout is no change"
    unseen = trusted.promote(WORKING, ["wave"], "wave_01", passes, {"wave": "it did not wave"})
    assert (unseen.promoted, unseen.refused) == ((), {"wave": "it did not wave"})
    assert "def wave" not in trusted.source(), "its effects were not seen"


@pytest.mark.parametrize("good", [True, False])
def test_the_levels_it_solved_decide(trusted: TrustedLibrary, good: bool) -> None:
    for level in ("touch_01", "touch_02"):
        trusted.promote(WORKING, ["touch"], level)
    trusted.promote(WORKING, ["wave"], "wave_01")
    tried: list[str] = []

    def revalidate(library: str, level: str) -> bool:
        assert "def wave" in library, "what was trusted is still there"
        if "Touch well" in library:
            tried.append(level)
        return "Touch well" not in library or good or level != "touch_02"

    promotion = trusted.promote(CHANGED, ["touch"], "touch_03", revalidate)
    assert tried == ["touch_01", "touch_02", "wave_01"], "also what stands on it"
    assert ("Touch well" in trusted.source()) is good
    assert promotion.promoted == (("touch",) if good else ())
    assert ("touch" in promotion.refused) is not good
    assert ("touch_03" in trusted.levels("touch")) is good
    if not good:
        assert "touch_02 would not pass any more" in promotion.refused["touch"]


def test_a_changed_helper_or_constant_is_a_change_of_the_skill(trusted: TrustedLibrary) -> None:
    trusted.promote(WORKING, ["touch"], "touch_01")
    for higher in (
        WORKING.replace("ctx.up(a, ABOVE)", "ctx.up(a, 2 * ABOVE)"),
        WORKING.replace("0.1", "0.2"),
    ):
        assert set(trusted.promote(higher, ["touch"], "touch_02").refused) == {"touch"}
        assert trusted.promote(higher, ["touch"], "touch_02", passes).promoted == ("touch",)
        assert read(higher).module("touch") == read(trusted.source()).module("touch")


def test_a_level_that_the_trusted_version_fails_proves_nothing(trusted: TrustedLibrary) -> None:
    """It was trusted by mistake."""
    for level in ("touch_01", "touch_02"):
        trusted.promote(WORKING, ["touch"], level)
    promotion = trusted.promote(CHANGED, ["touch"], "touch_03", lambda library, level: level == "touch_01")
    assert promotion.promoted == ("touch",)
    assert "Touch well" in trusted.source()
    assert trusted.levels("touch") == ("touch_01", "touch_03"), "what it does not solve proves nothing"
    assert [e.kind for e in trusted.history("touch")] == ["promoted"]


_PROMOTE = """
import sys
from pathlib import Path
from spca_coder.trusted import TrustedLibrary
folder, number, builtin = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
skill = f'def skill_{number}(ctx):\\n    "One of many."\\n'
TrustedLibrary(folder, builtin).promote(builtin + skill, [f"skill_{number}", "touch"], f"level_{number}")
"""


def test_several_processes_lose_nothing(folder: Path) -> None:
    command = (sys.executable, "-c", _PROMOTE, str(folder))
    for process in [subprocess.Popen([*command, str(n), BUILTIN]) for n in range(3)]:
        assert process.wait(60) == 0
    trusted = TrustedLibrary(folder, BUILTIN)
    assert {f"skill_{n}" for n in range(3)} <= set(read(trusted.source()).functions)
    assert sorted(trusted.levels("touch")) == [f"level_{n}" for n in range(3)]
    assert sorted(p.name for p in folder.iterdir()) == [
        ".lock", *(f"skill_{n}.{kind}" for n in range(3) for kind in ("json", "py")), "touch.json",
    ]  # fmt: skip
