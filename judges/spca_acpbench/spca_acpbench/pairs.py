"""Atoms that can hold together, as far as pairs of them tell (h², Haslum and Geffner 2000)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from spca_acpbench.questions import Atom
from spca_acpbench.task import Task


class Pairs:
    """Pairs of atoms that can come to hold at once. What is said to be impossible is proven to be so.

    A pair can hold at first, or after an action all of whose preconditions can hold in pairs: two of its
    effects, or one of them and an atom that it leaves alone and that can hold with each precondition.
    """

    def __init__(self, task: Task) -> None:
        actions = task.operators.values()
        changing = sorted({atom for a in actions for atom in a.adds | a.deletes})
        self._number = {atom: k for k, atom in enumerate(changing)}
        self._fixed = task.initial - self._number.keys()
        first = np.array([atom in task.initial for atom in changing], dtype=bool)
        self._together = together = np.outer(first, first)
        rows = [tuple(map(self._numbers, (a.needs, a.adds, a.deletes))) for a in actions]
        grown = True
        while grown:
            grown = False
            for needs, adds, deletes in rows:
                if not together[np.ix_(needs, needs)].all():
                    continue
                after = np.logical_and.reduce(together[needs]) if needs else together.diagonal().copy()
                after[deletes] = False
                after[adds] = True
                if not together[adds][:, after].all():
                    together[adds] |= after
                    together[:, adds] |= after[:, None]
                    grown = True

    def possible(self, atoms: Collection[Atom]) -> bool:
        """Return whether atoms may hold at once."""
        numbers = self._numbers(atoms)
        fixed = all(atom in self._number or atom in self._fixed for atom in atoms)
        return fixed and bool(self._together[np.ix_(numbers, numbers)].all())

    def _numbers(self, atoms: Collection[Atom]) -> list[int]:
        return [self._number[atom] for atom in atoms if atom in self._number]
