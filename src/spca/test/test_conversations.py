"""Conversations over a table that stays, by `conversations.yaml`: what is said, and what comes back."""

import math
import re
from pathlib import Path

import pytest

import spca
from spca_core.errors import InputError
from spca_core.result import Ending
from spca_core.validation import parse_yaml

pytestmark = pytest.mark.slow
CONVERSATIONS = parse_yaml(Path(__file__).with_name("conversations.yaml").read_text())
ENDINGS = {"not understood": Ending.NOT_UNDERSTOOD, "impossible": Ending.IMPOSSIBLE}


def fits(said: str, wanted: str) -> bool:
    """Whether that was said: as a whole, begun so, among other words, or `not: ` at all."""
    if wanted.startswith("not: "):
        return wanted.removeprefix("not: ") not in said
    if wanted.startswith("…"):
        return wanted[1:] in said
    return said.startswith(wanted[:-1]) if wanted.endswith("…") else said == wanted


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_conversation(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("spca_core.run_folder.RunFolder.create.__func__.__defaults__", (None, tmp_path))
    world = re.findall(r"\((\w+)\)$", name)
    with spca.session(report=False, **({"world": world[0]} if world else {})) as table:
        start = {thing.id: thing.pose.position for thing in table.look().objects}
        for how, *words in CONVERSATIONS[name]:
            said, sentence = "", words[0] if words else ""
            match how:
                case "ask":
                    said = table.ask(sentence) or ""
                case "plan":
                    said = table.plan(sentence).goal
                case "refuses to do" | "refuses to plan":
                    with pytest.raises(InputError, match=re.escape(words.pop())):
                        getattr(table, how.split()[-1])(sentence)
                case "asks" | "asks nothing":
                    assert table.asks is (how == "asks")
                case "as at first":
                    for thing in table.look().objects:
                        assert math.dist(thing.pose.position, start[thing.id]) < 0.01, thing.id
                case _:
                    result = table.do(sentence).result
                    said = result.reason
                    assert result.success is (how == "do"), (sentence, said)
                    assert how not in ENDINGS or result.outcome is ENDINGS[how], sentence
            assert all(fits(said, wanted) for wanted in words[1:]), (sentence, said)
