"""What is installed at the extension points, and which package brings it."""

from __future__ import annotations

from collections.abc import Iterator

from spca.doctor.finding import Finding
from spca.kits import GROUP, kit_named
from spca_core.errors import InputError
from spca_core.extensions import GROUPS, Plugin, installed, singular


def plugins() -> Iterator[Plugin]:
    """Every installed plugin, group by group.

    Nothing of theirs is imported. InputError when a name is taken twice.
    """
    for group in GROUPS:
        yield from installed(group).values()


def summary() -> str:
    """One line for the help page: the names at each extension point.

    Plugins of other packages are listed with their package.
    """
    groups: dict[str, list[str]] = {}
    try:
        for plugin in plugins():
            own = plugin.package.split("_")[0].split()[0] == "spca"
            name = plugin.name if own else f"{plugin.name} ({plugin.package})"
            groups.setdefault(plugin.group.removeprefix("spca.").replace("_", " "), []).append(name)
    except InputError as error:
        return str(error)
    return "Installed: " + " · ".join(f"{group} {', '.join(names)}" for group, names in groups.items())


def examine_plugins() -> list[Finding]:
    """Load every plugin: one finding each, with where it comes from or why it does not load."""
    found = []
    try:
        for plugin in plugins():
            kind = singular(plugin.group)
            try:
                plugin.load()
                if plugin.group == GROUP:
                    kit_named(plugin.name)
            except InputError as error:
                found.append(Finding(f"{kind} {plugin.name}", "missing", error.what, error.hint))
            else:
                found.append(
                    Finding(f"{kind} {plugin.name}", "ready", f"from {plugin.package}: {plugin.target}")
                )
    except InputError as error:
        found.append(Finding("plugins", "missing", error.what, error.hint))
    return found
