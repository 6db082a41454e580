"""Installed extensions of spca: environments, proposers, detectors, engines, skills.

Plugins are Python entry points. A package of anybody's adds one by declaring it in its `pyproject.toml`:

    [project.entry-points."spca.environments"]
    corridor = "corridor.kit:CorridorKit"

Nothing of spca is edited for that; the project's own parts are declared in the same way.
"""

from __future__ import annotations

import os
import site
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from spca_core.errors import InputError, did_you_mean
from spca_core.paths import as_typed

GROUPS = {
    "spca.arms": "robot arms: the folder with the arm's file, NAME.yaml (`spca_core.arms.ArmDescription`)",
    "spca.kinds": "kinds of things: the folder with the kind's file, NAME.yaml (`spca_core.kinds.KindFile`)",
    "spca.relations": "how things can be to one another on a table (`spca_core.relation.Relation`)",
    "spca.environments": "worlds in which the loop runs (`spca_core.ports.kit.Kit`)",
    "spca.commands": "commands of the command line (`spca.commands.Command`)",
    "spca.benches": "what `spca bench NAME` measures (`spca_benchmarks.campaigns.command.BenchCommand`)",
    "spca.scripted_models": "records whose `serving` serves a scripted model (`spca bench models`)",
    "spca.proposers": "who drafts plans and skills (`spca.proposals.OpenProposals`)",
    "spca.detectors": "what finds things in a camera frame (`spca_sense.detection.MakeDetector`)",
    "spca.learnable_worlds": "worlds whose rules are learned: makes them, in the order of learning",
    "spca.plan_worlds": "worlds for planning programs: makes a `spca_programs.ports.plan_world.PlanWorld`",
    "spca.stand_ins": "what learns or writes in a model's place (`spca_programs.factories.stand_in`)",
    "spca.engines": "what searches for plans (`spca_core.ports.engine.Engine`)",
    "spca.skills": "a planning action, the skill that carries it out, and the words that ask for it",
}
"""The extension points by name, and what an entry of each has to be."""


@dataclass(frozen=True)
class Plugin:
    """One installed plugin; nothing of it is imported before `load`."""

    group: str
    name: str
    target: str
    """Object that the entry point names, as `module:attribute`."""
    _entry: EntryPoint

    @property
    def package(self) -> str:
        """Name and version of the distribution that brings the plugin, read from a file when asked for."""
        return f"{dist.name} {dist.version}" if (dist := self._entry.dist) is not None else "unknown"

    def load(self) -> Any:
        """Import and return what the plugin names. Raises InputError, naming the package, if it is broken."""
        try:
            return self._entry.load()
        except (Exception, SystemExit) as error:
            raise InputError(
                f"cannot load {self.group} '{self.name}': {type(error).__name__}: {error}",
                where=f"{self.package} ({self.target})",
                hint="mend or uninstall that package",
            ) from error


def installed(group: str) -> dict[str, Plugin]:
    """Return all plugins of a group by name, in alphabetical order.

    Raises InputError when two packages claim a name.
    """
    found: dict[str, Plugin] = {}
    for entry in sorted(_declared(group), key=lambda e: e.name):
        plugin = Plugin(group, entry.name, entry.value, entry)
        other = found.setdefault(entry.name, plugin)
        if other.target != plugin.target:
            raise InputError(
                f"two packages bring a {group} '{entry.name}': {other.package} and {plugin.package}",
                hint="uninstall one of them",
            )
    return found


@cache
def _declared(group: str) -> tuple[EntryPoint, ...]:
    return tuple(_all_declared().select(group=group))


@cache
def _all_declared() -> Any:
    """Return all entry points, once, as that means opening a file of every installed package.

    In a folder of PYTHONPATH, as that of set-up's packages is for ROS, Python itself overlooks editable ones.
    """
    for folder in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        for file in Path(folder).glob("__editable__*.pth"):
            site.addpackage(folder, file.name, set(sys.path))
    return entry_points()


def singular(group: str) -> str:
    """Return the name of one entry of a group.

    >>> singular("spca.benches"), singular("spca.plan_worlds")
    ('bench', 'plan world')
    """
    words = group.removeprefix("spca.").replace("_", " ")
    return words.removesuffix("es" if words.endswith("ches") else "s")


def find(group: str, name: str, where: str = "") -> Plugin:
    """Return the plugin of that name. Raises InputError, which lists what is installed, if there is none."""
    available = installed(group)
    if name in available:
        return available[name]
    has = f"{did_you_mean(name, available)} installed: {', '.join(available) or 'none'}".strip()
    hint = f"{has}; your own needs {as_typed('pip install -e FOLDER')}"
    raise InputError(f"no {singular(group)} '{name}' is installed", where=where, hint=hint)
