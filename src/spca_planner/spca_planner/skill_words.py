"""What a skill's action needs and brings about, in the words that can be observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spca_core.ports.vocabulary import ObservableWord
from spca_core.skill import SkillSignature
from spca_planner.critics.synonyms import meant
from spca_planner.pddl.formula import ground
from spca_planner.pddl.lint import quantified
from spca_planner.pddl.sexpr import Group
from spca_planner.pddl.syntax import Action

_LOGIC = ("and", "not", "forall", "when", "or", "imply", "exists", "=", "increase", "assign")


def in_words(skill: SkillSignature, action: Action, words: Sequence[ObservableWord]) -> str:
    """Precondition and effect of a skill's action, without what is only bookkeeping of its own domain.

    What it brings about under a name of its own is told where nothing observable says it, such as a touch.
    """
    names = {p.name: f"?{n}" for p, n in zip(action.parameters, skill.parameters, strict=True)}
    needs = list(_literals(action.precondition, names, words))
    brings = list(_literals(action.effect, names, words))
    if not any(text.count(" ") for text in brings if not text.startswith(("(not", "(forall"))):
        brings += [text for text in _own(action.effect, names) if text not in brings]
    parts = (("needs", needs), ("brings", brings))
    return "; ".join(f"{word} {' '.join(found)}" for word, found in parts if found)


def _literals(
    condition: Group | None, names: Mapping[str, str], words: Sequence[ObservableWord]
) -> Iterator[str]:
    if condition is None or not condition.items:
        return
    parts = [part for part in condition.rest if isinstance(part, Group)]
    if condition.head == "and":
        for part in parts:
            yield from _literals(part, names, words)
    elif condition.head == "forall":
        inner = list(_literals(parts[1], names, words))
        scope = " ".join(quantified(parts[0]))
        if inner:
            yield f"(forall ({scope}) {inner[0] if len(inner) == 1 else f'(and {chr(32).join(inner)})'})"
    elif condition.head == "not":
        yield from (f"(not {text})" for text in _literals(parts[0], names, words) if text[1:4] != "not")
    elif condition.head not in _LOGIC and (word := meant(condition.head, words)) is not None:
        predicate, *args = ground(condition, names)
        yield f"({' '.join((word.name if len(args) == len(word.args) else predicate, *args))})"


def _own(effect: Group | None, names: Mapping[str, str]) -> Iterator[str]:
    """The facts that an effect adds under whatever name."""
    for part in effect.rest if effect is not None and effect.head == "and" else (effect,):
        if isinstance(part, Group) and part.items and part.head not in _LOGIC:
            yield f"({' '.join(ground(part, names))})"
