"""Deterministic critics: a draft must match the observed world and the given task.

The scene critic: a problem is about the objects and the state that were observed. The goal critic: a goal
is what the task asks for, and the plan really achieves it. The vocabulary critic: a predicate that means
something observable is checked against what was observed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from spca_core.plan import Draft
from spca_core.ports.vocabulary import Extension, ObservableWord, Vocabulary
from spca_core.scene import Observation
from spca_planner.pddl.formula import Atom, Truth, atoms, evaluate, ground
from spca_planner.pddl.sexpr import MOST_FAULTS, brief
from spca_planner.pddl.syntax import Domain, Problem
from spca_planner.solver.judgement import Words

_MOST_NAMED = 3
"""Maximum number of facts named in one message; more would bury the point."""


def contradictions(
    domain: Domain, problem: Problem, observation: Observation, extensions: Mapping[str, Extension]
) -> list[str]:
    """Return a sentence for every way in which a problem contradicts the observation."""
    return [
        *islice(_unknown_objects(domain, problem, observation), MOST_FAULTS),
        *_wrong_init(domain, problem, observation, extensions),
    ]


def observed_truth(observation: Observation, extensions: Mapping[str, Extension], atom: Atom) -> Truth:
    """Return whether the observation shows an atom; None where it has nothing to say."""
    extension = extensions.get(atom[0])
    return None if extension is None else extension.truth(atom[1:], observation.objects)


def _unknown_objects(domain: Domain, problem: Problem, observation: Observation) -> Iterator[str]:
    kinds = {kind.lower() for kind in observation.objects.values()}
    for thing in (*domain.constants, *problem.objects):
        kind = observation.objects.get(thing.name)
        if kind is None:
            near = _near(thing.name, list(observation.objects))
            hint = f"did you mean '{near}'?" if near else f"there are: {', '.join(observation.objects)}"
            yield f"object '{thing.name}' is not in the scene; {hint}"
        elif thing.type in kinds and thing.type != kind.lower():
            yield f"'{thing.name}' is declared as a {thing.type}, but the scene shows a {kind}"


def _near(name: str, known: Sequence[str]) -> str:
    """Return a known name of the same words in another order, or nearly the same letters; empty if none."""
    same = [k for k in known if sorted(k.lower().split("_")) == sorted(name.split("_"))]
    # Two colours are less alike.
    return next(iter(same or difflib.get_close_matches(name, known, n=1, cutoff=0.85)), "")


def _wrong_init(
    domain: Domain, problem: Problem, observation: Observation, extensions: Mapping[str, Extension]
) -> Iterator[str]:
    stated = {ground(fact, {}) for fact in problem.init if fact.head not in ("=", "not")}
    false = [a for a in sorted(stated) if observed_truth(observation, extensions, a) is False]
    if false:
        yield (
            f"(:init …) states {_listed(false)}, which the scene does not "
            f"show{_instead(false[0], extensions)}"
        )
    if missing := unstated(domain, problem, extensions):
        yield f"(:init …) lacks {_listed(missing)}, which the scene shows"


def with_named_places(observation: Observation, draft: Draft, vocabulary: Vocabulary) -> Observation:
    """Return the observation with the places that a draft names, wherever it does."""
    text = f"{draft.domain} {draft.problem}".lower()
    return vocabulary.with_places(observation, dict.fromkeys(re.findall(r"[a-z][\w-]*", text)))


def unstated(domain: Domain, problem: Problem, extensions: Mapping[str, Extension]) -> list[Atom]:
    """Return what is observed, in the domain's words, and left out of the problem's init."""
    types = {o.name: o.type for o in (*domain.constants, *problem.objects)}
    stated = {ground(fact, {}) for fact in problem.init}
    shown = (
        (name, *args)
        for name in domain.predicates
        for args in sorted(extensions[name].atoms if name in extensions else ())
    )
    return [atom for atom in shown if domain.says(atom, types) and atom not in stated]


def _instead(atom: Atom, extensions: Mapping[str, Extension]) -> str:
    """Return a phrase about what the scene shows of the same thing; empty if it shows nothing."""
    same = [(atom[0], *args) for args in extensions[atom[0]].atoms if args and args[:1] == atom[1:2]]
    return f"; it shows {_listed(sorted(same))}" if same else ""


def _listed(atoms: list[Atom]) -> str:
    shown = ", ".join(f"({' '.join(a)})" for a in atoms[:_MOST_NAMED])
    return shown + (f" and {len(atoms) - _MOST_NAMED} more" if len(atoms) > _MOST_NAMED else "")


def off_topic_reason(problem: Problem, required: Sequence[str], observation: Observation) -> str:
    """Return a phrase that says that the goal leaves out an object of the task; empty if it does not.

    A goal with quantifiers may mean an object without its name, as does one about what it rests on alone:
    that a mat be clear.
    """
    words = problem.goal.words
    if "exists" in words or "forall" in words:
        return ""
    alone = {ground(atom, {})[1] for atom in atoms(problem.goal) if len(atom.rest) == 1}
    words |= {f.args[0] for f in observation.facts if f.predicate == "on" and f.args[1] in alone}
    missing = [symbol for symbol in required if symbol.lower() not in words]
    if not missing:
        return ""
    return f"the task names {', '.join(missing)}, but the goal {brief(problem.goal)} does not mention it"


def unproven_empty(
    domain: Domain, problem: Problem, observation: Observation, extensions: Mapping[str, Extension]
) -> str:
    """Explain why an empty plan is wrong, where the goal is not *seen* to hold; return "" where it is."""

    def truth(atom: Atom) -> Truth:
        return observed_truth(observation, extensions, atom)

    if evaluate(problem.goal, truth, domain, problem):
        return ""
    unseen = [str(a) for a in atoms(problem.goal) if not truth(ground(a, {}))]
    shown = ", ".join(unseen[:MOST_FAULTS]) or brief(problem.goal)
    return f"the plan is empty, but the scene does not show that {shown} holds"


def vacuous_reason(domain: Domain, problem: Problem, steps: Sequence[Words]) -> str:
    """Explain why a single action that achieves everything and requires nothing is a wish, not a plan."""
    if len(steps) != 1:
        return ""
    action = domain.actions[steps[0][0]]
    required = [*atoms(action.precondition), *atoms(action.precondition, positive=False)]
    stated = {ground(fact, {}) for fact in problem.init}
    achieved = [a for a in atoms(problem.goal) if ground(a, {}) not in stated]
    manipulated = {ground(a, {})[1] for a in achieved if a.rest}
    if not action.parameters and problem.objects:
        flaw = "it has no parameters, so it can only be this one task under another name"
    elif not any(a.head in domain.predicates for a in required):
        flaw = "it has no preconditions; state what must hold before the robot can do it"
    elif problem.goal.head != "or" and len(manipulated) > 1:
        flaw = f"it achieves {', '.join(map(str, achieved))} at once; use one action for each manipulation"
    else:
        return ""
    return f"action '{action.name}' alone achieves the goal, but {flaw}"


def impossible_reason(
    domain: Domain, steps: Sequence[Words], words: Sequence[ObservableWord], observation: Observation
) -> str:
    """Name the first step that is to bring about what never holds of a thing of its kind; "" if none is."""
    for number, (name, *args) in enumerate(steps, 1):
        action = domain.actions[name]
        names = {p.name: arg for p, arg in zip(action.parameters, args, strict=True)}
        for predicate, *things in (ground(atom, names) for atom in atoms(action.effect)):
            word, kind = meant(predicate, words), observation.objects.get(things[0]) if things else None
            if word and kind in word.never:
                step = f"step {number} {name}({', '.join(args)})"
                return f"{step} brings about ({predicate} {' '.join(things)}), which no {kind} can be"
    return ""


def with_synonyms(
    domain: Domain, words: Sequence[ObservableWord], extensions: Mapping[str, Extension]
) -> tuple[dict[str, Extension], list[str]]:
    """Return the extensions, also under the domain's own names, and what is wrong with its predicates.

    A predicate that means the same as an observed one, by its name, is taken for it if it has as many
    arguments; otherwise it would go unchecked, and is refused, unless another one is taken for it or it is
    explained only where it is seen. Beside the observed one itself, only what is called just so is taken for
    it: a domain with `on` may have a `stacked` of its own.
    """
    known, faults = dict(extensions), []
    counts = {name: len(signature.parameters) for name, signature in domain.predicates.items()}
    meanings = {
        name: word
        for name in counts
        if (word := meant(name, words))
        and (word.name not in counts or name in (word.name, *word.synonyms) or len(word.args) != counts[name])
    }
    said = {word.name for name, word in meanings.items() if counts[name] == len(word.args)}
    for name, word in meanings.items():
        if (count := counts[name]) != len(word.args) and word.name not in said and not word.aside:
            faults.append(
                f"predicate '{name}' with {count} argument(s) seems to mean what is observed as {word.form}: "
                f"use that, {word.meaning}"
            )
        elif count == len(word.args) and name not in known and word.name in known:
            known[name] = known[word.name]
    return known, faults


def meant(name: str, words: Sequence[ObservableWord]) -> ObservableWord | None:
    """Return the observable word that a predicate's name means; None if it means something else."""
    plain = name.lower().replace("-", "_")
    for word in words:
        if plain in (word.name, *word.synonyms) or (word.like and re.fullmatch(word.like, plain)):
            return word
    return None
