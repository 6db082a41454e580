"""Turns a task text and a scene into a goal, by the reading that makes sense on this table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product

from spca_core.names import words_of
from spca_core.observation import Observation
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.task import Task
from spca_tabletop.language.goal import Atom, Goal, alternatives
from spca_tabletop.language.installed import ways_to_read
from spca_tabletop.language.interpreter import interpret
from spca_tabletop.language.phrases import Reading

_MOST_COMBINATIONS = 256


def understand(task: Task, observation: Observation) -> list[Goal]:
    """The goals any of which fulfils the task.

    The description is the text that counts, the title stands in for it.

    Raises NotUnderstood, and Impossible where the text makes sense but not on this table.
    """
    said = ways_to_read(task.description) or ways_to_read(task.title)
    if not said:
        raise NotUnderstood("The task says nothing that could be done.")
    found: dict[tuple[Goal, ...], int] = {}
    problems: list[tuple[int, int, Exception]] = []
    for combination in islice(product(*said), _MOST_COMBINATIONS):
        reading = Reading(tuple(e for r in combination for e in r.elements))
        progress = 0
        try:
            meaning = interpret(reading, observation)
            progress = 1
            goals = tuple(alternatives(meaning, observation))
        except (NotUnderstood, Impossible) as error:
            problems.append((-progress, len(reading.elements), error))
            continue
        found[goals] = min(found.get(goals, meaning.cost), meaning.cost)
    if not found:  # the reading that came farthest has the most to the point to say
        raise min(problems, key=lambda p: p[:2])[2]
    least = min(found.values())
    best = [goals for goals, cost in found.items() if cost == least]
    if len(best) > 1:
        meanings = " or: ".join(describe(goals) for goals in best[:2])
        raise NotUnderstood(f"That can mean several things: {meanings}. Say it in separate sentences.")
    return list(best[0])


def describe(goals: Sequence[Goal]) -> str:
    """Goals in words."""
    told = [", ".join(_sentence(atom) for atom in sorted(goal)) for goal in goals[:3]]
    return "; or ".join(told) + ("; or …" if len(goals) > 3 else "")


def _sentence(atom: Atom) -> str:
    predicate, first, *others = atom
    rest = " and the ".join(words_of(o) for o in others)
    words = {
        "on": "on the", "next_to": "next to the", "on_edge": "on the edge of the", "across": "across the",
        "unfit": "never on the",
        "holding": "in the gripper", "touched": "touched", "discarded": "thrown off the table",
    }  # fmt: skip
    return f"the {words_of(first)} {words.get(predicate, predicate.replace('_', ' '))} {rest}".strip()
