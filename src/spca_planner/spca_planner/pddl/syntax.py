"""The parts of a PDDL domain and problem.

This is classical planning: the subset that the planner and the validators share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from textwrap import dedent

from spca_core.plan import ActionSchema
from spca_planner.pddl.sexpr import Group, PddlError, Word, brief, read

OBJECT = "object"
_DOMAIN_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":functions", ":action")
_UNSUPPORTED = {
    ":derived": "derived predicates are",
    ":durative-action": "durative actions are",
    ":constraints": "constraints on plans are",
}
_PROBLEM_SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")


@dataclass(frozen=True)
class Typed:
    """A parameter (`?x`), object or constant with its type."""

    name: str
    type: str
    line: int


@dataclass(frozen=True)
class Signature:
    """A predicate or a function."""

    parameters: tuple[Typed, ...]
    line: int


@dataclass(frozen=True)
class Action:
    """An action; `precondition` and `effect` are None where the text has none. `text` is complete.

    `said` are predicates of its domain with their comments, `kinds` its types with all that is of each.
    """

    name: str
    parameters: tuple[Typed, ...]
    precondition: Group | None
    effect: Group | None
    line: int
    text: str
    said: tuple[tuple[str, str], ...] = ()
    kinds: Mapping[str, Collection[str]] = field(default_factory=dict, compare=False)

    @property
    def schema(self) -> ActionSchema:
        """The action's schema, as the coder gets it."""
        parameters = tuple((p.name.lstrip("?"), p.type) for p in self.parameters)
        return ActionSchema(name=self.name, parameters=parameters, pddl=self.text)


@dataclass(frozen=True)
class Domain:
    """A domain; `types` maps each type to its supertype (None for `object`)."""

    types: dict[str, str | None]
    constants: tuple[Typed, ...]
    predicates: dict[str, Signature]
    functions: dict[str, Signature]
    actions: dict[str, Action]

    def is_a(self, kind: str, ancestor: str) -> bool:
        """Return whether `kind` is `ancestor` or one of its subtypes."""
        return ancestor == OBJECT or ancestor in self.ancestry(kind)

    def says(self, atom: Sequence[str], types: Mapping[str, str]) -> bool:
        """Return whether the domain has a predicate for that atom, whose arguments are of these types."""
        signature = self.predicates.get(atom[0])
        wanted = [p.type for p in signature.parameters] if signature is not None else [""] * len(atom)
        return len(wanted) == len(atom) - 1 and all(
            a in types and self.is_a(types[a], t) for a, t in zip(atom[1:], wanted, strict=True)
        )

    def ancestry(self, kind: str) -> list[str]:
        """Return `kind` and its supertypes, upwards, each once, even where the types go round in a circle."""
        found: dict[str, None] = {}
        current: str | None = kind
        while current is not None and current not in found:
            found[current] = None
            current = self.types.get(current)
        return list(found)


@dataclass(frozen=True)
class Problem:
    """A problem; `init` are its literals. `objects_at` are the first and last positions of that section."""

    objects: tuple[Typed, ...]
    init: tuple[Group, ...]
    goal: Group
    line: int
    objects_at: tuple[int, int] = (0, 0)

    def of_type(self, domain: Domain, kind: str) -> list[str]:
        """Return the names of all objects and constants of a type."""
        return [o.name for o in (*domain.constants, *self.objects) if domain.is_a(o.type, kind)]


@lru_cache(maxsize=64)
def parse_domain(text: str) -> Domain:
    """Read the domain in `text`. Raises PddlError with every fault of its grammar."""
    faults: list[str] = []
    domain = read_domain(text, faults)
    if domain is None or faults:
        raise PddlError(*faults)
    return domain


def read_domain(text: str, faults: list[str]) -> Domain | None:
    """Read as much of the domain as possible, None if nothing; add what is wrong to `faults`."""
    sections = _sections(text, "domain", _DOMAIN_SECTIONS, faults)
    if sections is None:
        return None
    types: dict[str, str | None] = {OBJECT: None}
    constants: tuple[Typed, ...] = ()
    predicates: dict[str, Signature] = {}
    functions: dict[str, Signature] = {}
    actions: dict[str, Action] = {}
    for section in sections:
        with _noting(faults):
            if section.head == ":types":
                listed = typed_list(section.rest, "domain", faults)
                types |= {t.name: t.type if t.name != OBJECT else None for t in listed}
                types |= {t: OBJECT for t in list(types.values()) if t is not None and t not in types}
            elif section.head == ":constants":
                constants = tuple(typed_list(section.rest, "domain", faults))
            elif section.head == ":predicates":
                predicates = _signatures(section, "predicate", faults)
            elif section.head == ":functions":
                functions = _signatures(section, "function", faults)
            elif section.head == ":action":
                action = _action(section, text, faults)
                if action.name in actions:
                    raise PddlError(f"domain, line {action.line}: action '{action.name}' is defined twice")
                actions[action.name] = action
    if not any(section.head == ":action" for section in sections):
        faults.append("the domain has no action")
    return Domain(types, constants, predicates, functions, actions)


def parse_problem(text: str) -> Problem:
    """Read the problem in `text`. Raises PddlError with every fault of its grammar."""
    faults: list[str] = []
    problem = read_problem(text, faults)
    if problem is None or faults:
        raise PddlError(*faults)
    return problem


def with_actions(text: str, names: Collection[str]) -> str:
    """Return the text of a domain without its actions of other names.

    >>> with_actions("(define (domain d) (:action lift :effect (up)) (:action drop))", ["lift"])
    '(define (domain d) (:action lift :effect (up)))'
    """
    for part in reversed(read(text, "domain").rest):
        if isinstance(part, Group) and part.head == ":action" and str(part).split()[1] not in names:
            text = text[: part.start].rstrip() + text[part.end :]
    return text


def read_problem(text: str, faults: list[str]) -> Problem | None:
    """Read as much of the problem as possible, None if nothing; add what is wrong to `faults`."""
    sections = _sections(text, "problem", _PROBLEM_SECTIONS, faults)
    if sections is None:
        return None
    by_head = {s.head: s for s in sections}
    faults += [f"the problem has no ({needed} …)" for needed in (":init", ":goal") if needed not in by_head]
    objects, at = list[Typed](), (0, 0)
    if (listed := by_head.get(":objects")) is not None:
        objects, at = typed_list(listed.rest, "problem", faults), (listed.start, listed.end)
    init = by_head.get(":init")
    if init is not None and len(init.groups) < len(init.rest):
        faults.append(f"problem, line {init.line}: (:init …) may hold only facts in parentheses")
    if (goal := by_head.get(":goal")) is None:
        return None
    if len(goal.rest) != 1 or not goal.groups:
        faults.append(f"problem, line {goal.line}: (:goal …) must hold one condition, such as (and …)")
        return None
    facts = tuple(init.groups) if init is not None else ()
    return Problem(tuple(objects), facts, goal.groups[0], goal.line, at)


@contextmanager
def _noting(faults: list[str]) -> Iterator[None]:
    """Add a fault to `faults`, as long as the context lasts, so that the other parts still are read."""
    try:
        yield
    except PddlError as error:
        faults += error.faults


def _sections(text: str, what: str, own: Sequence[str], faults: list[str]) -> list[Group] | None:
    """Return the sections of a text; None where it cannot be taken apart at all."""
    try:
        form = read(text, what)
    except PddlError as error:
        faults += error.faults
        return None
    title = form.items[1] if form.head == "define" and len(form.items) > 1 else None
    if not isinstance(title, Group) or title.head != what or len(title.items) != 2:
        faults.append(f"the {what} must begin with (define ({what} NAME)")
        return None
    sections: list[Group] = []
    for item in form.items[2:]:
        with _noting(faults):
            if not isinstance(item, Group):
                raise PddlError(f"{what}, line {item.line}: '{item.text}' stands outside of any section")
            _check_section(item, sections, what, own)
            sections.append(item)
    return sections


def _check_section(item: Group, before: list[Group], what: str, known: Sequence[str]) -> None:
    """Raise PddlError unless a section is known, single (but for actions) and in PDDL's standard order."""
    if item.head not in known:
        who = _UNSUPPORTED.get(item.head)
        why = f"{who} not supported" if who else f"'({item.head}' is not supported here"
        raise PddlError(f"{what}, line {item.line}: {why}; use only {' '.join(known)}")
    for earlier in before:
        if earlier.head == item.head and item.head != ":action":
            raise PddlError(f"{what}, line {item.line}: a second ({item.head} …)")
        if known.index(earlier.head) > known.index(item.head):
            raise PddlError(
                f"{what}, line {item.line}: ({item.head} …) must come before ({earlier.head} …) "
                f"in line {earlier.line}"
            )


def typed_list(items: Sequence[Word | Group], what: str, faults: list[str]) -> list[Typed]:
    """Read a typed list: `a b - t c` reads as a and b of type t, c of type object.

    What is wrong is added to `faults`; the rest still is read, so that one fault does not look like many.
    """
    done: list[Typed] = []
    waiting: list[Word] = []
    after_dash = False
    for item in items:
        word = item.text if isinstance(item, Word) else None
        if word is None:
            why = (
                "the type '{}' is not supported; declare one type that has all of these as subtypes"
                if after_dash
                else "'{}' cannot stand in a list of names and types"
            )
            faults.append(f"{what}, line {item.line}: {why.format(brief(item))}")
        if word == "-":
            after_dash = True
            if not waiting:
                faults.append(f"{what}, line {item.line}: no name stands before '-'")
        elif after_dash:
            done += [Typed(w.text, word or OBJECT, w.line) for w in waiting]
            waiting, after_dash = [], False
        elif isinstance(item, Word):
            waiting.append(item)
    if after_dash:
        faults.append(f"{what}, line {items[-1].line}: no type stands after the last '-'")
    done += [Typed(w.text, OBJECT, w.line) for w in waiting]
    seen: set[str] = set()
    for typed in done:
        if typed.name in seen:
            faults.append(f"{what}, line {typed.line}: '{typed.name}' is declared twice")
        seen.add(typed.name)
    return done


def _signatures(section: Group, what: str, faults: list[str]) -> dict[str, Signature]:
    found: dict[str, Signature] = {}
    for item in section.rest:
        if isinstance(item, Group):
            if item.head in found:
                faults.append(f"domain, line {item.line}: {what} '{item.head}' is declared twice")
            parameters = typed_list(item.rest, f"domain, {what} '{item.head}'", faults)
            found[item.head] = Signature(tuple(parameters), item.line)
        elif what != "function":  # "- number" after a function
            faults.append(f"domain, line {item.line}: '{item.text}' is not a {what} in parentheses")
    return found


def _action(section: Group, text: str, faults: list[str]) -> Action:
    name = section.items[1] if len(section.items) > 1 else None
    if not isinstance(name, Word):
        raise PddlError(f"domain, line {section.line}: an action without a name")
    parts: dict[str, Group] = {}
    for key, value in zip_longest(section.items[2::2], section.items[3::2]):
        if not isinstance(key, Word) or key.text not in (":parameters", ":precondition", ":effect"):
            raise PddlError(f"action {name.text}, line {key.line}: unexpected '{brief(key)}'")
        if not isinstance(value, Group):
            raise PddlError(f"action {name.text}, line {key.line}: {key.text} must be followed by (…)")
        parts[key.text] = value
    if ":parameters" not in parts:
        raise PddlError(f"action {name.text}, line {section.line}: it has no :parameters (…)")
    return Action(
        name=name.text,
        parameters=tuple(typed_list(parts[":parameters"].items, f"action {name.text}", faults)),
        precondition=parts.get(":precondition"),
        effect=parts.get(":effect"),
        line=section.line,
        text=_own_lines(text, section),
    )


def _own_lines(text: str, group: Group) -> str:
    """Return the group's complete text, with the indentation of its first line taken away."""
    line_start = text.rfind("\n", 0, group.start) + 1
    indent = text[line_start : group.start]
    return dedent((indent if not indent.strip() else "") + text[group.start : group.end])
