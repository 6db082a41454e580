"""Decides whether changed skills may replace trusted ones: by majority of the levels that were solved."""

from __future__ import annotations

from collections.abc import Callable, Collection

from spca_coder.ledger import SkillLedger
from spca_coder.source import Source, read, same_code
from spca_core.model import Record

Revalidate = Callable[[str, str], bool]
"""Whether a level (second) still passes with a library (first, source text): replayed in lockstep."""


class Ballot(Record):
    """The vote on changed skills: the levels that pass with the new versions, and with the trusted ones."""

    changed: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    for_new: tuple[str, ...] = ()
    for_old: tuple[str, ...] = ()

    @property
    def contested(self) -> bool:
        """True if some level that the trusted versions have solved fails with the new ones."""
        return len(self.for_new) < len(self.levels)

    @property
    def won(self) -> bool:
        """True if the new versions have the majority; a tie leaves what is trusted."""
        return not self.contested or len(self.for_new) > len(self.for_old)

    def __str__(self) -> str:
        lost = ", ".join(n for n in self.levels if n not in self.for_new)
        return (
            f"{lost} would not pass any more ({len(self.for_new)} of {len(self.levels)} levels pass with "
            f"the new version, {len(self.for_old)} with the trusted one)"
        )


class Revalidation:
    """Compares the functions of a working library with the trusted ones.

    Levels are tried when `vote` is called.
    """

    def __init__(self, present: str, working: str, level: str, ledger: SkillLedger) -> None:
        self._present, self._working = present, working
        self.trusted, self.candidate = read(present), read(working)
        self._level, self._ledger = level, ledger

    def clashes(self, functions: set[str]) -> dict[str, str]:
        """The functions that need another value of a trusted constant, with the reason."""
        _, constants = self.candidate.with_helpers(functions)
        trusted = self.trusted.constants
        clash = {n for n in constants if n in trusted and trusted[n] != self.candidate.constants[n]}
        return self.standing_on(clash, functions, f"needs another value of {', '.join(sorted(clash))}")

    def changed(self, functions: Collection[str]) -> set[str]:
        """The functions that the trusted library has in another form."""
        known = (n for n in functions if n in self.trusted.functions)
        return {
            n
            for n in known
            if not same_code(self.trusted.functions[n].text, self.candidate.functions[n].text)
        }

    def standing_on(self, names: Collection[str], functions: Collection[str], why: str) -> dict[str, str]:
        """The candidate's functions that are among the names or need one of them, each with the reason."""
        return {n: why for n in sorted(functions) if stands_on(self.candidate, n, names)}

    def witnesses(self, changed: set[str]) -> tuple[str, ...]:
        """The earlier levels that say something about changed functions."""
        touched = [n for n in self.trusted.functions if stands_on(self.trusted, n, changed)]
        proofs = [old for n in touched for old in self._ledger.levels.get(n, ())]
        contested = [old for n in touched for old in self._ledger.contested.get(n, ())]
        return tuple(n for n in dict.fromkeys((*proofs, *contested)) if n != self._level)

    def vote(self, changed: set[str], proposed: str, revalidate: Revalidate) -> Ballot:
        """Try every witness level with the proposed library.

        If one fails, all of them and the new level are tried with the present library.

        The new level counts for the new versions, which have just solved it.
        """
        levels = self.witnesses(changed)
        for_new = tuple(old for old in levels if revalidate(proposed, old))
        everything = (*levels, self._level)
        ballot = Ballot(changed=tuple(sorted(changed)), levels=everything, for_new=(*for_new, self._level))
        if not ballot.contested:
            return ballot
        for_old = tuple(level for level in everything if revalidate(self._present, level))
        return ballot.model_copy(update={"for_old": for_old})


def stands_on(source: Source, name: str, names: Collection[str]) -> bool:
    """Return whether a function is among the names, or needs one of them."""
    functions, constants = source.with_helpers({name})
    return bool((functions | constants) & set(names))
