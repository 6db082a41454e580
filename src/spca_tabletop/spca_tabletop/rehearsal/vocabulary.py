"""What can be said of a twin, whose contacts are known: more than a camera shows."""

from __future__ import annotations

from dataclasses import replace

from spca_core.kinds import SOLIDS, SUPPORTS
from spca_core.names import TABLE_SYMBOL
from spca_core.observation import Observation
from spca_core.ports.vocabulary import Extension
from spca_tabletop.plan.vocabulary import ON_NAMES, TOUCHED_NAMES, TabletopVocabulary


class TwinVocabulary(TabletopVocabulary):
    """The tabletop's vocabulary, with the facts that the twin takes from its own contacts."""

    def after(self, observation: Observation) -> dict[str, Extension]:
        """See `Vocabulary`. Every contact of the play so far is known, so what is not said does not hold."""
        found = super().after(observation)
        solids, supports = frozenset(SOLIDS), frozenset(SUPPORTS)

        def said(predicate: str) -> frozenset[tuple[str, ...]]:
            return frozenset(f.args for f in observation.facts if f.predicate == predicate)

        found |= dict.fromkeys(TOUCHED_NAMES, Extension((solids | supports,), said("touched")))
        found["across"] = Extension((solids,) * 3, said("across"))
        leaning = said("on_edge")
        found["on_edge"] = Extension((solids, frozenset({"plate"})), leaning)
        for name in ON_NAMES:  # what leans on a plate's edge stands on the table, too
            on = found[name].atoms | {(thing, TABLE_SYMBOL) for thing, _ in leaning & found[name].atoms}
            found[name] = replace(found[name], atoms=on - {(t, TABLE_SYMBOL) for t, _ in found["in"].atoms})
        return found
