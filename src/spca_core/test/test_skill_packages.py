"""Skill packages: what their files must hold, and which words their phrases match."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca_core.errors import InputError
from spca_core.paths import ROOT
from spca_core.skill_package import SkillPackage, SkillPhrase

PUSH = ROOT / "examples" / "push" / "src" / "push"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in ("skill.yaml", "action.pddl", "skill.py"):
        (tmp_path / file).write_text((PUSH / file).read_text())
    return tmp_path


def test_the_example_is_read() -> None:
    package = SkillPackage.read("push", PUSH)
    assert package.environment == "tabletop"
    assert package.phrases[0].match("Push the red cube  against the blue one") == {
        "c": "the red cube",
        "other": "the blue one",
    }
    assert package.phrases[0].match("Put the red cube on the blue one") is None


@pytest.mark.parametrize(
    ("file", "content", "complaint"),
    [
        ("skill.yaml", "predicates: []", "environment"),
        ("skill.yaml", "environment: [", "not valid YAML"),
        ("skill.yaml", "environment: tabletop\nphrases: [{say: 'push {c}', goal: 'pushed {c}'}]", "one atom"),
        ("action.pddl", "(:predicates)", "holds no action"),
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
