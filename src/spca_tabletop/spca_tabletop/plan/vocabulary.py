"""Vocabulary of what Sense says about the tabletop, by the names that PDDL domains are likely to give it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain

from spca_core.kinds import KINDS, SOLIDS, SUPPORTS
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL
from spca_core.plan import Task
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.ports.vocabulary import Extension, ObservableWord, Vocabulary
from spca_core.relation import relations
from spca_core.scene import RELATIONS, Fact, Observation
from spca_tabletop.language.goal import RULES
from spca_tabletop.language.understanding import describe, out_of_sight, understand
from spca_tabletop.plan.problem import OBSTRUCTIONS, abreast, bridges, reachable, too_large, with_places

_CUBE, _PLATE, _TABLE = frozenset(SOLIDS), frozenset(SUPPORTS), frozenset({"table"})
_GROUND = frozenset({"ground"})
_ROOMY = frozenset(k.name for k in KINDS.values() if k.room == "many")
_ROOMY_WORDS = ", ".join(k for k in SUPPORTS if k in _ROOMY)
_ANYTHING = _CUBE | _PLATE | _TABLE


_PLACES = [row.example for row in relations() if row.example and not row.skill]
_EXPLAINED = (
    ObservableWord(
        name="on", args=("?a", "?b"), meaning="?a rests on or in ?b; a bridge, on both",
        more=(
            (r"discard|throw|\btoss|ground|floor|get rid|off the", "(discarded ?a): ?a fell off the table"),
            ("pyramid|bridge|across", "what lies across two leaves the outer half of each free"),
        ),
        synonyms=("on_top_of", "resting_on", "stacked_on"),
        like=r"(is_)?(on|on_top|on_top_of|atop|stacked|stacked_on|placed_on|resting_on|rests_on|sits_on|supported_by)",
    ),
    ObservableWord(
        name="clear", args=("?a",),
        meaning=f"nothing rests on or in ?a; a {_ROOMY_WORDS} may be stated clear while it has room "
        "(a bowl, for two)",
        synonyms=("uncovered",), like=r"(is_)?(clear|top_clear|clear_top|uncovered|nothing_on(_top)?)",
    ),
    ObservableWord(
        name="held", args=("?a",), meaning=f"?a is in the gripper; never a {', '.join(SUPPORTS)}",
        synonyms=("holding", "in_hand", "grasped"), never=SUPPORTS,
        like=r"(is_)?(held|holding|grasped|grasping|gripped|gripping|carried|carrying|in_hand|in_gripper|picked_up)",
    ),
    ObservableWord(
        name="hand_empty", args=(), meaning="the gripper holds nothing",
        synonyms=("handempty", "gripper_empty", "arm_free"),
        like=r"(robot_)?(hand|gripper|arm|fingers?|claw|robot)_?(is_)?(empty|free|available|idle)"
        r"|(empty|free)_?(hand|gripper|arm)",
    ),
    ObservableWord(
        name="on_table", args=("?a",), meaning="the same as (on ?a table)",
        synonyms=("ontable",), like=r"(is_)?on_?(the_?)?table", aside=True,
    ),
    ObservableWord(
        name="next_to", args=("?a", "?b"),
        meaning="?a and ?b touch side by side, until either is taken away; in effects and goals, ?a moves",
        synonyms=("beside", "adjacent"), like=r"(is_)?(next_to|beside|adjacent|adjacent_to|side_by_side)",
        more=(
            (r"\brows?\b|line|straight|pyramid", "a straight row is a chain of these: each goes on in line"),
        ),
    ),
    ObservableWord(
        name="at", args=("?a", "?p"),
        meaning=f"?a is on the table at ?p: {', '.join(_PLACES)}; left_of__X__40: in line, a gap of 40 mm",
        more=(("edge|border", "the table's edge is any end of these ranges, unless the task says which"),),
    ),
    ObservableWord(name="too_wide", args=("?a",), meaning="?a is too wide to be held", aside=True),
    *(ObservableWord(name=row.name, args=("?a", "?b"), meaning=row.meaning, synonyms=row.names, of=row.of)
      for row in relations() if row.meaning),
)  # fmt: skip
_WORDS = _EXPLAINED + tuple(
    ObservableWord(name=name, args=("?a", "?b")[: meaning.count("?")], meaning=meaning, aside=True)
    for name, meaning in RELATIONS.items()
    if name not in {word.name for word in _EXPLAINED}
)
_NAMES = {word.name: (word.name, *word.synonyms) for word in _WORDS}
TOUCHED_NAMES = ("touched", "touching", "in_contact", "contacted")


class TabletopVocabulary(Vocabulary):
    """See `spca_core.ports.vocabulary.Vocabulary`."""

    def words(self) -> tuple[ObservableWord, ...]:
        """Return the words for what Sense can say, whether it holds now or not."""
        return _WORDS

    def shown(self, observation: Observation) -> Observation:
        """See `Vocabulary`: with what the gripper is too narrow for."""
        wide = (Fact(predicate="too_wide", args=(thing,)) for thing in too_large(observation))
        return observation.model_copy(update={"facts": (*observation.facts, *wide)})

    def with_places(self, observation: Observation, names: Iterable[str]) -> Observation:
        """See `Vocabulary`."""
        return with_places(observation, names)

    def extensions(self, observation: Observation) -> dict[str, Extension]:
        """Return what is seen: where cubes rest, what is free, what is held.

        Nothing counts as touched before the plan.
        """
        cubes = {s for s, kind in observation.objects.items() if kind in SOLIDS}
        within_reach = reachable(observation)

        def seen(predicate: str) -> frozenset[tuple[str, ...]]:
            return frozenset(
                f.args for f in observation.facts if f.predicate == predicate and f.args[0] in within_reach
            )

        on, pairs = seen("on"), seen("next_to")
        held = frozenset(f.args for f in observation.facts if f.predicate == "held")
        lost = frozenset((c,) for c in cubes - within_reach)
        free = frozenset(f.args for f in observation.facts if f.predicate == "clear" and f.args[0] in cubes)
        found = {
            "on": Extension((_CUBE, _ANYTHING), on),
            # of a held cube, some say that it is clear and some do not; a fallen one had better not be
            "clear": Extension((_CUBE,), free - held - lost, unsaid=held),
            "next_to": Extension((_CUBE | _PLATE,) * 2, pairs | {(b, a) for a, b in pairs}),
            **{r.name: Extension((_CUBE, _ANYTHING), seen(r.name)) for r in relations() if r.meaning},
            "at": Extension((_CUBE, frozenset({"place"})), seen("at")),
        }
        found["held"] = Extension((_CUBE,), held)
        found["too_wide"] = Extension((_CUBE,), frozenset((c,) for c in too_large(observation)))
        found["hand_empty"] = Extension((), frozenset() if held else frozenset({()}))
        found["on_table"] = Extension((_CUBE,), frozenset((c,) for c, x in on if x == TABLE_SYMBOL))
        for name in list(found):
            found |= dict.fromkeys(_NAMES[name], found[name])
        found["across"] = Extension((_CUBE,) * 3, frozenset(bridges(observation)))
        found["abreast"] = Extension((_CUBE | _PLATE,) * 2, frozenset(abreast(observation)))
        found |= dict.fromkeys(TOUCHED_NAMES, Extension((_CUBE | _PLATE,), frozenset()))
        for side, meaning in RELATIONS.items():
            if side not in found:
                atoms = frozenset(f.args for f in observation.facts if f.predicate == side)
                kinds = (_CUBE | _PLATE,) * meaning.count("?")
                # What is in the way of what is found out where it matters: the list is not complete.
                found[side] = Extension(() if side in OBSTRUCTIONS else kinds, atoms)
        return found

    def after(self, observation: Observation) -> dict[str, Extension]:
        """See `Vocabulary`.

        Whether something was touched cannot be seen afterwards; what fell rests on the ground.
        """
        found = self.extensions(observation)
        for name in TOUCHED_NAMES:
            del found[name]
        on = frozenset(f.args for f in observation.facts if f.predicate == "on")
        found |= dict.fromkeys(_NAMES["on"], Extension((_CUBE, _ANYTHING | _GROUND), on))
        # Whether there is room left where there is room for many is a matter of modelling.
        roomy = frozenset((s,) for s, kind in observation.objects.items() if kind in _ROOMY)
        clear = found["clear"]
        below = {s for s, kind in observation.objects.items() if kind in SUPPORTS}
        free = clear.atoms | {
            f.args for f in observation.facts if f.predicate == "clear" and f.args[0] in below
        }
        seen = Extension((_CUBE | _PLATE,), free, unsaid=clear.unsaid | (roomy - free))
        found |= dict.fromkeys(_NAMES["clear"], seen)
        for row in (r for r in relations() if r.rests == GROUND_SYMBOL):
            fallen = Extension((_CUBE,), frozenset((c,) for c, x in on if x == GROUND_SYMBOL))
            found |= dict.fromkeys((row.name, *row.names), fallen)
        return found

    def asked(self, task: Task, observation: Observation) -> Sequence[frozenset[tuple[str, ...]]]:
        """See `Vocabulary`: as the grammar reads it; nothing while what is out of sight may be meant."""
        goals: Sequence[frozenset[tuple[str, ...]]] = ()
        with suppress(NotUnderstood, Impossible):
            goals = () if out_of_sight(observation) else understand(task, observation)
        lacking = ([a for a in goal if a[0] not in RULES and not observation.holds(*a)] for goal in goals)
        return [frozenset(chain.from_iterable(map(_seen_as, atoms))) for atoms in lacking]

    def say(self, goals: Sequence[frozenset[tuple[str, ...]]]) -> str:
        """See `Vocabulary`."""
        return describe([frozenset(atom for atom in goal if len(atom) > 1) for goal in goals])


def _seen_as(atom: tuple[str, ...]) -> list[tuple[str, ...]]:
    """What shows that the atom of a goal holds."""
    predicate, thing, *others = atom
    if predicate == "across":
        return [("on", thing, other) for other in others]
    return [("next_to", thing, *others) if predicate == "abreast" else atom]
