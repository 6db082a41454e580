"""What is said about faulty PDDL: one sentence with place and name."""

from pathlib import Path

import pytest
import yaml

from spca_planner.pddl.lint import parse
from spca_planner.pddl.sexpr import PddlError
from spca_planner.pddl.syntax import parse_domain

DOMAIN, PROBLEM = (Path(__file__).with_name(f"shelf_{of}.pddl").read_text() for of in ("domain", "problem"))

FAULTS = yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text())


ROWS = [(text, *row) for text in ("domain", "problem") for row in FAULTS[text]]


@pytest.mark.parametrize(("text", "old", "new", "words"), ROWS)
def test_a_fault_is_named_by_its_place(text: str, old: str, new: str, words: str) -> None:
    """Of the whole text where the old one is `*`; without words it is none."""
    texts = {"domain": DOMAIN, "problem": PROBLEM}
    texts[text] = new if old == "*" else texts[text].replace(old, new)
    if not words:
        parse(*texts.values())
        return
    with pytest.raises(PddlError) as caught:
        parse(*texts.values())
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_schemas_are_complete() -> None:
    schema = parse_domain(DOMAIN).actions["move"].schema
    assert schema.parameters == (("b", "box"), ("from", "shelf"), ("to", "shelf"))
    assert schema.pddl.startswith("(:action move\n  :parameters")
    assert ":precondition (and (on ?b ?from) (free ?to))" in schema.pddl
    assert schema.pddl.endswith("(not (on ?b ?from))))")
