"""Plugins installed at the extension points, and the packages that bring them."""

from __future__ import annotations

from pathlib import Path

from spca.commands import Command
from spca.doctor.checks import Finding
from spca.kits import GROUP, faults_of, faults_of_skill, kit_named
from spca_core.arms import GROUP as ARMS
from spca_core.arms import load_arm
from spca_core.errors import InputError
from spca_core.extensions import GROUPS, Plugin, installed, singular
from spca_core.kinds import GROUP as KINDS
from spca_core.kinds import load_kind
from spca_core.skill_package import SkillPackage, library_source


def examine_plugins() -> list[Finding]:
    """Load every plugin; return a finding for each: where it comes from, or why it does not load."""
    found = []
    try:
        for plugin in (plugin for group in GROUPS for plugin in installed(group).values()):
            what = f"{singular(plugin.group)} {plugin.name}"
            hint = f"mend {plugin.target} of {plugin.package}; wanted: {GROUPS[plugin.group]}"
            try:
                faults = _faults(plugin)
            except Exception as error:
                if lacks := _lacking(plugin, error.__cause__ or error):
                    found.append(Finding(what, "off", f"lacks {lacks}"))
                    continue
                faults = [f"{type(error).__name__}: {error}"]
                if isinstance(error, InputError):
                    faults, hint = [error.what], error.hint
            ready = Finding(what, "ready", f"from {plugin.package}: {plugin.target}")
            found.append(Finding(what, "missing", "; ".join(faults[:3]), hint) if faults else ready)
    except InputError as error:
        found.append(Finding("plugins", "missing", error.what, error.hint))
    return found


def _lacking(plugin: Plugin, error: BaseException) -> str:
    """Return the other package that a plugin could not import; empty for any other error."""
    name = ((isinstance(error, ModuleNotFoundError) and error.name) or "").partition(".")[0]
    return name if name != plugin.target.partition(":")[0].partition(".")[0] else ""


def _faults(plugin: Plugin) -> list[str]:
    """Load a plugin and list what it lacks, before anything uses it. Errors of loading are passed on."""
    loaded = plugin.load()
    if plugin.group == GROUP:
        return faults_of(kit_named(plugin.name))
    if plugin.group in (ARMS, KINDS):
        load_arm(plugin.name) if plugin.group == ARMS else load_kind(plugin.name)
        return []
    if plugin.group == "spca.skills":
        package = SkillPackage.read(plugin.name, Path(loaded.__file__).parent)
        library_source(package.environment, kit_named(package.environment).builtin_skills)
        return faults_of_skill(package)
    if plugin.group == "spca.benches":
        if not all(hasattr(loaded, part) for part in ("bench", "options", "examples", "load", "run")):
            return [f"is a {type(loaded).__name__}"]
        return [f"{loaded.bench} lacks {part}" for part in ("trials", "run_trial", "table")
                if not hasattr(loaded.load(), part)]  # fmt: skip
    if plugin.group == "spca.commands":
        return [] if isinstance(loaded, Command) else [f"is a {type(loaded).__name__}"]
    if plugin.group in {"spca.detectors", "spca.engines", "spca.proposers"} and not callable(loaded):
        return [f"is a {type(loaded).__name__}, which cannot be called"]
    wanted = {"spca.detectors": ("detect",), "spca.engines": ("warm", "start")}.get(plugin.group, ())
    return [f"lacks {part}" for part in wanted if isinstance(loaded, type) and not hasattr(loaded, part)]
