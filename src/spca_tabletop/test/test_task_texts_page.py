"""What `docs/task-texts.md` says of task texts is true."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest

from spca_core.paths import ROOT
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_tabletop.language.understanding import describe, understand
from spca_tabletop.level_check import nominal_observation
from spca_testing.observations import task

PAGE = (ROOT / "docs" / "task-texts.md").read_text()
UNDERSTOOD, _, REFUSED = PAGE.partition("## What is refused")
nominal = lru_cache(nominal_observation)


def rows(text: str) -> list[tuple[str, str, str]]:
    """Level, task text and answer of every row."""
    found, level = [], ""
    for line in text.splitlines():
        if table := re.match(r"On the table of `(\w+)`", line):
            level = table.group(1)
        elif (row := re.fullmatch(r"\| (.+) \| (.+) \|", line)) and not row.group(1).startswith("text"):
            found.append((level, *row.groups()))
    return found


@pytest.mark.parametrize(("level", "text", "meaning"), rows(UNDERSTOOD))
def test_the_page_says_what_a_text_comes_to(level: str, text: str, meaning: str) -> None:
    goals = understand(task(text), nominal(level))
    assert describe(goals[:1]) == meaning.removesuffix("; or …")
    assert (len(goals) > 1) == meaning.endswith("; or …")


@pytest.mark.parametrize(("level", "text", "answer"), rows(REFUSED))
def test_the_page_says_what_is_refused(level: str, text: str, answer: str) -> None:
    with pytest.raises((NotUnderstood, Impossible)) as caught:
        understand(task(text), nominal(level))
    assert str(caught.value).startswith(answer)
