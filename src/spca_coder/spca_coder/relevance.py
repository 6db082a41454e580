"""Selects the skills of a library that are worth showing to a coder, within a number of tokens."""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from spca_coder.source import Function, Source, read
from spca_core.plan import ActionSchema

CHARACTERS_PER_TOKEN = 3.5
"""Number of characters per token, a cautious one for code: the common tokenisers need 3.5-4.5."""
_NAME_WEIGHT, _LITERAL_WEIGHT = 3.0, 2.0
_LOGIC = ("and", "or", "not", "imply", "forall", "exists", "when", "increase")
_SPARE_WORDS = frozenset((
    "a", "an", "and", "are", "at", "be", "by", "for", "from", "if", "in", "is", "it", "its", "of", "on", "or",
    "that", "the", "to", "with", "action", "define",
))  # fmt: skip


def tokens_of(text: str) -> int:
    """Estimate how many tokens a text takes, rather too many than too few."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def relevant(
    library: str,
    schemas: Sequence[ActionSchema],
    token_budget: float,
    without: Collection[str] = (),
    known: Collection[str] = (),
    actions: Mapping[str, str] | None = None,
) -> str:
    """Return the source of the skills most like the wanted actions, with the constants that they use.

    Of the helpers that they call, which a new skill may call as well, only the first lines are shown. Never
    longer than the budget; an infinite one takes the whole library, helpers and all. The skills named in
    `without` are left out, and what is in `known`, which the proposer sees anyway. The likeness is that of
    words (of names, documentation and PDDL) and of what is needed and changed, where `actions` says it of a
    skill; what is rare in the library counts more (inverse document frequency).
    """
    source = read(library)
    everything = math.isinf(token_budget)
    chosen: set[str] = set()
    shown = ""
    for name in _ranked(source, schemas, without, everything, actions or {}):
        longer = _shown(source, {*chosen, name} - set(known), set(known), everything)
        if tokens_of(longer) <= token_budget:
            chosen.add(name)
            shown = longer
    return shown


def _shown(source: Source, skills: set[str], known: set[str], everything: bool) -> str:
    """Return the skills as they are, and above them the helpers and the constants that they use."""
    parts = dict[str, None]()
    patterns = []
    for home in (source.modules or {"": source}).values():
        own = {name for name in skills if source.home(name) is home}
        if everything:
            functions, constants = home.with_helpers(own)
            patterns.append(home.excerpt(functions - known, constants))
            continue
        used = {name for skill in own for name in home.functions[skill].uses}
        parts[home.excerpt(set(), used & set(home.constants))] = None
        helpers = [f for n, f in home.functions.items() if n in used - skills - known and not f.is_skill]
        parts |= dict.fromkeys(map(_first_line, helpers))
        patterns.append(home.excerpt(own, set()))
    return "\n".join(part for part in (*parts, *patterns) if part)


def _first_line(helper: Function) -> str:
    taken = ast.unparse(ast.parse(helper.text).body[0].args)  # type: ignore[attr-defined]
    return f"def {helper.name}({taken}): {json.dumps(' '.join(helper.doc.split())) if helper.doc else '...'}"


def _ranked(
    source: Source,
    schemas: Sequence[ActionSchema],
    without: Collection[str],
    everything: bool,
    actions: Mapping[str, str],
) -> list[str]:
    skills = [f for f in source.functions.values() if f.is_skill and f.name not in without]
    words = {f.name: _skill_words(f, actions.get(f.name, "")) for f in skills}
    frequency = Counter(word for bag in words.values() for word in bag)
    wish = Counter(word for s in schemas for word in _schema_words(s))

    def score(function: Function) -> float:
        bag = words[function.name]
        rare = {w: math.log(1 + len(skills) / frequency[w]) for w in bag if w in wish}
        shared = sum(wish[w] * bag[w] * weight for w, weight in rare.items())
        return shared / (1 + math.log(1 + len(bag)))

    scores = {f.name: score(f) for f in skills}
    return sorted((n for n, s in scores.items() if s > 0 or everything), key=lambda n: (-scores[n], n))


def _skill_words(function: Function, action: str) -> dict[str, float]:
    bag = dict.fromkeys(_words(" ".join((function.doc, *function.parameters[1:]))), 1.0)
    bag |= dict.fromkeys(_words(function.name), _NAME_WEIGHT)
    things = f"{len(function.parameters) - 1} things"
    return bag | dict.fromkeys((*_literals(action), things), _LITERAL_WEIGHT)


def _schema_words(schema: ActionSchema) -> set[str]:
    words = _words(f"{schema.name} {schema.pddl}")
    return {*words, *_literals(schema.pddl), f"{len(schema.parameters)} things"} if words else set()


def _literals(action: str) -> list[str]:
    """Return what an action needs and brings, by predicates, from its PDDL or from what is told of it."""
    needs, *brings = re.split(r":effect|\bbrings\b", action.lower(), maxsplit=1)
    return [
        f"{part} {'not ' * bool(no)}{name}"
        for part, text in (("needs", needs), *(("brings", b) for b in brings))
        for no, name in re.findall(r"(\(not\s*)?\(([a-z][\w-]*)", text)
        if name not in _LOGIC
    ]


def _words(text: str) -> list[str]:
    return [w for w in re.findall(r"[a-z]+", text.lower()) if len(w) > 1 and w not in _SPARE_WORDS]
