"""Trusted domains on disk."""

from __future__ import annotations

from pathlib import Path

from spca_planner.trusted import TrustedDomains
from spca_tabletop.language.examples import task

DOMAIN = "(define (domain a)\n  (:action b :parameters ()))\n"


def test_what_was_added_is_found_again(tmp_path: Path) -> None:
    TrustedDomains(tmp_path / "deep").add("tabletop", task("x", group="stack"), DOMAIN)
    trusted = TrustedDomains(tmp_path / "deep")
    assert trusted.get("tabletop", "stack") == DOMAIN
    assert trusted.get("tabletop", "touch") is None
    assert trusted.get("minigrid", "stack") is None
    assert trusted.all("tabletop") == [DOMAIN]


def test_solved_tasks_gather_until_the_domain_changes(tmp_path: Path) -> None:
    trusted = TrustedDomains(tmp_path)
    first, second = (task("x").model_copy(update={"id": i}) for i in ("stack_01", "stack_02"))
    trusted.add("tabletop", second, DOMAIN)
    trusted.add("tabletop", first, DOMAIN)
    trusted.add("tabletop", first, DOMAIN)
    assert trusted.solved("tabletop", "test") == ("stack_01", "stack_02")
    trusted.add("tabletop", first, DOMAIN.replace("b", "c"))
    assert trusted.solved("tabletop", "test") == ("stack_01",)


def test_a_hostile_group_name_stays_in_the_folder(tmp_path: Path) -> None:
    trusted = TrustedDomains(tmp_path / "in")
    trusted.add("../out", task("x", group="../../etc/passwd"), DOMAIN)
    assert [p for p in tmp_path.rglob("*.pddl") if (tmp_path / "in") not in p.parents] == []
    assert trusted.get("../out", "../../etc/passwd") == DOMAIN


def test_a_file_from_elsewhere_is_not_trusted(tmp_path: Path) -> None:
    trusted = TrustedDomains(tmp_path)
    path = trusted.path("tabletop", "stack")
    path.parent.mkdir(parents=True)
    path.write_text(DOMAIN)
    assert trusted.get("tabletop", "stack") is None
    assert trusted.all("tabletop") == []


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    trusted = TrustedDomains(tmp_path)
    trusted.add("tabletop", task("x"), DOMAIN)
    assert [p.name for p in (tmp_path / "tabletop").iterdir()] == ["test.pddl"]
