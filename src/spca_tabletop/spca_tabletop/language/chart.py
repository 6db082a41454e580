"""A chart parser: rules whose right side is the name of a meaning, packed derivations, the k best of them."""

from __future__ import annotations

from collections import defaultdict
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


@dataclass(eq=False)
class _Prefix:
    """What forms of one constituent have in common at their beginning: read once for all of them."""

    left: str
    ending: list[Rule] = field(default_factory=list)
    """Rules with nothing to follow."""
    longer: dict[str, _Prefix] = field(default_factory=dict)
    """The prefix that is read with one symbol more, by that symbol."""
    before: dict[str, list[tuple[str, _Prefix]]] = field(default_factory=dict)
    """Those of `longer` whose symbol may begin with a word, by the words that have been asked for."""


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
        self._roots: dict[str, _Prefix] = {}

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
        """The words that a constituent may begin with; a word begins with itself."""
        if symbol not in self._first:
            found = [symbol]
            for one in found:  # which grows
                found += {rule.right[0] for rule in self.rules.get(one, ())}.difference(found)
            self._first[symbol] = frozenset(found).difference(self.rules)
        return self._first[symbol]

    def root(self, symbol: str) -> _Prefix:
        """The prefix of all forms of a constituent: nothing is read of them yet."""
        if symbol not in self._roots:
            self._roots[symbol] = root = _Prefix(symbol)
            for rule in self.rules[symbol]:
                prefix = root
                for part in rule.right:
                    prefix = prefix.longer.setdefault(part, _Prefix(symbol))
                prefix.ending.append(rule)
        return self._roots[symbol]

    def going_on(self, prefix: _Prefix, word: str) -> list[tuple[str, _Prefix]]:
        """The symbols that may follow a prefix and begin with a word, each with the longer prefix."""
        if word not in prefix.before:
            prefix.before[word] = [one for one in prefix.longer.items() if word in self.first(one[0])]
        return prefix.before[word]

    def parse(self, tokens: Sequence[Token], start: str) -> list[tuple[int, Any]]:
        """The meanings of tokens as a whole with their costs, cheapest first. Raises NotUnderstood."""
        return _Chart(self, tokens).meanings(start)


class _Chart:
    """Items are (prefix, begin, end), with the ways to come to them; constituents (symbol, begin, end)."""

    def __init__(self, grammar: Grammar, tokens: Sequence[Token]) -> None:
        self._grammar, self._tokens = grammar, tokens
        self._came: defaultdict[Any, list[tuple[Any, Any]]] = defaultdict(list)
        self._whole: dict[tuple[str, int, int], list[Any]] = {}
        self._found: dict[Any, list[tuple[int, Any]]] = {n: [(0, t.value)] for n, t in enumerate(tokens)}
        self._problem: Exception | None = None

    def meanings(self, start: str) -> list[tuple[int, Any]]:
        """See `Grammar.parse`."""
        size = len(self._tokens)
        words = *(token.type for token in self._tokens), ""
        columns: list[list[Any]] = [[(self._grammar.root(start), 0, 0)], *([] for _ in range(size))]
        waiting: list[dict[str, list[Any]]] = [{start: []}, *({} for _ in range(size))]
        said = 0
        for end, column in enumerate(columns):
            if not column:
                raise Unexpected(said)
            for item in column:  # which grows
                prefix, begin, _ = item
                if prefix.ending:
                    whole = (prefix.left, begin, end)
                    self._whole.setdefault(whole, []).append(item)
                    if len(self._whole[whole]) == 1:
                        for other, longer in waiting[begin].get(prefix.left, ()):
                            self._advance(other, whole, longer, column, end)
                for symbol, longer in self._grammar.going_on(prefix, words[end]):
                    said = end + 1
                    if symbol == words[end]:
                        self._advance(item, end, longer, columns[end + 1], end + 1)
                        continue
                    if symbol not in waiting[end]:
                        waiting[end][symbol] = []
                        column.append((self._grammar.root(symbol), end, end))
                    waiting[end][symbol].append((item, longer))
        if (start, 0, size) not in self._whole:
            raise Unexpected(size)
        if not (found := self._best((start, 0, size))) and self._problem is not None:
            raise self._problem
        return found

    def _advance(self, item: Any, part: Any, prefix: _Prefix, column: list[Any], end: int) -> None:
        new = (prefix, item[1], end)
        if not self._came[new]:
            column.append(new)
        self._came[new].append((item, part))

    def _best(self, whole: Any) -> list[tuple[int, Any]]:
        if whole not in self._found:
            self._found[whole] = []
            found = []
            words = " ".join(token.text for token in self._tokens[whole[1] : whole[2]])
            ended = ((rule, item) for item in self._whole[whole] for rule in item[0].ending)
            for rule, cost, parts in ((rule, *way) for rule, item in ended for way in self._parts(item)):
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
        if item[1] == item[2]:
            return [(0, ())]
        if item not in self._found:
            found = [
                (cost + more, (*parts, value))
                for before, part in self._came[item]
                for cost, parts in self._parts(before)
                for more, value in self._best(part)
            ]
            self._found[item] = sorted(found, key=lambda one: one[0])[:_BEST]
        return self._found[item]
