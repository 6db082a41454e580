"""Damages what a reader takes: for tests that it then takes it or refuses it, and nothing else."""

from __future__ import annotations

import random
import re

PIECES = (
    b"", b"\xff\xfe", b"null", b"{", b"]", b"\n\n", b'"', b"1e999", b"-1", b"NaN", b"\\ud800", b"[" * 2000,
    b"0", b"9" * 5000, b"\x1b[2J", b"\\u001b[2J", b"\x00", b"[]", b"{}", b"true", b"*a", b"&a ", b"<<: ",
)  # fmt: skip
TOKEN = re.compile(rb'-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|"[^"\n]{0,200}"|\w+')


def damaged(content: bytes, dice: random.Random) -> bytes:
    """The content with up to three damages: something is cut out, put in, doubled, or exchanged."""
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(content) + 1)
        end = at + dice.randrange(40)
        piece = dice.choice(PIECES)
        kind = dice.randrange(6)
        if kind == 0:
            content = content[:at]
        elif kind == 1:
            content = content[:at] + piece + content[end:]
        elif kind == 2:
            content = content[:end] + content[at:]
        elif kind == 3 and at < len(content):
            content = content[:at] + bytes([content[at] ^ 1 << dice.randrange(8)]) + content[at + 1 :]
        elif token := TOKEN.search(content, at):
            others = TOKEN.findall(content, dice.randrange(len(content)), dice.randrange(len(content)))
            put = dice.choice(others) if others and kind == 4 else piece
            content = content[: token.start()] + put + content[token.end() :]
    return content
