"""S-expressions with positions, so that every complaint can name its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_CHARACTERS = 40_000
"""Maximum number of characters of a domain, and of a problem."""
DEEPEST_NESTING = 40
"""Maximum number of parentheses within parentheses.

Unified Planning's reader and Fast Downward's translator recurse on them.
"""
LONGEST_NAME = 80
"""Maximum number of characters of one name."""
MOST_PARAMETERS = 20
"""Maximum number of parameters of one action or predicate."""
MOST_OBJECTS = 400
"""Maximum number of objects and constants together."""
MOST_PREDICATES = 150
MOST_ACTIONS = 100
MOST_INSTANCES = 20_000
"""Maximum number of conditions that the quantifiers of a formula stand for, over a problem's objects."""
MOST_FAULTS = 8
"""Maximum number of faults reported in one rejection."""
LONGEST_FAULT = 400
LONGEST_MESSAGE = 1_800
"""Maximum numbers of characters of one fault (`LONGEST_FAULT`) and of a whole rejection."""


def clipped(text: str, length: int = LONGEST_FAULT) -> str:
    """Return at most `length` characters of `text`, marked where it is cut.

    >>> clipped("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


_TOKEN = re.compile(r"[()]|[^\s();]+|;[^\n]*")
_NAME = re.compile(r"[!-~]+")
_LINE = re.compile(r"\bline \d+")
_SHOWN_CHARACTERS = 160


class PddlError(Exception):
    """Faults of a PDDL text: one sentence for each, which names the place."""

    def __init__(self, *faults: str) -> None:
        self.faults = faults
        super().__init__(listed(faults))


def listed(faults: Sequence[str]) -> str:
    """Join faults in one line of bounded length; a fault said for an earlier line is not said again.

    >>> listed(["line 2: 'a' is unknown", "line 3: 'a' is unknown", "line 4: 'b' is unknown"])
    "2 faults: (1) line 2: 'a' is unknown; (2) line 4: 'b' is unknown"
    """
    distinct = list({_LINE.sub("", fault): clipped(fault) for fault in reversed(faults)}.values())[::-1]
    if len(distinct) <= 1:
        return "".join(distinct)
    shown = "; ".join(f"({i}) {fault}" for i, fault in enumerate(distinct[:MOST_FAULTS], 1))
    more = f"; and {len(distinct) - MOST_FAULTS} more" if len(distinct) > MOST_FAULTS else ""
    return clipped(f"{len(distinct)} faults: {shown}{more}", LONGEST_MESSAGE)


@dataclass(frozen=True)
class Word:
    """A symbol, in lower case (PDDL is case-insensitive), and its 1-based line."""

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
        """The first word of the list; empty if there is none."""
        return self.items[0].text if self.items and isinstance(self.items[0], Word) else ""

    @property
    def rest(self) -> tuple[Word | Group, ...]:
        """All items of the list but the first."""
        return self.items[1:]

    @property
    def groups(self) -> list[Group]:
        """The lists among all items but the first."""
        return [item for item in self.rest if isinstance(item, Group)]

    @property
    def words(self) -> set[str]:
        """All words in the list and in lists within it."""
        return set().union(*({i.text} if isinstance(i, Word) else i.words for i in self.items))

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
    """Read the one form in `text`; `what` ("domain", "problem") is for the message of a PddlError.

    Its length, the depth of its nesting and the length of its names are bounded (see `limits`).
    """
    if len(text) > MOST_CHARACTERS:
        raise PddlError(f"the {what} has {len(text)} characters; at most {MOST_CHARACTERS} are allowed")
    stack: list[_Open] = []
    done: Group | None = None
    for token, line, start in _tokens(text):
        if done is not None:
            raise PddlError(
                f"{what}, line {line}: '{clipped(token, _SHOWN_CHARACTERS)}' stands "
                f"after the end of the {what}"
            )
        if token == "(":
            if len(stack) == DEEPEST_NESTING:
                told = f"{what}, line {line}: parentheses are nested more than {DEEPEST_NESTING} levels deep"
                raise PddlError(told)
            stack.append(_Open(line, start, []))
        elif not stack:
            told = f"{what}, line {line}: expected '(define', found '{clipped(token, _SHOWN_CHARACTERS)}'"
            raise PddlError(told)
        elif token == ")":
            top = stack.pop()
            group = Group(tuple(top.items), top.line, top.start, start + 1)
            if stack:
                stack[-1].items.append(group)
            else:
                done = group
        else:
            _check_name(token, line, what, is_title=len(stack) == 2 and _names(stack[-1]))
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


def _names(form: _Open) -> bool:
    """Return whether what follows names a domain or a problem, which nobody has to repeat."""
    return [i.text for i in form.items if isinstance(i, Word)] in (["domain"], ["problem"], [":domain"])


def _check_name(token: str, line: int, what: str, is_title: bool) -> None:
    if len(token) > LONGEST_NAME and not is_title:
        told = (
            f"{what}, line {line}: a name of {len(token)} characters, '{token[:20]}…'; at most {LONGEST_NAME}"
        )
        raise PddlError(told)
    if not _NAME.fullmatch(token):
        shown = token.encode("ascii", "backslashreplace").decode()
        raise PddlError(f"{what}, line {line}: the name '{shown}' has characters that are not ASCII")


def _refuse_nested_section(token: str, line: int, stack: list[_Open], what: str) -> None:
    """Raise PddlError where a section begins inside another one.

    A parenthesis is missing there, long before the end of the text shows it.
    """
    starts_section = token.lower() in (":action", ":predicates", ":init", ":goal", ":objects", ":types")
    if starts_section and not stack[-1].items and len(stack) > 2:
        outer = stack[1]
        raise PddlError(
            f"{what}: '{outer.name}' opened in line {outer.line} is not closed before "
            f"'({token}' in line {line}"
        )


def brief(node: Word | Group) -> str:
    """Return a node as text, cut where it is long."""
    return clipped(str(node) if isinstance(node, Group) else node.text, _SHOWN_CHARACTERS)
