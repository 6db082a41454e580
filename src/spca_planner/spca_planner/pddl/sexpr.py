"""S-expressions with positions, so that every complaint can name its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r"[()]|[^\s();]+|;[^\n]*")


class PddlError(Exception):
    """What is wrong with a PDDL text, in one sentence that names the place."""


@dataclass(frozen=True)
class Word:
    """A symbol, in lower case (PDDL does not tell cases apart), and its 1-based line."""

    text: str
    line: int


@dataclass(frozen=True)
class Group:
    """A parenthesised list; `start` and `end` delimit its own text, parentheses included."""

    items: tuple[Word | Group, ...]
    line: int
    start: int
    end: int

    @property
    def head(self) -> str:
        """Its first word, empty if there is none."""
        return self.items[0].text if self.items and isinstance(self.items[0], Word) else ""

    @property
    def rest(self) -> tuple[Word | Group, ...]:
        """All but the first item."""
        return self.items[1:]

    def __str__(self) -> str:
        return f"({' '.join(str(i) if isinstance(i, Group) else i.text for i in self.items)})"


@dataclass
class _Open:
    line: int
    start: int
    items: list[Word | Group]

    @property
    def name(self) -> str:
        words = [i.text for i in self.items[:2] if isinstance(i, Word)]
        return f"({' '.join(words)}"


def read(text: str, what: str) -> Group:
    """The one form in `text`; `what` ("domain", "problem") is for the message of a PddlError."""
    stack: list[_Open] = []
    done: Group | None = None
    for token, line, start in _tokens(text):
        if done is not None:
            raise PddlError(f"{what}, line {line}: '{token}' stands after the end of the {what}")
        if token == "(":
            stack.append(_Open(line, start, []))
        elif not stack:
            raise PddlError(f"{what}, line {line}: expected '(define', found '{token}'")
        elif token == ")":
            top = stack.pop()
            group = Group(tuple(top.items), top.line, top.start, start + 1)
            if stack:
                stack[-1].items.append(group)
            else:
                done = group
        else:
            _refuse_nested_section(token, line, stack, what)
            stack[-1].items.append(Word(token.lower(), line))
    if stack:
        raise PddlError(f"{what}: '{stack[-1].name}' opened in line {stack[-1].line} is never closed")
    if done is None:
        raise PddlError(f"the {what} is empty")
    return done


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    line, position = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        if not match.group().startswith(";"):
            yield match.group(), line, match.start()


def _refuse_nested_section(token: str, line: int, stack: list[_Open], what: str) -> None:
    """A section inside another one shows where a parenthesis is missing, long before the end of the text does."""
    starts_section = token.lower() in (":action", ":predicates", ":init", ":goal", ":objects", ":types")
    if starts_section and not stack[-1].items and len(stack) > 2:
        outer = stack[1]
        raise PddlError(
            f"{what}: '{outer.name}' opened in line {outer.line} is not closed before '({token}' in line {line}"
        )


def words(group: Group, what: str) -> list[Word]:
    """The items of a group that may hold only words."""
    found = []
    for item in group.items:
        if isinstance(item, Group):
            raise PddlError(f"{what}, line {item.line}: unexpected '{item}'")
        found.append(item)
    return found
