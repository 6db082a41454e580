"""What Sense says about the tabletop, by the names that a PDDL domain is likely to give it."""

from __future__ import annotations

import re

from spca_core.names import words_of
from spca_core.observation import Observation
from spca_core.ports.vocabulary import Extension
from spca_core.scene import RELATIONS
from spca_core.task import Task
from spca_planner.critics.vocabulary import required_part
from spca_tabletop.language.lexicon import COLOURS
from spca_tabletop.plan.problem import reachable

_CUBE, _PLATE, _TABLE = frozenset({"cube"}), frozenset({"plate"}), frozenset({"table"})
_GROUND = frozenset({"ground"})
_ANYTHING = _CUBE | _PLATE | _TABLE
_HELD = ("held", "holding", "in_hand", "in_gripper", "grasped")
_HAND_EMPTY = (
    "hand_empty",
    "handempty",
    "hand_free",
    "gripper_empty",
    "gripper_free",
    "arm_empty",
    "arm_free",
)
_ON_TABLE = ("on_table", "ontable")
_OFF_TABLE = ("discarded", "off_table", "fallen", "on_ground", "on_floor", "thrown_away", "removed")
_TOUCHED = ("touched", "touching", "in_contact", "contacted")
_BLOCK = r"(?:cube|block|box|brick)s?"
_DISC = r"(?:plate|dis[ck]|dish|saucer|tray)s?"
_COLOURED = rf"(?:the |a )?(?:{'|'.join(COLOURS)}) (?:{_BLOCK}|{_DISC})"
_REFERENCE = (
    rf"\b(?:the|a|an|any) {_BLOCK}(?: that (?:is|lies|stands|rests))? (?:on|under|below|next to|beside) {_COLOURED}"
    rf"|\b(?:clear|empty|unload|unstack) {_COLOURED}"
)
"""Things named only to say which other one is meant ("the cube on the blue plate"), or what to take things from."""


class TabletopVocabulary:
    """See `spca_core.ports.vocabulary.Vocabulary`."""

    def extensions(self, observation: Observation) -> dict[str, Extension]:
        """What is seen: where cubes rest, what is free, what is held. Nothing counts as touched before the plan."""
        cubes = {s for s, kind in observation.objects.items() if kind == "cube"}
        within_reach = reachable(observation)

        def seen(predicate: str) -> frozenset[tuple[str, ...]]:
            return frozenset(
                f.args for f in observation.facts if f.predicate == predicate and f.args[0] in within_reach
            )

        on, held, pairs = seen("on"), seen("held"), seen("next_to")
        lost = frozenset((c,) for c in cubes - within_reach)
        found = {
            "on": Extension((_CUBE, _ANYTHING), on),
            # of a held cube, some say that it is clear and some do not; a fallen one had better not be
            "clear": Extension((_CUBE,), seen("clear") - held - lost, unsaid=held),
            "next_to": Extension((_CUBE, _CUBE), pairs | {(b, a) for a, b in pairs}),
        }
        found |= dict.fromkeys(_HELD, Extension((_CUBE,), held))
        found |= dict.fromkeys(_HAND_EMPTY, Extension((), frozenset() if held else frozenset({()})))
        found |= dict.fromkeys(_ON_TABLE, Extension((_CUBE,), frozenset((c,) for c, x in on if x == "table")))
        found |= dict.fromkeys(_TOUCHED, Extension((_CUBE | _PLATE,), frozenset()))
        for side in RELATIONS:
            if side not in (*found, "held"):
                atoms = frozenset(f.args for f in observation.facts if f.predicate == side)
                found[side] = Extension((_CUBE | _PLATE,), atoms)
        return found

    def after(self, observation: Observation) -> dict[str, Extension]:
        """See `Vocabulary`. Whether something was touched cannot be seen afterwards; what fell rests on the ground."""
        found = self.extensions(observation)
        for name in _TOUCHED:
            del found[name]
        on = frozenset(f.args for f in observation.facts if f.predicate == "on")
        found["on"] = Extension((_CUBE, _ANYTHING | _GROUND), on)
        found |= dict.fromkeys(
            _OFF_TABLE, Extension((_CUBE,), frozenset((c,) for c, x in on if x == "ground"))
        )
        return found

    def required(self, task: Task, observation: Observation) -> tuple[str, ...]:
        """The cubes and plates called by colour and kind ("the red cube"), where they are not just points of reference."""
        text = re.sub(_REFERENCE, " ", required_part(task.description or task.title))
        found = []
        for symbol, kind in observation.objects.items():
            noun = {"cube": _BLOCK, "plate": _DISC}.get(kind)
            colour = words_of(symbol).split()[0]
            unique = sum(s.startswith(f"{kind}_{colour}") for s in observation.objects) == 1
            if noun and unique and colour in COLOURS and re.search(rf"\b{colour} {noun}\b", text):
                found.append(symbol)
        return tuple(found)
