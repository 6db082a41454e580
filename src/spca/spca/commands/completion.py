"""Tab completion for levels and runs."""

from __future__ import annotations


def complete_level(incomplete: str) -> list[str]:
    """Names of levels; those of environments with a prefix once it is typed."""
    from spca.kits import kits

    named = [kit for kit in kits() if incomplete.startswith(f"{kit.name}:")]
    chosen = named or [kit for kit in kits() if kit.bare_names]
    names = [info.name for kit in chosen for info in kit.levels()]
    prefixes = [f"{kit.name}:" for kit in kits() if not kit.bare_names and not named]
    return [name for name in (*names, *prefixes) if name.startswith(incomplete)]


def complete_run(incomplete: str) -> list[str]:
    """Folders of runs, the newest first."""
    from spca.commands.plugin import resumable
    from spca_core.paths import RUNS
    from spca_core.run_folder import MANIFEST

    files = (MANIFEST, *(command.run_file for command in resumable()))
    found = (path.parent.name for file in files for path in RUNS.glob(f"*/{file}"))
    names = sorted(found, reverse=True)
    return [name for name in names if name.startswith(incomplete)]
