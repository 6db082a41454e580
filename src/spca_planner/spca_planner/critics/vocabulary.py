"""Vocabulary for environments whose predicates are named like their observed facts."""

from __future__ import annotations

from collections.abc import Mapping

from spca_core.observation import Observation
from spca_core.ports.vocabulary import Extension, ObservableWord, Vocabulary
from spca_core.task import Task


class FactVocabulary(Vocabulary):
    """A vocabulary for any environment.

    Predicates are named like the observed facts, and complete for the kinds seen in them.
    """

    def words(self) -> tuple[ObservableWord, ...]:
        """See `Vocabulary`. Nothing is known of an environment that does not say it."""
        return ()

    def extensions(self, observation: Observation) -> dict[str, Extension]:
        """See `Vocabulary`."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for fact in observation.facts:
            found.setdefault(fact.predicate, set()).add(fact.args)
        return {name: _extension(atoms, observation.objects) for name, atoms in found.items()}

    def after(self, observation: Observation) -> dict[str, Extension]:
        """See `Vocabulary`. Nothing is certain of an environment that does not say what its facts mean."""
        return {}

    def required(self, task: Task, observation: Observation) -> tuple[str, ...]:
        """See `Vocabulary`. Nothing is required by an environment that does not read its tasks itself."""
        return ()


def _extension(atoms: set[tuple[str, ...]], objects: Mapping[str, str]) -> Extension:
    arity = max(len(a) for a in atoms)
    kinds = tuple(frozenset(objects.get(a[i], "") for a in atoms if len(a) == arity) for i in range(arity))
    return Extension(kinds, frozenset(atoms))
