"""spca from Python, for scripts and notebooks.

    import spca

    run = spca.run("stack_01", preset="hard", seed=3, on_event=print)
    print(run.result.outcome, run.report)
    table = spca.campaign(["stack_01", "touch_*"], presets=["shuffled"], tables=5).table

The command line is made of the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, PositiveInt

from spca.journal import Event
from spca.kits import PLAIN, checked_kit, kit_of, kits
from spca.runs import Run, settled
from spca_core.errors import InputError, did_you_mean
from spca_core.extensions import find
from spca_core.model import Record, checked
from spca_core.options import RunOptions
from spca_core.ports.kit import LevelFindings, LevelInfo
from spca_core.validation import YAML_FILES

if TYPE_CHECKING:
    from spca.sessions import Session
    from spca.stages import Approve

OnEvent = Callable[[Event], None]


class _Given(Record):
    """What is given beside the options of a run."""

    out: Path | None = None
    on_event: Callable[..., Any] | None = None
    approve: Callable[..., Any] | None = None
    on_trial: Callable[..., Any] | None = None
    patterns: tuple[str, ...] = ()
    levels: tuple[str, ...] = Field((), min_length=1)
    presets: tuple[str, ...] = Field((), min_length=1)
    workers: PositiveInt | None = None


@dataclass(frozen=True)
class Campaign:
    """The results of many runs."""

    folder: Path
    table: list[dict[str, Any]]
    """Flat rows, one for each trial that has a result; `pandas.DataFrame(campaign.table)` takes them."""
    broken: dict[str, str]
    """Trials that could not be judged, with the cause.

    Running the campaign in the same folder tries them again.
    """

    @property
    def success_rate(self) -> float:
        """Share of the trials with a result that were solved."""
        return sum(bool(row["solved"]) for row in self.table) / max(len(self.table), 1)


def run(
    level: str,
    *,
    on_event: OnEvent | None = None,
    out: str | Path | None = None,
    transport: str = "inproc",
    report: bool = True,
    video: bool = False,
    **options: Any,
) -> Run:
    """Run one level and return when it has ended.

    `options` are the fields of `spca_core.options.RunOptions`, such as `preset`, `seed`, `proposer`, `llm`,
    `skills`, `budgets`. `on_event` is called for every stage, draft and step, in this thread. `out` is the
    run's folder, a new one in `runs/` by default. Without a report the folder still holds every draft, plan
    and decision.

    Raises InputError for bad input, before anything is written.
    """
    wanted = settled(checked(RunOptions, level=level, transport=transport, video=video, **options))
    checked(_Given, on_event=on_event)
    begun = Run.new(wanted, out or None)
    begun.advance(*([on_event] if on_event is not None else []))
    if report:
        begun.document()
    return begun


def session(
    world: str = "",
    preset: str = "nominal",
    seed: int = 0,
    *,
    environment: str = "",
    on_event: OnEvent | None = None,
    approve: Approve | None = None,
    report: bool = True,
    **options: Any,
) -> Session:
    """Return a session on a table that stays, for one sentence after the other: see `spca.sessions.Session`.

    Args:
        world: A world file by name or path; the default one of the environment if empty.
        preset: How the table is laid; see `spca run --help`.
        seed: Draws the table and the sensor's noise.
        environment: The name of an environment that takes sentences; the first one installed if empty.
        on_event: Called for every stage, draft and step of every run, in this thread.
        approve: Asked before each plan is carried out, with the plan and its goal in words.
        report: Whether each run gets an HTML report.
        options: Further fields of `spca_core.options.RunOptions`, such as `proposer`, `llm`, `view`; with
            `transport="ros"` the table is the one on the ROS graph.

    Raises InputError for bad input.
    """
    from spca.sessions import SENTENCE, Session

    able = [kit for kit in kits() if kit.takes_sentences and environment in ("", kit.name)]
    if not able:
        names = ", ".join(kit.name for kit in kits() if kit.takes_sentences)
        raise InputError(f"environment '{environment}' takes no sentences", hint=f"these do: {names}")
    # What a failed attempt has done to the table stays done: nobody expects it to be put back by magic.
    wanted = {"transport": "inproc", "video": False, "level": SENTENCE, "rewind": False, **options}
    chosen = settled(checked(RunOptions, world=world, preset=preset, seed=seed, **wanted))
    checked(_Given, on_event=on_event, approve=approve)
    return Session(chosen, able[0], on_event, approve, report)


def campaign(
    levels: Iterable[str],
    presets: Sequence[str] = ("shuffled",),
    tables: int = 20,
    *,
    first_seed: int = 0,
    proposer: str = "builtin",
    workers: int | None = None,
    out: str | Path | None = None,
    on_trial: Callable[[int, int], None] | None = None,
) -> Campaign:
    """Run levels (names, patterns, groups) × presets × tables in parallel; the same as `spca bench levels`.

    An interrupted campaign goes on when it is run again with the same `out`. `on_trial(done, total)` is
    called after each trial, in place of a progress bar. Raises InputError for unknown levels and presets,
    and for a folder that holds another campaign.
    """
    bench = find("spca.benches", "levels").load()
    given = checked(_Given, out=out, levels=levels, presets=presets, workers=workers, on_trial=on_trial)
    done = bench.run(
        given.out,
        workers,
        on_trial,
        levels=tuple(info.name for info in select_levels(given.levels)),
        presets=given.presets,
        tables=tables,
        first_seed=first_seed,
        proposer=proposer,
    )
    return Campaign(*done)


def levels(*patterns: str) -> list[LevelInfo]:
    """Return the levels that match any of the patterns; without one, those whose names need no prefix.

    A pattern is a name, a group, an environment, a shell pattern such as `touch_0*`, or a level file; `all`
    is every level, `tabletop:published` those for which a paper reports results. Raises InputError for a
    pattern that matches nothing.
    """
    return select_levels(checked(_Given, patterns=patterns).patterns)


def check(level: str, **options: Any) -> LevelFindings:
    """Return all errors and warnings of a level at once, without running anything.

    Raises InputError when there is no such level, or a run could not begin for another reason: an unknown
    preset, say.
    """
    wanted = settled(checked(RunOptions, level=level, **options))
    found = kit_of(wanted.level).examine(wanted.level, wanted.world)
    if not found.errors:
        checked_kit(wanted)
    return found


def select_levels(patterns: Sequence[str]) -> list[LevelInfo]:
    """Return the levels that match any of the patterns, which may have commas between them; see `levels`."""
    known = [(kit, info) for kit in kits() for info in kit.levels()]
    if not patterns:
        return [info for kit, info in known if kit.name == PLAIN]
    found: dict[str, LevelInfo] = {}
    for pattern in (name for text in patterns for name in text.split(",") if name):
        if (file := Path(pattern)).suffix in YAML_FILES:
            name = str(file.absolute())
            found[name] = LevelInfo(name=name, group=file.stem.rpartition("_")[0], about="a level file")
            continue
        fitting = [
            info
            for kit, info in known
            if pattern in ("all", kit.name, info.group)
            or (pattern == f"{kit.name}:published" and info.name in kit.published())
            or fnmatch(info.name, pattern)
            or fnmatch(info.name.removeprefix(f"{kit.name}:"), pattern)
        ]
        if not fitting:
            groups = dict.fromkeys([*(info.group for _, info in known), *(kit.name for kit, _ in known)])
            meant = did_you_mean(pattern, [*groups, *(info.name for _, info in known)])
            hint = meant or f"name levels, patterns like 'touch_0*', or groups: {', '.join(groups)}"
            raise InputError(f"no level matches '{pattern}'", hint=hint)
        found |= {info.name: info for info in fitting}
    return list(found.values())
