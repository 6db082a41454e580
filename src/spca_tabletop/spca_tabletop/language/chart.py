"""A chart parser: rules whose right side is the name of a meaning, packed derivations, the k best of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from spca_core.ports.proposer import NotUnderstood

_BEST = 24
"""Derivations kept of each constituent, the cheapest."""


class Token(NamedTuple):
    """A word or phrase: its terminal, its value (None where it only belongs to the form), and its place."""

    type: str
    value: Any
    text: str
    start: int = 0


@dataclass(frozen=True, eq=False)
class Rule:
    """A form and its meaning, with the values at the positions `slots` as arguments, -1 for none."""

    left: str
    right: tuple[str, ...]
    slots: tuple[int, ...]
    cost: int
    meaning: Callable[..., Any]


@dataclass(frozen=True)
class Spoken:
    """Base of meanings that know their own words, for remarks."""

    text: str = field(default="", kw_only=True)
    start: int = field(default=0, kw_only=True)
    """Where it was said."""


class Unexpected(NotUnderstood):
    """No sentence goes on like that; `at` is the number of the token, or of tokens where one is missing."""

    def __init__(self, at: int) -> None:
        super().__init__("does not make a task")
        self.at = at


class Grammar:
    """Rules, each over words and constituents: see the top of `forms.yaml`."""

    def __init__(self, valued: Sequence[str]) -> None:
        self.rules: dict[str, list[Rule]] = {}
        self.valued = frozenset(valued)
        self._first: dict[str, frozenset[str]] = {}
        self._starting: dict[tuple[str, str], list[Rule]] = {}

    def __call__(
        self, *forms: str, cost: int = 0, turned: bool = False, **fixed: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add forms with the function that makes their meaning, of `fixed` and of words with values.

        `turned`: it takes these from the last one to the first.
        """

        def add(meaning: Callable[..., Any]) -> Callable[..., Any]:
            composed = partial(meaning, **fixed) if fixed else meaning
            for form in forms:
                left, _, rights = form.partition(" -> ")
                for right in rights.split(" | "):
                    ways = [(*w.removesuffix("?").split("|"), *[""] * w.endswith("?")) for w in right.split()]
                    for way in product(*ways):
                        self._add(left, way, [w[0] for w in ways], cost, composed, -1 if turned else 1)
            return meaning

        return add

    def means(self, value: Any, *forms: str) -> None:
        """Add forms without a value of their own, which mean this."""

        def meaning() -> Any:
            return value

        self(*forms)(meaning)

    def read(self, forms: Mapping[str, Any], meanings: Mapping[str, Any]) -> None:
        """Add forms by the names of their meanings; one is a text, or several with what is fixed for them."""
        for name, entries in forms.items():
            for entry in entries if isinstance(entries, list) else [entries]:
                fixed: dict[str, Any] = {"forms": entry} if isinstance(entry, str) else dict(entry)
                said = fixed.pop("forms")
                self(*(said if isinstance(said, list) else [said]), **fixed)(meanings[name])

    def _add(
        self, left: str, way: Sequence[str], names: Sequence[str], cost: int, meaning: Any, step: int
    ) -> None:
        said = [word for word in way if word]
        at = [sum(map(bool, way[:n])) if word else -1 for n, word in enumerate(way)]
        slots = [at[n] for n, name in enumerate(names) if not name.isupper() or name in self.valued]
        self.rules.setdefault(left, []).append(Rule(left, tuple(said), tuple(slots)[::step], cost, meaning))

    def first(self, symbol: str) -> frozenset[str]:
        """The words that a constituent may begin with."""
        if not self._first:
            first: dict[str, set[str]] = {left: set() for left in self.rules}
            changed = True
            while changed:
                before = sum(map(len, first.values()))
                for left, rules in self.rules.items():
                    first[left].update(*(first.get(r.right[0], {r.right[0]}) for r in rules))
                changed = before < sum(map(len, first.values()))
            self._first = {left: frozenset(words) for left, words in first.items()}
        return self._first.setdefault(symbol, frozenset({symbol}))

    def starting(self, symbol: str, word: str) -> list[Rule]:
        """The rules of a constituent that may begin with a word."""
        if (symbol, word) not in self._starting:
            self._starting[symbol, word] = [r for r in self.rules[symbol] if word in self.first(r.right[0])]
        return self._starting[symbol, word]

    def parse(self, tokens: Sequence[Token], start: str) -> list[tuple[int, Any]]:
        """The meanings of tokens as a whole with their costs, cheapest first. Raises NotUnderstood."""
        return _Chart(self, tokens).meanings(start)


class _Chart:
    """Items are (rule, dot, begin, end), with the ways to come to them; constituents (symbol, begin, end)."""

    def __init__(self, grammar: Grammar, tokens: Sequence[Token]) -> None:
        self._grammar, self._tokens = grammar, tokens
        self._came: dict[Any, list[tuple[Any, Any]]] = {}
        self._whole: dict[tuple[str, int, int], list[Any]] = {}
        self._found: dict[Any, list[tuple[int, Any]]] = {}
        self._problem: Exception | None = None

    def meanings(self, start: str) -> list[tuple[int, Any]]:
        """See `Grammar.parse`."""
        size = len(self._tokens)
        columns: list[list[Any]] = [[] for _ in range(size + 1)]
        waiting: list[dict[str, list[Any]]] = [{} for _ in range(size + 1)]
        self._predict(start, 0, columns, waiting)
        said = 0
        for end, column in enumerate(columns):
            if not column:
                raise Unexpected(said)
            for item in column:  # which grows
                rule, dot, begin, _ = item
                if dot == len(rule.right):
                    whole = (rule.left, begin, end)
                    self._whole.setdefault(whole, []).append(item)
                    if len(self._whole[whole]) == 1:
                        for other in waiting[begin].get(rule.left, ()):
                            self._advance(other, whole, column, end)
                elif rule.right[dot] in self._grammar.rules:
                    if end < size:
                        self._predict(rule.right[dot], end, columns, waiting)
                        waiting[end][rule.right[dot]].append(item)
                elif end < size and self._tokens[end].type == rule.right[dot]:
                    said = end + 1
                    self._advance(item, end, columns[end + 1], end + 1)
        if (start, 0, size) not in self._whole:
            raise Unexpected(size)
        if not (found := self._best((start, 0, size))) and self._problem is not None:
            raise self._problem
        return found

    def _predict(self, symbol: str, at: int, columns: list[list[Any]], waiting: list[dict[str, Any]]) -> None:
        if symbol in waiting[at]:
            return
        waiting[at][symbol] = []
        for rule in self._grammar.starting(symbol, self._tokens[at].type):
            self._came[rule, 0, at, at] = []
            columns[at].append((rule, 0, at, at))

    def _advance(self, item: Any, part: Any, column: list[Any], end: int) -> None:
        rule, dot, begin, _ = item
        goes_on = dot + 1 < len(rule.right) and end < len(self._tokens)
        if goes_on and self._tokens[end].type not in self._grammar.first(rule.right[dot + 1]):
            return
        new = (rule, dot + 1, begin, end)
        if new not in self._came:
            self._came[new] = []
            column.append(new)
        self._came[new].append((item, part))

    def _best(self, whole: tuple[str, int, int]) -> list[tuple[int, Any]]:
        if whole not in self._found:
            self._found[whole] = []
            found = []
            words = " ".join(token.text for token in self._tokens[whole[1] : whole[2]])
            for item in self._whole[whole]:
                rule = item[0]
                for cost, parts in self._parts(item):
                    try:
                        meant = rule.meaning(*(parts[slot] if slot >= 0 else None for slot in rule.slots))
                    except NotUnderstood as error:
                        self._problem = error
                        continue
                    if isinstance(meant, Spoken) and not meant.text:
                        meant = replace(meant, text=words, start=self._tokens[whole[1]].start)
                    found.append((cost + rule.cost, meant))
            self._found[whole] = sorted(found, key=lambda one: one[0])[:_BEST]
        return self._found[whole]

    def _parts(self, item: Any) -> list[tuple[int, tuple[Any, ...]]]:
        if item[1] == 0:
            return [(0, ())]
        if item not in self._found:
            found = [
                (cost + more, (*parts, value))
                for before, part in self._came[item]
                for cost, parts in self._parts(before)
                for more, value in self._said(part)
            ]
            self._found[item] = sorted(found, key=lambda one: one[0])[:_BEST]
        return self._found[item]

    def _said(self, part: Any) -> list[tuple[int, Any]]:
        return [(0, self._tokens[part].value)] if isinstance(part, int) else self._best(part)
