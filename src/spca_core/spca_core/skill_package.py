"""The text of a library of skills, and skills contributed by other packages.

Each of these consists of a planning action, the Python that executes it, and the phrases that ask for it.

A skill package is a Python package named by an entry point of the group `spca.skills`. Its folder holds

* `skill.yaml`: `environment`, the `predicates` that the action adds, and `phrases`;
* `action.pddl`: one action, in the vocabulary of the environment's domain and its own predicates;
* `skill.py`: a function of the action's name, with one string argument per parameter after `ctx`.

A phrase such as `push {c} against {other}` means the goal `(pushed_against {c} {other})`; each name in braces
stands for a noun phrase of the task.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import field_validator, model_validator

from spca_core.errors import InputError
from spca_core.extensions import installed
from spca_core.model import Record
from spca_core.relation import relations
from spca_core.skill import python_name
from spca_core.validation import expecting, plain, read_yaml

MARK = "# --- skill "
"""Beginning of the line that begins a module; its skill's name follows."""
_MARKED = re.compile(rf"(?:\A|\n\n)^{MARK}(\w+)$\n?", re.MULTILINE)


@dataclass(frozen=True)
class Module:
    """A part of a library: the name of its skill, its text, and the lines of the library before it."""

    skill: str
    text: str
    before: int


def modules(library: str) -> tuple[Module, ...]:
    """Split a library; the first module, whose name is empty, is what comes with the environment.

    >>> tuple((m.skill, m.text, m.before) for m in modules(joined({"": "A = 1", "nod": "B = 2"})))
    (('', 'A = 1', 0), ('nod', 'B = 2', 3))
    """
    marks = list(_MARKED.finditer(library))
    begins = [("", 0), *((mark[1], mark.end()) for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(library)]
    return tuple(
        Module(skill, library[begin:end], library.count("\n", 0, begin))
        for (skill, begin), end in zip(begins, ends, strict=True)
    )


def joined(texts: Mapping[str, str]) -> str:
    """Return the library that consists of these modules, given by the names of their skills."""
    library = texts.get("", "")
    for skill, text in texts.items():
        if skill:
            library += f"{library and chr(10) * 2}{MARK}{skill}\n{text}"
    return library


GROUP = "spca.skills"
_SLOT = re.compile(r"{(\w+)}")


class SkillPhrase(Record):
    """Words that ask for the skill, and the ground atom they ask for."""

    say: str
    goal: str

    @field_validator("goal")
    @classmethod
    def _is_an_atom(cls, goal: str) -> str:
        if not re.fullmatch(r"\([\w-]+( {\w+})*\)", goal):
            raise ValueError("is one atom over the names of the phrase, such as (pushed {c})")
        return goal

    @model_validator(mode="after")
    def _names_the_same(self) -> SkillPhrase:
        said, meant = {*_SLOT.findall(self.say)}, {*self.arguments}
        for name in sorted(said ^ meant):
            raise ValueError(f"{{{name}}} stands in {'say' if name in said else 'the goal'} only")
        return self

    @property
    def predicate(self) -> str:
        """The goal's predicate."""
        return self.goal.strip("()").split()[0]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the noun phrases that are the goal's arguments, in order."""
        return tuple(_SLOT.findall(self.goal))

    def match(self, sentence: str) -> dict[str, str] | None:
        """Return the noun phrases by name if the sentence has this phrase's words; otherwise None."""
        parts = _SLOT.split(self.say)
        pattern = "".join(
            f"(?P<{part}>.+?)" if i % 2 else re.escape(part).replace(r"\ ", r"\s+")
            for i, part in enumerate(parts)
        )
        found = re.fullmatch(rf"\s*{pattern}\s*", sentence, re.IGNORECASE)
        return found.groupdict() if found else None


class _Declaration(Record):
    environment: str
    predicates: tuple[str, ...] = ()
    phrases: tuple[SkillPhrase, ...] = ()


class SkillPackage(_Declaration):
    """One skill with all that belongs to it; `predicates` and `action` are PDDL, `source` is Python."""

    name: str
    action: str
    source: str

    @classmethod
    def read(cls, name: str, folder: Path) -> SkillPackage:
        """Read a skill package from its folder. Raises InputError that names the file at fault."""
        declaration = folder / "skill.yaml"
        with expecting("a skill's declaration", declaration):
            declared = _Declaration.model_validate(read_yaml(declaration, "the skill"))
        with expecting("a skill", folder):
            action, source = (plain(folder / n).read_text() for n in ("action.pddl", "skill.py"))
            functions = [n.name for n in ast.parse(source, "skill.py").body if isinstance(n, ast.FunctionDef)]
        head = re.match(r"\s*(?:;[^\n]*\n\s*)*\(:action\s+([\w-]+)", action)
        if head is None:
            raise InputError("holds no action", where=str(folder / "action.pddl"), hint="one (:action …)")
        if python_name(head.group(1)) not in functions:
            raise InputError(
                f"has no function '{python_name(head.group(1))}'",
                where=str(folder / "skill.py"),
                hint=f"the action in action.pddl is '{head.group(1)}'",
            )
        return cls(name=name, action=action.strip(), source=source, **dict(declared))


@cache
def skill_packages(environment: str) -> tuple[SkillPackage, ...]:
    """Return an environment's packages: installed ones and relations'. Raises InputError for a broken one."""
    plugins = installed(GROUP).items()
    found = [SkillPackage.read(name, Path(plugin.load().__file__).parent) for name, plugin in plugins]
    found += [row.skill for row in relations() if row.skill is not None]
    return tuple(package for package in found if package.environment == environment)


def library_source(environment: str, builtin: Path) -> str:
    """Return the skills that come with an environment and those that packages add, as one source.

    A package's helpers and constants are its own: where their names are taken already, its name is added.
    """
    source = builtin.read_text(encoding="utf-8")
    known = _names(source)
    for package in skill_packages(environment):
        text = package.source
        taken = known & _names(text)
        if own := [name for name in taken if name.startswith("_") or name.isupper()]:
            text = re.sub(rf"(?<![\w.])({'|'.join(own)})\b", rf"\1_{package.name}", text)
        if clash := taken.difference(own):
            raise InputError(
                f"skill package '{package.name}' defines {', '.join(sorted(clash))} again",
                hint="give its skill a name of its own",
            )
        known |= _names(text)
        source += f"\n\n{text}"
    return source


def origin(environment: str, library: str, line: int) -> str:
    """Return the package's file and line, before a message, of a line of what `library_source` returns."""
    end = library.count("\n") + 1
    for package in reversed(skill_packages(environment)):
        begin = end - package.source.count("\n")
        if line >= begin:
            return f"{package.name}/skill.py, line {line - begin + 1}: "
        end = begin - 2  # they are joined by two line ends
    return ""


def extended_domain(environment: str, domain: str) -> str:
    """Return an environment's PDDL domain with the predicates and actions of installed skill packages."""
    packages = skill_packages(environment)
    declared = dict.fromkeys(text for package in packages for text in package.predicates)
    predicates = "".join(f"\n    {text}" for text in declared)
    actions = "".join(f"\n\n  {package.action}" for package in packages)
    if not packages:
        return domain
    domain = domain.replace("(:predicates", f"(:predicates{predicates}", 1)
    end = domain.rindex(")")
    return f"{domain[:end]}{actions})\n"


def _names(source: str) -> set[str]:
    """Return the names of the functions and constants that a source defines."""
    body = ast.parse(source).body
    targets = (target for n in body if isinstance(n, ast.Assign) for target in n.targets)
    constants = {target.id for target in targets if isinstance(target, ast.Name)}
    return constants | {n.name for n in body if isinstance(n, ast.FunctionDef)}
