"""The installed environments, by name and by the levels they own."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from functools import cache

from spca_core.errors import InputError, did_you_mean, one_of
from spca_core.extensions import find, installed
from spca_core.options import RunOptions
from spca_core.ports.kit import Kit
from spca_core.skill_package import GROUP as SKILLS
from spca_core.skill_package import SkillPackage, skill_packages
from spca_planner.pddl.lint import examine_domain
from spca_planner.solver.engines import require_engine

GROUP = "spca.environments"
PLAIN = "tabletop"
"""Name of the environment whose levels are named without a prefix, and by the path of a level file."""
PROPOSERS = "spca.proposers"


@cache
def kit_named(name: str) -> Kit:
    """Return the kit of an environment. Raises InputError when it is not installed or lacks a part."""
    kind: type[Kit] = find(GROUP, name).load()
    if lacks := _lacks(kind):
        what = f"the environment '{name}' lacks {', '.join(lacks)}"
        hint = "derive it from spca_core.ports.kit.Kit"
        raise InputError(what, where=f"{kind.__module__}.{kind.__name__}", hint=hint)
    kit = kind()
    if kit.name != name:
        raise InputError(f"the environment '{name}' calls itself '{kit.name}'", hint="both must be the same")
    return kit


def _lacks(kind: type[Kit]) -> list[str]:
    """List the parts of the port that a class does not bring, nor inherit."""
    parts = [*Kit.__annotations__, *(part for part in vars(Kit) if not part.startswith("_"))]
    found = {part: getattr(kind, part, None) for part in parts}
    return [p for p, f in found.items() if f is None or getattr(f, "__isabstractmethod__", False)]


def faults_of(kit: Kit) -> list[str]:
    """List what would stop a run in this environment, a phrase each, found without building anything."""
    if lacks := _lacks(type(kit)):
        return [f"lacks {', '.join(lacks)}"]
    found = [] if kit.presets else ["has no preset"]
    if kit.api.environment != kit.name:
        found.append(f"api.environment is '{kit.api.environment}', not '{kit.name}'")
    try:
        ast.parse(kit.builtin_skills.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        found.append(f"builtin_skills: {error}")
    if not (levels := kit.levels()):
        found.append("levels() lists none")
    for info in levels:
        if kit.name != PLAIN and not info.name.startswith(f"{kit.name}:"):
            found.append(f"the level '{info.name}' does not begin with '{kit.name}:'")
        try:
            preset = next(iter(kit.presets), "nominal")
            kit.check(RunOptions(level=info.name, preset=preset, transport="inproc"))
        except InputError as error:
            found.append(f"its own level is refused: {error}")
    return found


def kits() -> list[Kit]:
    """Return all installed kits, those whose levels need no prefix first.

    One that has a fault is left out, so that it hides no other; `spca doctor` says what it is.
    """
    found = []
    for name in installed(GROUP):
        with suppress(InputError):
            found.append(kit_named(name))
    return sorted(found, key=lambda kit: (kit.name != PLAIN, kit.name))


def kit_of(level: str) -> Kit:
    """Return the kit that owns a level: `name:level`, a plain name or a path. Raises InputError if none."""
    prefix, colon, _ = level.partition(":")
    if colon and prefix in installed(GROUP):
        return kit_named(prefix)
    if not colon or "/" in prefix:
        return kit_named(PLAIN)
    known = [info.name for kit in kits() for info in kit.levels()]
    hint = did_you_mean(level, known) or "`spca levels` lists them"
    raise InputError(f"unknown level '{level}'", hint=hint)


def checked_kit(options: RunOptions) -> Kit:
    """Return the kit of a run's level. Raises InputError unless a run with these options could begin."""
    kit = kit_of(options.level)
    if options.preset not in kit.presets:
        raise InputError(f"--preset '{options.preset}'", hint=one_of(options.preset, kit.presets))
    if options.rehearse == "always" and not kit.has_twin:
        raise InputError("--rehearse always", hint=f"{kit.name} has no twin to rehearse in")
    if options.proposer != "auto":
        find(PROPOSERS, options.proposer, where="--proposer")
    require_engine(options.engine)
    for package in skill_packages(kit.name) if installed(SKILLS) else ():
        for fault in faults_of_skill(package):
            raise InputError(f"skill '{package.name}': {fault}", hint="mend its action.pddl")
    kit.check(options)
    return kit


def faults_of_skill(package: SkillPackage) -> list[str]:
    """List what is wrong with a package's action among all that its environment's domain has."""
    faults: list[str] = []
    examine_domain(kit_named(package.environment).domain(), faults)
    name = re.findall(r"\(:action\s+([\w-]+)", package.action)[0]
    return [re.sub(r", line \d+", "", fault) for fault in faults if fault.startswith(f"action {name}")]
