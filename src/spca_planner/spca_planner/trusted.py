"""Trusted domains: the referee confirmed the success of a plan that was made with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from spca_core.plan import Draft, Task
from spca_core.ports.vocabulary import ObservableWord
from spca_core.run_folder import write_atomically
from spca_core.validation import expecting, plain
from spca_planner.critics import meant
from spca_planner.pddl.formula import Atom, atoms, ground
from spca_planner.pddl.sexpr import PddlError
from spca_planner.pddl.syntax import Action, parse_domain

_HEADER = "; trusted: it has solved "
_TASKS = "; tasks: "
_MOST_WORDS = 2000
"""Maximum number of characters of solved tasks that are kept with a domain, to compare later tasks with."""
_MOST_GOALS = 16


@dataclass(frozen=True)
class TrustedDomain:
    """A domain, the task group and the ids of the tasks that it has solved, and the words of those tasks."""

    group: str
    text: str
    solved: tuple[str, ...]
    tasks: str


class TrustedDomains:
    """A PDDL file for each domain of an environment, in `folder`; written whole or not at all.

    A task group may have several. The first lines say, as comments, which tasks a domain has solved.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fitting(
        self,
        environment: str,
        task: Task,
        objects: Mapping[str, str] | None = None,
        goals: Sequence[frozenset[Atom]] = (),
        words: Sequence[ObservableWord] = (),
    ) -> TrustedDomain | None:
        """The domain that brings about most of one of a task's `goals`; None where none does anything of it.

        Of equal ones, those of the task's own group come first, then, where goals are known, that of the
        fewest actions and words, then that which shares most words with the task, but for names. Where no
        goal is known, any other must have solved tasks that name the same kinds of `objects`, or share half
        of the words, those that the user has said since the last success among them; sentences that a look
        judges are no group. One that lacks a type for one of the kinds that the task names fits in no case.
        """
        kinds = {*(objects or {}).values()}
        named = _named(task.text, kinds)
        last = re.split(r"(?m)^robot: success: .*$", "" if goals else "\n".join(task.conversation))[-1]
        said = " ".join(re.findall(r"(?m)^user: (.*)$", last))
        wanted = stems(f"{said} {task.text}") - (stems(" ".join(objects or ())) - stems(" ".join(kinds)))
        found = [d for d in self._all(environment) if named <= (_types(d.text) or named)]
        own, fits = _safe(task.group) * (task.judge == "referee"), list[tuple[float, bool, int, int, int]]()
        for i, d in enumerate(found):
            part = brought_about(d.text, goals, objects or {}, words)
            alike = len(wanted & stems(f"{d.tasks} {d.text}"))
            extent = d.text.count("(:action") + len(stems(re.sub(";.*", "", d.text))) if goals else 0
            same = d.group == own or (named and named == _named(d.tasks, kinds))
            if part and (goals or same or 2 * alike >= len(wanted)):
                fits.append((part, d.group == own, -extent, alike, -i))
        return found[-max(fits)[-1]] if fits else None

    def in_group(self, environment: str, group: str) -> tuple[TrustedDomain, ...]:
        """Return the trusted domains of a task group, the newest last."""
        return tuple(d for d in self._all(environment) if d.group == _safe(group))

    def add(self, environment: str, task: Task, domain: str) -> None:
        """Trust a domain for the group of a task that it has solved."""
        number, solved, tasks = 1, {task.id}, task.text
        while (path := self._path(environment, task.group, number)).is_file():
            present = _read(path)
            if present is not None and present.text == domain:
                solved |= set(present.solved)
                tasks = present.tasks if task.text in present.tasks else f"{present.tasks} {task.text}"
                break
            number += 1
        words = " ".join(tasks.split())[-_MOST_WORDS:]
        write_atomically(path, f"{_HEADER}{', '.join(sorted(solved))}\n{_TASKS}{words}\n{domain}".encode())

    def all(self, environment: str) -> list[str]:
        """Return the text of every trusted domain of an environment."""
        return [domain.text for domain in self._all(environment)]

    def _all(self, environment: str) -> Iterator[TrustedDomain]:
        paths = (self._folder / _safe(environment)).glob("*.pddl")
        for path in sorted(paths, key=lambda path: (len(path.name), path.name)):  # 2 before 10
            if (domain := _read(path)) is not None:
                yield domain

    def _path(self, environment: str, group: str, number: int = 1) -> Path:
        suffix = f".{number}" if number > 1 else ""
        return self._folder / _safe(environment) / f"{_safe(group)}{suffix}.pddl"


Actions = Mapping[tuple[str, int], Action]
"""Actions by name and number of parameters."""


def actions_of(own: Sequence[str], learned: Sequence[str] = ()) -> Actions:
    """Return every action in these domains.

    What a skill does is told as the environment's `own` domains have it; else as that one of the `learned`
    has it that demands least, because what only some of them demand belongs to their tasks.
    """
    known = [*_actions(own), *sorted(_actions(learned), key=lambda a: str(a.precondition).count("("))]
    return {(a.name, len(a.parameters)): a for a in reversed(known)}


def _actions(domains: Sequence[str]) -> Iterator[Action]:
    for text in domains:
        with suppress(PddlError):
            said, domain = Draft(domain=text, problem="").said, parse_domain(text)
            known = {**{t: t for t in domain.types}, **{c.name: c.type for c in domain.constants}}
            kinds = {t: {k for k, own in known.items() if domain.is_a(own, t)} for t in domain.types}
            yield from (replace(a, said=said, kinds=kinds) for a in domain.actions.values())


def _types(text: str) -> set[str]:
    """The kinds that a domain has a word for: types, and constants, which are called like their kind."""
    with suppress(PddlError):
        domain = parse_domain(text)
        return {*domain.types, *(c.name for c in domain.constants)}
    return set()


def _read(path: Path) -> TrustedDomain | None:
    with expecting("a trusted domain", path):
        text = plain(path).read_text(encoding="utf-8")
    if (told := re.match(f"{_HEADER}(.*)\n(?:{_TASKS}(.*)\n)?", text)) is None:
        return None
    group, solved = path.name.split(".")[0], tuple(told[1].split(", "))
    return TrustedDomain(group, text[told.end() :], solved, told[2] or "")


def brought_about(
    text: str, goals: Sequence[frozenset[Atom]], objects: Mapping[str, str], words: Sequence[ObservableWord]
) -> float:
    """The largest part of one of the goals that actions of a domain bring about; 1 where no goal is known.

    What is asked of one thing counts as far as one action does it, with things of these kinds, and not twice
    what is asked once, as a bridge does for a tower. A predicate is known by what it means; two that nobody
    observes, under different names, may be the same, which is half.
    """
    try:
        domain = parse_domain(text)
    except PddlError:
        return float(not goals)
    kinds = {**objects, **{c.name: c.type for c in domain.constants}}
    deeds = [([*atoms(a.effect)], {p.name: p.type for p in a.parameters}) for a in domain.actions.values()]

    def twice(about: Collection[Atom]) -> bool:
        return len({atom[:2] for atom in about}) < len(about)

    def worth(done: Atom, wanted: Atom) -> float:
        ours, theirs = meant(done[0], words), meant(wanted[0], words)
        fit = len(done) == len(wanted) and all(
            a == b or domain.is_a(kinds.get(b, "place"), a) for a, b in zip(done[1:], wanted[1:], strict=True)
        )
        return fit * (0.5 if ours is theirs is None and done[0] != wanted[0] else float(ours == theirs))

    def most(wanted: Sequence[Atom]) -> float:
        """What one action does of it, nothing twice; half of it is not worth half."""
        found = [0.0]
        for done, types in deeds:
            often = twice({ground(atom, {}) for atom in done}) and not twice(wanted)
            left = [] if often else [ground(atom, types) for atom in done]
            for atom in wanted[: len(left)]:
                nearest = max(left, key=lambda done: worth(done, atom))
                found[-1] += worth(nearest, atom)
                left.remove(nearest)
            found.append(0.0)
        return max(found) ** 2 / len(wanted)

    def part(goal: frozenset[Atom]) -> float:
        about = {a[1:2]: [atom for atom in sorted(goal) if atom[1:2] == a[1:2]] for a in goal}
        return sum(map(most, about.values())) / max(len(goal), 1)

    return max(map(part, goals[:_MOST_GOALS]), default=1.0)


def _named(text: str, kinds: Iterable[str]) -> set[str]:
    return {kind for kind in kinds if stems(kind) & stems(text)}


def stems(text: str) -> set[str]:
    """Return the words of a text cut to five letters, so that "stacked" meets "stack", and cubes a cube."""
    return {w.removesuffix("s")[:5] for w in re.findall(r"[a-z]{3,}", text.lower().replace("_", " "))}


def _safe(name: str) -> str:
    """Return a file name for any text: a task group comes from a file that anybody may have written."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name) or "_"
