"""Reference pages printed from the code: what a skill may call, the planning domain in words, file formats.

Pages in Markdown, for `spca api` and for the documentation's `docs/reference`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from spca.kits import kit_named, kits
from spca_core.errors import InputError
from spca_core.extensions import GROUPS, singular
from spca_core.ports.kit import Kit
from spca_core.skill import CtxApi
from spca_planner.pddl.sexpr import Group, Word
from spca_planner.pddl.syntax import Action, Domain, parse_domain


def page(what: str) -> str:
    """The page about an environment, `world` and `level` (file formats) or `plugins`.

    Raises InputError for anything else.
    """
    if what in _FORMATS:
        return _FORMATS[what]()
    names = [kit.name for kit in kits()]
    if what not in names:
        raise InputError(f"no page about '{what}'", hint=f"there are: {', '.join([*names, *_FORMATS])}")
    return _environment(kit_named(what))


def _environment(kit: Kit) -> str:
    parts = [f"# {kit.name.capitalize()}", f"{kit.about[0].upper()}{kit.about[1:]}.", *_calls(kit.api)]
    if text := kit.domain():
        parts += _domain(parse_domain(text), _meanings(text))
    return "\n\n".join(parts) + "\n"


# --- what a skill may call ---------------------------------------------------------------------------------


def _calls(api: CtxApi) -> Iterator[str]:
    yield (
        "## What a skill may call\n\nA skill is a function of `ctx` and of names. These are the calls on "
        "`ctx`; nothing else of the world can be reached."
    )
    yield _table(("call", "what it does"), ((f"`ctx.{m.signature}`", m.doc) for m in api.methods))
    if api.helpers:
        yield "Without `ctx`: " + ", ".join(f"`{helper}`" for helper in api.helpers) + "."
    if api.types:
        yield "### Values"
        rows = ((f"`{t.name}`", _fields(t.fields), t.doc) for t in api.types)
        yield _table(("type", "fields", "what it is"), rows)


def _fields(fields: Mapping[str, str]) -> str:
    return ", ".join(f"`{name}: {kind}`" for name, kind in fields.items())


# --- the planning domain -----------------------------------------------------------------------------------


def _meanings(text: str) -> dict[str, str]:
    """Return the meaning of each predicate, from the comment behind its declaration, by its name."""
    found = re.findall(r"^\s*\((?::predicates \()?([\w-]+)[^();]*\)+\s*;\s*(.+)$", text, re.MULTILINE)
    return {name: meaning.strip() for name, meaning in found}


def _domain(domain: Domain, meanings: Mapping[str, str]) -> Iterator[str]:
    yield "## The planning domain\n\nEach action is carried out by the skill of its name, with its arguments."
    kinds: dict[str, list[str]] = {}
    for kind, above in domain.types.items():
        kinds.setdefault(above or "", []).append(kind)
    rows = ((f"`{above}`", ", ".join(f"`{k}`" for k in below)) for above, below in kinds.items() if above)
    yield "### Types\n\n" + _table(("every", "is one of"), rows)
    rows = (
        (
            f"`({' '.join([p.name, *(f'{t.name} - {t.type}' for t in p.parameters)])})`",
            meanings.get(p.name, ""),
        )
        for p in domain.predicates.values()
    )
    yield "### Predicates\n\n" + _table(("predicate", "it holds when"), rows)
    yield "### Actions"
    for action in domain.actions.values():
        yield _action(action)


def _action(action: Action) -> str:
    arguments = ", ".join(f"{p.name.lstrip('?')}: {p.type}" for p in action.parameters)
    lines = [f"**`{action.name}({arguments})`**"]
    for title, group in (("needs", action.precondition), ("makes", action.effect)):
        parts = [] if group is None else list(_clauses(group))
        lines.append(f"* {title}: " + ("; ".join(parts) if parts else "nothing"))
    return "\n\n".join((lines[0], "\n".join(lines[1:])))


def _clauses(formula: Group) -> Iterator[str]:
    """The parts of a conjunction in words."""
    if formula.head == "and":
        for part in formula.rest:
            if isinstance(part, Group):
                yield from _clauses(part)
    elif formula.head != "increase":  # what an action costs is no fact
        yield _words(formula)


def _words(formula: Word | Group) -> str:
    if isinstance(formula, Word):
        return formula.text.lstrip("?")
    head, rest = formula.head, formula.rest
    inner = [part for part in rest if isinstance(part, Group)]
    if head in ("and", "or"):
        return f" {head} ".join(_words(part) for part in rest)
    if head == "not":
        return f"not {_words(rest[0])}"
    if head == "imply":
        return f"if {_words(inner[0])}, {_words(inner[1])}"
    if head == "when":
        return f"where {_words(inner[0])}: {' and '.join(_clauses(inner[1]))}"
    if head in ("forall", "exists"):
        names = " ".join(_words(word) for word in inner[0].items)
        quantifier = "for every" if head == "forall" else "for some"
        return f"{quantifier} {names}: {' and '.join(_clauses(inner[1]))}"
    if head == "=":
        return " is ".join(_words(part) for part in rest)
    return f"`{head}({', '.join(_words(part) for part in rest)})`"


# --- file formats and plugins ------------------------------------------------------------------------------


def _format(title: str, intro: str, schema: Mapping[str, Any]) -> str:
    """A record's JSON schema as tables: the file itself, then each record within it."""
    parts = [f"# {title}", intro, schema["description"], _properties(schema)]
    for name, inner in sorted(schema.get("$defs", {}).items()):
        about = " ".join(str(inner.get("description", "")).split())
        choice = ", ".join(f"`{value}`" for value in inner.get("enum", ()))
        parts += [f"## {name}", about, _properties(inner) if "properties" in inner else choice]
    return "\n\n".join(filter(None, parts)) + "\n"


def _properties(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = []
    for name, inner in schema["properties"].items():
        default = json.dumps(inner.get("default"), ensure_ascii=False)
        rows.append((f"`{name}`", _kind(inner), "required" if name in required else f"`{default}`"))
    return _table(("key", "type", "default"), rows)


def _kind(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_kind(part) for part in schema["anyOf"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        fixed = schema.get("prefixItems")
        return (
            f"[{', '.join(_kind(part) for part in fixed)}]" if fixed else f"list of {_kind(schema['items'])}"
        )
    if schema.get("type") == "object" and "additionalProperties" in schema:
        return f"by name: {_kind(schema['additionalProperties'])}"
    bounds = {"exclusiveMinimum": ">", "minimum": "≥", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = " ".join(f"{sign} {schema[key]:g}" for key, sign in bounds.items() if key in schema)
    return " ".join(filter(None, (str(schema.get("type", "anything")), limits)))


def _world() -> str:
    from spca_core.world import World

    return _format(
        "World files",
        "Robot, table, camera, light and things, as YAML in `worlds/` or in a file of your own "
        "(`--world FILE`). Metres, kilograms, radians; +x leads away from the robot, +y to the left, +z up. "
        "A file that says `extends: tabletop` has the rest from that world. Checked when it is loaded: "
        "names are unique, things lie on the table and not in each other, the camera is above the table.",
        World.model_json_schema(),
    )


def _level() -> str:
    from spca_referee.level import Level

    return _format(
        "Level files",
        "A task and how it is judged, as YAML in `levels/` or in a file of your own; levels/README.md has "
        "examples. Simulated seconds, metres, radians. `spca check FILE` says what is wrong with one.",
        Level.model_json_schema(),
    )


def _plugins() -> str:
    rows = ((f"`{group}`", singular(group), about) for group, about in GROUPS.items())
    intro = "An installed package adds to spca by entry points in these groups."
    return f"# Extension points\n\n{intro}\n\n{_table(('group', 'adds a', 'an entry is'), rows)}\n"


_FORMATS: dict[str, Callable[[], str]] = {"world": _world, "level": _level, "plugins": _plugins}


def _table(heads: tuple[str, ...], rows: Any) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in lines)
