"""Skill packages: what their files must hold, and which words their phrases match."""

from pathlib import Path

import pytest

from spca_core import skill_package
from spca_core.errors import InputError
from spca_core.paths import ROOT
from spca_core.skill_package import SkillPackage, SkillPhrase, extended_domain, library_source, origin

PUSH = ROOT / "examples" / "push" / "src" / "push"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in ("skill.yaml", "action.pddl", "skill.py"):
        (tmp_path / file).write_text((PUSH / file).read_text())
    return tmp_path


@pytest.mark.parametrize(
    ("file", "content", "complaint"),
    [
        (
            "skill.yaml",
            "environment: tabletop\nphrases: [{say: 'push {c} to {oter}', goal: '(pushed {c})'}]",
            "{oter} stands in say only",
        ),
        ("action.pddl", "(:action shove :parameters ())", "no function 'shove'"),
        ("skill.py", "def push(ctx:", "not a skill"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_file(
    folder: Path, file: str, content: str, complaint: str
) -> None:
    (folder / file).write_text(content)
    with pytest.raises(InputError, match=complaint) as error:
        SkillPackage.read("push", folder)
    assert str(folder) in str(error.value) and "\n" not in str(error.value)


def test_a_phrase_is_matched_as_a_whole() -> None:
    phrase = SkillPhrase(say="wave at {x}", goal="(greeted {x})")
    assert phrase.match("  Wave at the camera ") == {"x": "the camera"}
    assert phrase.match("Do wave at the camera") is None
    assert (phrase.predicate, phrase.arguments) == ("greeted", ("x",))


def test_helpers_and_constants_of_a_package_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`spca new skill slide` beside the example that it is a copy of: each keeps its own helpers."""
    push = SkillPackage.read("push", PUSH)
    copy = push.source.replace("def push(", "def slide(").replace("ABOVE = 0.09", "ABOVE = 0.5")
    slide = push.model_copy(update={"name": "slide", "source": copy})
    builtin = tmp_path / "skills.py"
    builtin.write_text("ABOVE = 0.1\n\n\ndef touch(ctx, thing):\n    return ABOVE\n")
    monkeypatch.setattr(skill_package, "skill_packages", lambda environment: (push, slide))
    library: dict[str, object] = {}
    exec(library_source("tabletop", builtin), library)
    assert (library["ABOVE"], library["ABOVE_push"], library["ABOVE_slide"]) == (0.1, 0.09, 0.5)
    assert {"push", "_around", "slide", "_around_slide"} <= library.keys()
    lines = (source := library_source("tabletop", builtin)).splitlines()
    own = push.source.splitlines().index("def push(ctx, cube, other):")
    for text, place in (("def push(", f"push/skill.py, line {own + 1}: "), ("def touch(", "")):
        assert origin("tabletop", source, next(n for n, at in enumerate(lines, 1) if text in at)) == place
    assert origin("tabletop", source, len(lines)) == f"slide/skill.py, line {len(copy.splitlines())}: "
    domain = extended_domain("tabletop", "(define (domain d)\n  (:predicates))\n")
    assert domain.count("(pushed_against ?c ?other - cube)") == 1
    monkeypatch.setattr(skill_package, "skill_packages", lambda environment: (push, push))
    with pytest.raises(InputError, match="defines push again"):
        library_source("tabletop", builtin)
