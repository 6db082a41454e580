"""From transitions to clauses: cover what changed by few effects, then find when each does not happen.

Effects are kept as general as the data allow: a clause fires unless one of its exceptions is true, and
exceptions are the cheapest conjunctions that tell the steps in which it did not happen from those in which it
did (separate and conquer).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from spca_core.errors import Cancelled
from spca_induction import effects, literals
from spca_induction.effects import Template
from spca_induction.literals import Conjunction, Literal
from spca_induction.rulebook import Clause, Group
from spca_induction.view import REACH, Frame, View, look
from spca_programs.experience import NotLearnable, Transition
from spca_programs.state import State, in_words

_WIDEST_SEARCH = 60
"""Literals of one example that conjunctions are made of, cheapest first."""


@dataclass
class Example:
    """One transition as the learner sees it."""

    index: int
    seen: Transition
    view: View
    acceptable: set[Template] = field(default_factory=set)
    """Templates that give what was seen; the empty one where nothing changed."""
    label: Template | None = None


class RuleLearner:
    """Learns the groups of clauses. Keeps what it worked out about transitions for the next time."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self._cancelled = cancelled
        self._frame = Frame("")
        self._views: dict[int, View | None] = {}
        self._explained: dict[int, list[Template]] = {}
        self._applied: dict[tuple[int, Template], State | None] = {}

    def learn(
        self, data: Sequence[Transition], frame: Frame, actions: Iterable[str], doubt: int = 0
    ) -> tuple[Group, ...]:
        """Groups that explain every transition.

        With `doubt`, exceptions that rest on at most so many transitions are believed only for the very
        neighbourhoods they were seen in, and effects seen on one class are expected of others that were not
        tried. Raises NotLearnable, Cancelled.
        """
        if frame != self._frame:
            self._frame, self._views, self._explained, self._applied = frame, {}, {}, {}
        pooled = tuple(a for a in actions if a in frame.compass)
        single = [(a,) for a in actions if a not in frame.compass]
        groups = []
        if pooled:
            try:
                groups.append(self._group(data, pooled, doubt))
            except NotLearnable:
                single = [(a,) for a in actions]
        groups += [self._group(data, one, doubt) for one in single]
        return tuple(group for group in groups if group.clauses)

    def _group(self, data: Sequence[Transition], actions: tuple[str, ...], doubt: int) -> Group:
        examples = []
        for index, seen in enumerate(data):
            if seen.action in actions:
                view = self._view(index, seen)
                if view is not None:
                    examples.append(Example(index, seen, view))
                elif seen.before != seen.after:
                    raise NotLearnable(f"{_named(index, seen)} without a mover")
        templates = self._templates(examples)
        for example in examples:
            if example.seen.before == example.seen.after:
                example.acceptable.add(())
            example.acceptable.update(t for t in templates if self._apply(example, t) == example.seen.after)
            # The likeliest reading of what happened.
            example.label = next(t for t in ((), *templates) if t in example.acceptable)
        lifted = dict.fromkeys(effects.lifted(one) for one in templates) if doubt else {}
        hopes = [t for t in lifted if t is not None and t not in templates]
        order = sorted(
            [*templates, *hopes],
            key=lambda t: (t in hopes, -len(effects.roles(t)), -len(t), effects.cost(t), repr(t)),
        )
        nearest = max([1, *itertools.chain.from_iterable(map(effects.touched, templates))])
        for reach in range(nearest, REACH + 1):
            clauses = self._clauses(examples, order, hopes, reach, doubt)
            if clauses is not None:
                return Group(actions, clauses)
        raise AssertionError("the widest language either succeeds or raises")

    def _templates(self, examples: Sequence[Example]) -> list[Template]:
        """Few templates that cover all examples in which something changed, the most used first."""
        left = [e for e in examples if e.seen.before != e.seen.after]
        candidates: set[Template] = set()
        for example in left:
            self._go_on()
            if example.index not in self._explained:
                found = effects.explanations(example.view, example.seen.after, self._frame)
                self._explained[example.index] = found
            if not self._explained[example.index]:
                raise NotLearnable(
                    f"{_named(example.index, example.seen)}, which is no change of the mover, of what it "
                    "holds or of what lies in its way"
                )
            candidates.update(self._explained[example.index])
        ranked = sorted(candidates, key=lambda t: (effects.cost(t), repr(t)))
        chosen: list[Template] = []
        while left:
            self._go_on()
            covered = {t: sum(self._apply(e, t) == e.seen.after for e in left) for t in ranked}
            best = max(ranked, key=lambda t: (covered[t] - 0.3 * effects.cost(t), -effects.cost(t)))
            chosen.append(best)
            left = [e for e in left if self._apply(e, best) != e.seen.after]
        return chosen

    def _clauses(
        self, examples: Sequence[Example], order: Sequence[Template], hopes: Sequence[Template], reach: int,
        doubt: int,
    ) -> tuple[Clause, ...] | None:  # fmt: skip
        """The decision list, or None where this language of conditions is too poor for it."""
        kinds = sorted({e.kind for x in examples for cell in x.view.cells[1:2] for e in cell})
        variable = {effect[2] for t in order for effect in t if effect[0] == "set"}
        shared = sorted({name for e in examples if e.view.held for name, _ in e.view.held.attributes})
        truths = [literals.true_of(e.view, reach, kinds, shared) for e in examples]
        left = list(range(len(examples)))
        clauses: list[Clause] = []
        for template in order:
            self._go_on()
            able = [i for i in left if self._apply(examples[i], template) is not None]
            positive = [i for i in able if examples[i].label == template]
            negative = [i for i in able if template not in examples[i].acceptable]
            if template in hopes:
                unless = self._narrow(examples, negative, variable, doubt)
            else:
                filled = {effect[1] for effect in template if effect[0] == "put"}
                cover = _exceptions(
                    [truths[i] for i in positive], [truths[i] for i in negative], variable, filled,
                    self._go_on,
                )  # fmt: skip
                if isinstance(cover, tuple):
                    if reach == REACH:
                        one, other = examples[negative[cover[0]]], examples[positive[cover[1]]]
                        raise NotLearnable(
                            f"{_named(one.index, one.seen)}, but {_named(other.index, other.seen)}, "
                            "although what lies ahead of the mover and what it holds are alike"
                        )
                    return None
                unless = tuple(cover)
                if doubt:
                    unless = self._doubting(examples, negative, unless, truths, variable, doubt)
            clause = Clause(template, unless)
            fired = {i for i in able if clause.fires(examples[i].view, self._frame) is not None}
            if template in hopes and any(template not in examples[i].acceptable for i in fired):
                continue
            left = [i for i in left if i not in fired]
            clauses.append(clause)
        return tuple(clauses)

    def _doubting(
        self, examples: Sequence[Example], negative: Sequence[int], unless: tuple[Conjunction, ...],
        truths: Sequence[set[Literal]], variable: set[str], doubt: int,
    ) -> tuple[Conjunction, ...]:  # fmt: skip
        """Weakly founded exceptions, narrowed to the neighbourhoods that they were seen in."""
        kept: list[Conjunction] = []
        for conjunction in unless:
            under = [i for i in negative if truths[i] >= set(conjunction)]
            if len(under) > doubt:
                kept.append(conjunction)
                continue
            narrow = {
                tuple(sorted({*conjunction, *literals.context(examples[i].view, variable)}, key=repr))
                for i in under
            }
            kept += sorted(narrow, key=repr)
        return tuple(kept)

    @staticmethod
    def _narrow(
        examples: Sequence[Example], negative: Sequence[int], variable: set[str], doubt: int
    ) -> tuple[Conjunction, ...]:
        """Exceptions of an effect only hoped for: classes that refused it, and single neighbourhoods."""
        kinds: dict[int, Conjunction] = {
            i: tuple(("kind", 1, e.kind) for cell in examples[i].view.cells[1:2] for e in cell[:1])
            for i in negative
        }
        counted = Counter(kinds.values())
        unless = {
            kinds[i] if kinds[i] and counted[kinds[i]] > doubt
            else literals.context(examples[i].view, variable)
            for i in negative
        }  # fmt: skip
        return tuple(sorted(unless, key=repr))

    def _go_on(self) -> None:
        if self._cancelled():
            raise Cancelled("learning was cancelled")

    def _view(self, index: int, seen: Transition) -> View | None:
        if index not in self._views:
            self._views[index] = look(seen.before, seen.action, self._frame)
        return self._views[index]

    def _apply(self, example: Example, template: Template) -> State | None:
        key = (example.index, template)
        if key not in self._applied:
            self._applied[key] = effects.apply(template, example.view, self._frame)
        return self._applied[key]


def _exceptions(
    positive: Sequence[set[Literal]],
    negative: Sequence[set[Literal]],
    variable: set[str],
    filled: set[int],
    go_on: Callable[[], None],
) -> list[Conjunction] | tuple[int, int]:
    """Conjunctions true of all negatives and no positive, or the indices of an inseparable pair.

    `go_on` raises Cancelled when it is time to stop.
    """
    positives = [*{frozenset(p): None for p in positive}]
    distinct = [*{frozenset(n): None for n in negative}]
    where: dict[Literal, int] = {}
    for bit, truth in enumerate(positives):
        for literal in truth:
            where[literal] = where.get(literal, 0) | 1 << bit
    found: list[Conjunction] = []
    left = list(distinct)
    while left:
        scored: list[tuple[float, str, Conjunction]] = []
        for truth in left[:6]:
            go_on()
            options = _separating(truth, where, variable, filled)
            if not options:
                place = next(i for i, n in enumerate(negative) if n == truth)
                nearest = max(
                    range(len(positive)), key=lambda i: len(positive[i] & truth) - len(positive[i] ^ truth)
                )
                return place, nearest
            for option in options:
                gain = sum(other.issuperset(option) for other in left)
                scored.append(
                    (
                        literals.conjunction_cost(option, variable, filled) - 0.8 * math.log2(1 + gain),
                        repr(option),
                        option,
                    )
                )
        best = min(scored)[2]
        found.append(best)
        left = [truth for truth in left if not truth.issuperset(best)]
    return _without_needless(found, distinct)


def _without_needless(found: list[Conjunction], truths: Sequence[frozenset[Literal]]) -> list[Conjunction]:
    """The cover without the conjunctions all of whose examples later ones cover as well."""
    for conjunction in sorted(found, key=lambda one: (sum(t.issuperset(one) for t in truths), repr(one))):
        others = [one for one in found if one != conjunction]
        if all(any(truth.issuperset(one) for one in others) for truth in truths):
            found = others
    return found


def _separating(
    truth: frozenset[Literal], where: dict[Literal, int], variable: set[str], filled: set[int]
) -> list[Conjunction]:
    """The cheaper conjunctions of literals in `truth` that no positive satisfies."""
    ordered = sorted(truth, key=lambda one: (literals.cost(one, variable, filled), repr(one)))[
        :_WIDEST_SEARCH
    ]
    masks = [where.get(one, 0) for one in ordered]
    found: list[Conjunction] = [(one,) for one, mask in zip(ordered, masks, strict=True) if not mask]
    useful = [i for i, mask in enumerate(masks) if mask]
    found += [
        (ordered[i], ordered[j]) for i, j in itertools.combinations(useful, 2) if not masks[i] & masks[j]
    ]
    if not found:
        triples = itertools.combinations(useful, 3)
        found = [
            (ordered[i], ordered[j], ordered[k]) for i, j, k in triples if not masks[i] & masks[j] & masks[k]
        ]
    return found


def _named(index: int, seen: Transition) -> str:
    return f"in transition {index}, '{seen.action}' gives \"{in_words(seen.before, seen.after)}\""
