"""A proposer that needs no model: programs assembled from a world's fragments, mended where they failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from spca_core.errors import InputError
from spca_core.result import Usage
from spca_programs.plan_world import Briefing, Episode, FailureKind, PlanningProgram
from spca_standins.grammar import Grammar, grammar_of

_FRESH = 0.15
"""Share of new programs that are drawn anew, so that evolution never gets stuck for good."""
_MOST_CHANGES = 3


class GrammarPrograms:
    """See `spca_copic.ports.ProgramProposer`. Deterministic."""

    name = "grammar"

    usage = Usage()
    """Nothing: no model is asked."""

    def write(self, briefing: Briefing, count: int, seed: int) -> list[PlanningProgram]:
        """Different programs, each slot filled by chance."""
        grammar = _grammar(briefing)
        rng = Random(f"write/{briefing.task}/{seed}")
        return _different(count, lambda: _drawn(grammar, rng))

    def evolve(
        self,
        briefing: Briefing,
        programs: Sequence[PlanningProgram],
        episodes: Sequence[Episode],
        count: int,
        seed: int,
    ) -> list[PlanningProgram]:
        """Programs that differ from a present one in up to three slots, chosen by what failed under it."""
        grammar = _grammar(briefing)
        rng = Random(f"evolve/{briefing.task}/{seed}")
        trial = 1 + max((program.trial for program in programs), default=0)

        def draw() -> PlanningProgram:
            parent = rng.choice(list(programs)) if programs else None
            if parent is None or parent.fragments.keys() != grammar.slots.keys() or rng.random() < _FRESH:
                return _drawn(grammar, rng, trial)
            return _mended(grammar, parent, programs, failures_of(episodes, parent.id), trial, rng)

        return _different(count, draw, programs)

    @staticmethod
    def trusts(briefing: Briefing, program: PlanningProgram) -> bool:
        """Return whether a program is, letter by letter, what the grammar makes of the fragments it names."""
        grammar, named = grammar_of(briefing), program.fragments
        if grammar is None or list(named) != list(grammar.slots):
            return False
        known = all(name in grammar.slots[slot] for slot, name in named.items())
        return known and assemble(grammar, named).source == program.source


def _mended(
    grammar: Grammar,
    parent: PlanningProgram,
    programs: Sequence[PlanningProgram],
    failures: Counter[FailureKind],
    trial: int,
    rng: Random,
) -> PlanningProgram:
    """A child: fragments that mend the parent's failures or, if none is left, another program's."""
    fragments, parents, remarks = dict(parent.fragments), [parent.id], []
    for _ in range(rng.randint(1, _MOST_CHANGES)):
        kinds = list(failures) or ["step_limit"]
        kind = rng.choices(kinds, [failures[k] or 1 for k in kinds])[0]
        repairs = [
            (slot, name)
            for slot, known in grammar.slots.items()
            for name, fragment in known.items()
            if kind in fragment.repairs and fragments[slot] != name
        ]
        others = [p for p in programs if p.id != parent.id and set(p.fragments) == set(fragments)]
        if repairs:
            slot, name = rng.choice(repairs)
            fragments[slot] = name
            remarks.append(f"{slot}: {name}, against {kind}")
        elif others:
            other = rng.choice(others)
            slot = rng.choice(sorted(fragments))
            fragments[slot] = other.fragments[slot]
            parents = list(dict.fromkeys([*parents, other.id]))
            remarks.append(f"{slot}: {fragments[slot]}, from {other.id}")
    return assemble(grammar, fragments, tuple(parents), trial, "; ".join(remarks))


def assemble(
    grammar: Grammar,
    fragments: dict[str, str],
    parents: tuple[str, ...] = (),
    trial: int = 0,
    remark: str = "",
) -> PlanningProgram:
    """The program that fills each slot with the named fragment."""
    chosen = [known[fragments[slot]] for slot, known in grammar.slots.items()]
    head = "# " + ", ".join(f"{slot} = {name}" for slot, name in fragments.items())
    parts = [head, grammar.helpers, *(f.source for f in chosen), grammar.main]
    return PlanningProgram(
        source="\n\n\n".join(part.strip() for part in parts if part.strip()) + "\n",
        proposer=GrammarPrograms.name,
        parents=parents,
        trial=trial,
        fragments=fragments,
        remark=remark,
    )


def failures_of(episodes: Sequence[Episode], program: str) -> Counter[FailureKind]:
    """Count each kind of failure in failed episodes where that program's plan was followed."""
    return Counter(
        remark.kind
        for episode in episodes
        if not episode.success
        for decision in episode.decisions
        if program in decision.candidates[decision.chosen].programs
        for remark in decision.remarks
    )


def _different(
    count: int, draw: Callable[[], PlanningProgram], known: Sequence[PlanningProgram] = ()
) -> list[PlanningProgram]:
    """Draw until there are so many programs that are not known, or luck runs out."""
    old, found = {program.id for program in known}, dict[str, PlanningProgram]()
    for _ in range(50 * count):
        if len(found) == count:
            break
        program = draw()
        if program.id not in old:
            found.setdefault(program.id, program)
    return list(found.values())


def _drawn(grammar: Grammar, rng: Random, trial: int = 0) -> PlanningProgram:
    fragments = {slot: rng.choice(list(known)) for slot, known in grammar.slots.items()}
    return assemble(grammar, fragments, trial=trial, remark="drawn by chance")


def _grammar(briefing: Briefing) -> Grammar:
    if (grammar := grammar_of(briefing)) is None:
        raise InputError(
            f"there are no fragments for '{briefing.task}'",
            hint="have a language model write the programs (--proposer model)",
        )
    return grammar
