"""In which order things are to be done, as far as the text says it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from spca_core.names import TABLE_SYMBOL
from spca_core.ports.proposer import NotUnderstood
from spca_tabletop.language.entities import Entity, Known
from spca_tabletop.language.meaning import Claim, Meaning
from spca_tabletop.language.phrases import Mark

_TABLE = Known(TABLE_SYMBOL)


class OrderedClaims:
    """Collects claims in stages, each of which has to come true before the next one."""

    def __init__(self, meaning: Meaning) -> None:
        self._m = meaning
        self._stages: list[list[Claim]] = [[]]
        self._first: list[Mark] = []
        """What says "first" of the next element; `_followed` said so of the latest one."""
        self._followed: list[Mark] = []
        self._marks: list[tuple[Mark, int, bool]] = []
        """Words, the stage that each begins, and whether something was being built before."""
        self._released: set[int] = set()
        self._latest: list[Claim] = []

    def mark(self, mark: Mark) -> None:
        """Take in a word about the order. Whether it is heeded shows when all is said."""
        tower = self._m.tower
        if mark.kind == "first":
            if not (any(self._stages) or tower.slots or tower.runs):
                self._first.append(mark)
        elif mark.kind == "then":
            self._marks.append((mark, len(self._stages), tower.active or self._m.bridge))
            self._stages.append([])
        elif len(self._latest) > 1:
            self.put_in([claim.args[0] for claim in self._latest])
            self._m.discourse.ledger.use(mark)

    def add(self, claims: Sequence[Claim], held: Sequence[Entity], is_release: bool) -> None:
        """Take in what the next element asks for."""
        self._latest = [*claims, *(Claim("holding", (e,)) for e in held)]
        self._stages[-1] += self._latest
        self._released |= {len(self._stages) - 1} if is_release else set()
        for mark in self._followed:
            self._m.discourse.ledger.use(mark)
        self._first, self._followed = [], self._first
        if self._followed:
            self._stages.append([])

    def put_in(self, entities: Sequence[Entity]) -> None:
        """Order what was asked for last by what it is about."""
        if {c.args[0] for c in self._latest} != set(entities) or len(set(entities)) < len(entities):
            raise NotUnderstood("I do not know what to do in that order; name every thing once.")
        self._stages[-1] = [c for c in self._stages[-1] if c not in self._latest]
        self._stages += [[c for c in self._latest if c.args[0] == entity] for entity in entities]

    def finish(self) -> None:
        """Add the rules, once the claims are complete."""
        for mark, number, building in self._marks:
            if number > 0 and self._is_heeded(number, building):
                self._m.discourse.ledger.use(mark)
        stages = [_telling([c for c in stage if c in self._m.claims]) for stage in self._stages]
        chain: list[Claim] = []
        for number, stage in enumerate(stages):
            for claim in stage:
                for earlier in (c for before in stages[:number] for c in before):
                    _check(earlier, claim)
            chain += stage if sum(map(bool, stages)) > 1 else []
        for earlier, later in pairwise(chain):
            natural = earlier.args[0] in later.args or later.predicate == "holding"
            if not natural and not (_on_table(earlier) or _on_table(later)):
                self._m.rules.append(Claim("before", (earlier.args[0], later.args[0])))
            elif not natural and not any(earlier in stage and later in stage for stage in stages):
                raise NotUnderstood("I can keep no order with what is put on the table; leave out the order.")

    def _is_heeded(self, number: int, building: bool) -> bool:
        """Return whether a stage comes after what was said before it."""
        if claims := self._stages[number]:
            before = {e for stage in self._stages[:number] for c in stage for e in c.args}
            before.update(self._m.tower.members)
            onto = all(c.predicate == "on" and c.args[1] in before for c in claims)
            return onto or not building or any(self._stages[:number])
        in_build = any(len(run) > 1 for run in self._m.tower.runs) or self._m.bridge
        return in_build or number in self._released


def _telling(stage: Sequence[Claim]) -> list[Claim]:
    """Without the table, where something stands on it next to another thing."""
    return [c for c in stage if not _on_table(c) or not any(o != c and o.args[0] == c.args[0] for o in stage)]


def _on_table(claim: Claim) -> bool:
    return claim.predicate == "on" and claim.args[1] == _TABLE


def _check(earlier: Claim, later: Claim) -> None:
    if earlier.predicate == "holding":
        raise NotUnderstood("I can do nothing else any more while I hold something; say that last.")
    same, predicates = earlier.args[0] == later.args[0], (earlier.predicate, later.predicate)
    if same and "touched" in predicates and later.predicate != "holding":
        raise NotUnderstood("I cannot say when to touch a thing that has to be moved, too.")
    if later.args[0] in earlier.args[1:] and later.predicate != "touched":
        raise NotUnderstood(
            "What something was put on, or next to, has to stay; say that in the other order."
        )
