"""What a campaign runs: the product of levels, presets and tables."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch

from pydantic import Field

from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.options import RunOptions
from spca_referee.level import list_levels


class Trial(Record):
    """One run of a campaign."""

    level: str
    preset: str
    seed: int

    @property
    def key(self) -> str:
        """Its name within the campaign."""
        return f"{self.level}/{self.preset}/{self.seed}"


class CampaignSpec(Record):
    """Levels × presets × tables (seeds from `first_seed` on; the nominal preset has one table only, but new noise)."""

    levels: tuple[str, ...]
    presets: tuple[str, ...] = ("shuffled",)
    tables: int = Field(20, ge=1)
    first_seed: int = 0
    proposer: str = "builtin"

    def trials(self) -> Iterator[Trial]:
        """Every trial, table by table, so that an interrupted campaign has tried everything equally often."""
        for seed in range(self.first_seed, self.first_seed + self.tables):
            for preset in self.presets:
                for level in self.levels:
                    yield Trial(level=level, preset=preset, seed=seed)

    def options(self, trial: Trial) -> RunOptions:
        """How one trial is run: in one process, in lockstep, so that it can be repeated bit for bit."""
        return RunOptions(
            level=trial.level,
            preset=trial.preset,
            seed=trial.seed,
            transport="inproc",
            proposer=self.proposer,
            video=False,
        )


def select_levels(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The levels whose name or group matches one of the patterns (`stack`, `touch_0*`, `all`). InputError if none."""
    known = list_levels()
    chosen = [
        n for n in known if any(p == "all" or fnmatch(n, p) or n.rpartition("_")[0] == p for p in patterns)
    ]
    for p in patterns:
        if p != "all" and not any(fnmatch(n, p) or n.rpartition("_")[0] == p for n in known):
            groups = ", ".join(sorted({n.rpartition("_")[0] for n in known}))
            raise InputError(
                f"no level matches '{p}'", hint=f"name levels, patterns like 'touch_0*', or groups: {groups}"
            )
    return tuple(chosen)
