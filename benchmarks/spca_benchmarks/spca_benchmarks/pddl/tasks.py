"""The bench's tasks: a description in plain words, and the reference that a plan has to hold against."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spca_core.errors import InputError, one_of
from spca_core.model import Record
from spca_planner.pddl.lint import parse

FOLDER = Path(__file__).with_name("domains")


class PddlTask(Record):
    """One problem of one domain.

    A model sees `description` only; `domain` and `problem` are the reference in PDDL.
    """

    name: str
    description: str
    domain: str
    problem: str


def task_names() -> list[str]:
    """All tasks, as `domain/problem`."""
    return [f"{path.parent.name}/{path.stem}" for path in sorted(FOLDER.glob("*/p*.pddl"))]


def load_tasks(chosen: Sequence[str] = ()) -> list[PddlTask]:
    """The tasks of the chosen domains or names (`gripper`, `gripper/p1`), all by default.

    InputError for an unknown one.
    """
    known = task_names()
    unknown = [c for c in chosen if not any(c in (name, name.partition("/")[0]) for name in known)]
    if unknown:
        domains = dict.fromkeys(name.partition("/")[0] for name in known)
        raise InputError(f"unknown domain '{unknown[0]}'", "bench pddl", one_of(unknown[0], domains))
    names = [n for n in known if not chosen or n in chosen or n.partition("/")[0] in chosen]
    return [_load(name) for name in names]


def _load(name: str) -> PddlTask:
    folder, stem = FOLDER / name.partition("/")[0], name.partition("/")[2]
    domain, problem = (folder / "domain.pddl").read_text(), (folder / f"{stem}.pddl").read_text()
    rules, situation = (folder / "rules.md").read_text(), (folder / f"{stem}.md").read_text()
    parts = (_one_paragraph(rules), _one_paragraph(situation), vocabulary(domain, problem))
    return PddlTask(name=name, description="\n\n".join(parts), domain=domain, problem=problem)


def vocabulary(domain_text: str, problem_text: str) -> str:
    """The names that a plan has to use: the reference's actions with ordered arguments, and its objects.

    Types and predicates are left to the model: a plan is all that is compared.
    """
    domain, problem = parse(domain_text, problem_text)
    lines = ["Names to be used exactly as they are, with the arguments in this order:"]
    for action in domain.actions.values():
        arguments = " ".join(p.name for p in action.parameters)
        lines.append(f"- action ({action.name}{' ' if arguments else ''}{arguments})")
    by_type: dict[str, list[str]] = {}
    for thing in problem.objects:
        by_type.setdefault(thing.type, []).append(thing.name)
    lines += [f"- {kind.replace('_', ' ')}: {', '.join(names)}" for kind, names in by_type.items()]
    return "\n".join(lines)


def _one_paragraph(text: str) -> str:
    return " ".join(text.split())
