"""How large the coder's prompt is, and how long its checks take, as the library grows.

.venv/bin/python benchmarks/coder_prompts.py
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.table import Table

from spca_coder.drafting import DraftingCoder
from spca_coder.language import LanguageCoder
from spca_coder.relevance import tokens_of
from spca_core.ports.chat import ChatReply, Message, Role
from spca_testing.contracts.coder_contract import API, WAVE, request

SKILL = '''

def {name}(ctx, thing):
    """{doc}"""
    if not ctx.nod(thing):
        raise RuntimeError(f"{{thing}} was not greeted")
    return ctx.nod(thing)
'''
DEEDS = ("wave", "bow", "nod", "wink", "whistle", "point", "turn", "jump", "clap", "dance")
OTHERS = ("red", "green", "blue", "small", "large", "near", "far", "left", "right", "middle")


class Scripted:
    """A chat model that always writes the same skill, and keeps the size of what it was told."""

    def __init__(self) -> None:
        self.tokens = 0

    def complete(self, role: Role, messages: Sequence[Message], schema: object = None) -> ChatReply:
        self.tokens = sum(tokens_of(m["content"]) for m in messages)
        return ChatReply(text=f"```python\n{WAVE}```")


def library(size: int) -> str:
    """That many skills."""
    names = [f"{DEEDS[i % 10]}_{OTHERS[i // 10 % 10]}_{i}" for i in range(size)]
    return "".join(SKILL.format(name=n, doc=n.replace("_", " ")) for n in names)


def main() -> None:
    """Measure and print."""
    table = Table("skills in the library", "library tokens", "prompt tokens", "from request to library, s")
    for size in (0, 10, 100, 1000):
        text, chat = library(size), Scripted()
        coder = DraftingCoder(LanguageCoder(chat), API)  # type: ignore[arg-type]
        began = time.perf_counter()
        result = coder.complete(request("wave_at", library=text))
        seconds = time.perf_counter() - began
        assert result.status == "complete", result.message
        table.add_row(str(size), str(tokens_of(text)), str(chat.tokens), f"{seconds:.2f}")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
