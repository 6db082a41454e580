"""What tab completion offers for levels and runs."""

from __future__ import annotations


def complete_level(incomplete: str) -> list[str]:
    """Names of levels; MiniGrid's once the prefix is typed."""
    if incomplete.startswith("minigrid"):
        from spca_minigrid.levels import curriculum

        names = [f"minigrid:{level.name}" for level in curriculum()]
    else:
        from spca_core.paths import LEVELS

        names = sorted(path.stem for path in LEVELS.glob("*/*.yaml"))
    return [name for name in names if name.startswith(incomplete)]


def complete_run(incomplete: str) -> list[str]:
    """Folders of runs, the newest first."""
    from spca_core.paths import RUNS
    from spca_core.run_folder import MANIFEST

    names = sorted((path.parent.name for path in RUNS.glob(f"*/{MANIFEST}")), reverse=True)
    return [name for name in names if name.startswith(incomplete)]
