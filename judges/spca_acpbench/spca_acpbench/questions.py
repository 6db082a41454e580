"""Reads ACPBench-Hard's questions from a checkout of its repository."""

from __future__ import annotations

import ast
import gzip
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from spca_core.model import Record
from spca_core.validation import expecting, plain

KINDS = {
    "app": "applicability",
    "prog": "progression",
    "reach": "reachability",
    "areach": "action reachability",
    "val": "validation",
    "just": "justification",
    "land": "landmarks",
    "nexta": "next action",
}
"""The data set's folders, and what they ask for."""

Atom = tuple[str, ...]
"""A ground atom or action: its name and its arguments."""

_GROUP = re.compile(r"\(([^()]*)\)")


class Question(Record):
    """One question about a planning problem; `gold` is the data set's answer as plain values."""

    kind: str
    number: int
    text: str
    domain: str
    problem: str
    gold: Any

    @property
    def key(self) -> str:
        """Its name within the data set."""
        return f"{self.kind}/{self.number:03}"

    def sequence(self) -> list[Atom]:
        """The actions that the question quotes."""
        return atoms(self.text)


def atoms(text: str) -> list[Atom]:
    """Every parenthesised atom in a text, in lower case."""
    return [tuple(group.lower().split()) for group in _GROUP.findall(text)]


@lru_cache(maxsize=4)
def load(folder: Path) -> dict[str, Question]:
    """All questions of the test set by key. Raises InputError, which names the file."""
    found: dict[str, Question] = {}
    for kind in KINDS:
        path = folder / "dataset" / kind / "test.gen.json.gz"
        with expecting("a part of a checkout of IBM/ACPBench", path):
            with gzip.open(plain(path), "rt", encoding="utf-8") as file:
                entries = json.load(file)
            for number, entry in enumerate(entries):
                gold = entry["answer"]
                question = Question(
                    kind=kind, number=number, text=entry["question"], domain=entry["PDDL_domain"],
                    problem=entry["PDDL_problem"],
                    gold=ast.literal_eval(gold) if isinstance(gold, str) else gold,
                )  # fmt: skip
                found[question.key] = question
    return found
