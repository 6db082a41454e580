"""`spca bench models`: language models on the same levels and tables, each with a library of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from pydantic import Field, SerializeAsAny, field_validator

from spca.api import select_levels
from spca.kits import checked_kit, kit_of
from spca.models import LLM, open_models
from spca_benchmarks.campaigns.bench import Done
from spca_benchmarks.campaigns.campaign import recorded
from spca_benchmarks.campaigns.page import Page, PageTable
from spca_benchmarks.campaigns.published import printed
from spca_benchmarks.campaigns.statistics import Rate, groups
from spca_benchmarks.drafts import draft_cells
from spca_benchmarks.models.page import (
    Fate,
    add_plots,
    by_contestant,
    by_role,
    fates_of,
    models_in,
    repaired_in,
    skills_row,
    summary_row,
    taxonomy,
    verdicts,
)
from spca_benchmarks.models.variants import VARIANTS
from spca_benchmarks.pairs import add_pairs
from spca_benchmarks.runs import RunsBench, RunSummary, keep_failed, run_cards, run_level
from spca_core.errors import InputError, one_of
from spca_core.extensions import find
from spca_core.model import Record
from spca_core.options import REPLAY, RunOptions
from spca_core.ports.proposer import ModelError
from spca_core.validation import expecting, read_yaml
from spca_llm.config import Price, load_config, load_prices
from spca_llm.exchange import ExchangeLog, server_fault, set_aside

BUILTIN = "builtin"
_PROMPTS = ("spca_planner", "spca_coder", "spca_sense")


class ModelTrial(Record):
    """One level on one table by one model; `number` is the table, `place` the level's in the curriculum.

    `group` is what the environment's kit says of the level.
    """

    model: str
    variant: str
    number: int
    place: int
    level: str
    group: str

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.model}/{self.variant}/{self.number}/{self.level}"

    @property
    def contestant(self) -> str:
        """Model and variant, as tables show them."""
        return self.model if self.variant == "full" else f"{self.model} ({self.variant})"


class ModelResult(RunSummary):
    """A run, with the model's part in it."""

    model_seconds: float = 0.0
    """Wall time of waiting for the model."""
    names: dict[str, str] = {}
    """The model that answered in each role."""
    repaired: tuple[str, ...] = ()
    """Skills that were written again after they had failed."""
    fates: tuple[Fate, ...] = ()
    """Every draft and every try in the world, in their order."""

    @property
    def first_accepted(self) -> bool | None:
        """Whether the first draft of a plan passed all critics; None if there was none."""
        return next((f.good for f in self.fates if f.stage == "plan"), None)

    @property
    def usd(self) -> float:
        """Cost of all roles."""
        return sum(u.usd for u in self.usage.values())


class _Scripted(Record):
    """A model file that names no server but a scripted model, by its settings."""

    scripted: SerializeAsAny[Record]
    price: Price | None = None

    @field_validator("scripted", mode="before")
    @classmethod
    def _settings(cls, content: object) -> object:
        """Validate them as those of the one kind of scripted model that there is."""
        return find("spca.scripted_models", "calibrated", "scripted").load().model_validate(content)


Trials = Sequence[Done[ModelTrial, ModelResult]]


class ModelsBench(RunsBench[ModelTrial, ModelResult]):
    """Models × variants × tables × levels.

    On each table a model begins with nothing and takes the levels in order.
    """

    name = "models"
    compares: ClassVar[bool] = True
    result_type: ClassVar[type[Record]] = ModelResult
    models: tuple[str, ...] = Field(min_length=1)
    """Configuration files, or `builtin`; a file's stem is the model's name."""
    levels: tuple[str, ...] = Field(min_length=1)
    variants: tuple[str, ...] = ("full",)
    tables: int = Field(5, ge=1)
    first_seed: int = Field(0, ge=0)
    preset: str = "shuffled"
    llm: str = ""
    """`replay:FOLDER`: the recorded answers of an earlier campaign in place of the models."""

    @property
    def title(self) -> str:
        """See `Bench`."""
        return (
            f"Models: {', '.join(map(_label, self.models))}; levels: {len(self.levels)}, "
            f"tables of each: {self.tables}"
        )

    def identity(self) -> Mapping[str, Any]:
        """See `Bench`; with servers, sampling, prices, and a digest of the prompts."""
        if self.llm:
            return {**self.model_dump(mode="json", exclude={"usd"}), "who": recorded(self._recorded, "who")}
        who = {_label(model): _who(model) for model in self.models}
        return {**super().identity(), "who": who, "prompts": _digest_of_prompts()}

    def prepare(self, folder: Path) -> None:
        """Levels and variants must be there, names differ, and every server answer. Raises InputError."""
        labels = [_label(m) for m in self.models]
        if len(set(labels)) < len(labels):
            raise InputError("two models of the same name", where="--model", hint="rename one of the files")
        for variant in self.variants:
            if variant not in VARIANTS:
                raise InputError(f"unknown variant '{variant}'", "--variant", one_of(variant, VARIANTS))
        for trial in self.trials()[: len(self.levels)]:
            checked_kit(self._options(trial, ""))
        if self.llm:
            return
        disturbing = [
            n for n in os.environ if n.startswith("SPCA_LLM_") and n.endswith(("_MODEL", "_BASE_URL"))
        ]
        if disturbing and any(m != BUILTIN for m in self.models):
            hint = "unset it: it would replace what the model files say"
            raise InputError(f"{disturbing[0]} is set", where="the environment", hint=hint)
        for model in self.models:
            if model != BUILTIN and _scripted(model) is None:
                vision = any(VARIANTS[v].get("vision") for v in self.variants)
                options = self._options(self.trials()[0], model).model_copy(update={"vision": vision})
                with TemporaryDirectory() as nothing:
                    open_models(options, Path(nothing))

    def trials(self) -> list[ModelTrial]:
        """Table by table, so that an interrupted campaign has asked every model equally often."""
        infos = {info.name: info for info in select_levels(self.levels)}
        return [
            ModelTrial(
                model=_label(model),
                variant=variant,
                number=number,
                place=place,
                level=level,
                group=infos[level].group,
            )
            for number in range(self.first_seed, self.first_seed + self.tables)
            for model in self.models
            for variant in self.variants
            for place, level in enumerate(self.levels)
        ]

    def chain_of(self, trial: ModelTrial) -> str:
        """The levels of one model on one table follow each other, as skills grow from one to the next."""
        return f"{trial.model}/{trial.variant}/{trial.number}"

    def run_trial(self, trial: ModelTrial, folder: Path) -> ModelResult:
        """A run from the library that the level before has left.

        ModelError, and a broken trial, if a server failed.
        """
        name = _safe(trial)
        record = folder / LLM / name
        with self._library(trial, folder) as library, self._model(trial) as llm:
            summary, run = run_level(self._options(trial, llm, library), folder, name)
            asked = run.path / LLM
            if fault := server_fault(asked):
                raise ModelError(fault, "unreachable")
            result = ModelResult(
                **dict(summary),
                model_seconds=sum(t.seconds for t in ExchangeLog(asked).totals().values())
                if asked.is_dir()
                else 0.0,
                names=models_in(asked) if asked.is_dir() else {},
                repaired=repaired_in(run),
                fates=fates_of(run),
            )
        shutil.rmtree(record, ignore_errors=True)
        if asked.is_dir():
            shutil.copytree(asked, record)
        keep_failed(summary, run)
        return result

    def cost(self, result: ModelResult) -> float:
        """See `Bench`."""
        return result.usd

    def cost_of_broken(self, trial: ModelTrial, folder: Path) -> float:
        """See `Bench`."""
        return set_aside(folder / "runs" / _safe(trial) / LLM, folder / "broken" / _safe(trial))

    # --- what is shown --------------------------------------------------------------------------------------

    def table(self, done: Trials) -> PageTable:
        """By model and variant. Wall seconds are medians, the rest are shares and means of a trial."""
        heads = ("model", "solved", "%", "95 % interval", "first drafts accepted", "rounds", "plan drafts",
                 "code drafts", "tokens in", "tokens out", "USD", "wall s", "without the model")  # fmt: skip
        return PageTable(
            heads, [summary_row(name, [d.result for d in own]) for name, own in by_contestant(done).items()]
        )

    def report(self, done: Trials, page: Page) -> None:
        """See `Bench`."""
        contestants = by_contestant(done)
        add_pairs(page, {name: verdicts(own) for name, own in contestants.items()})
        page.heading("Success by group and model")
        page.table(("group", *contestants), list(_by_group(contestants)))
        add_plots(contestants, page)
        page.heading("Drafts, by who asked")
        drafts = {name: draft_cells([d.result for d in own]) for name, own in contestants.items()}
        page.table(("model", *next(iter(drafts.values()))), [(n, *own.values()) for n, own in drafts.items()])
        if set(self.levels) == set(kit_of(self.levels[0]).published()):
            first = 1 if "minigrid" in self.levels[0] else 6
            page.heading("Published, on the paper's own levels")
            for number in range(first, first + 4):
                page.table(*printed("SPCA", f"Table {number}"))
        page.heading("In all: simulation runs, their span, and skills")
        rows = [skills_row(name, [d.result for d in own]) for name, own in contestants.items()]
        fates = ("right at once", "a reused domain, one round", "repairs on ten trials %")
        spans = ("runs", "min", "min a level", "rounds", "rounds a level")
        page.table(("model", *spans, "written", "reused", "promoted", "repaired", *fates), rows)
        page.heading("Tokens and cost by role, in all")
        page.table(
            ("model", "role", "calls", "tokens in", "tokens out", "a trial", "USD", "answered by"),
            list(by_role(contestants)),
        )
        page.heading("What became of drafts and tries")
        page.text("Each draft of a plan or of code, and each try in the world; then what came next.")
        page.table(("model", "stage", "fate", "then", "how often"), list(taxonomy(contestants)))
        if failed := [(d.trial.key, d.result) for d in done if not d.result.success]:
            page.heading("Trials that failed")
            page.cards(run_cards(failed))

    def rows(self, done: Done[ModelTrial, ModelResult]) -> Iterable[Mapping[str, Any]]:
        """One row a trial; its drafts and tries are counted only."""
        for row in super().rows(done):
            kept = {k: v for k, v in row.items() if k != "fates"}
            totals = {"usd": done.result.usd, "first_accepted": done.result.first_accepted}
            yield {**kept, "group": done.trial.group, **totals}

    # --- models and libraries -------------------------------------------------------------------------------

    @property
    def _recorded(self) -> Path:
        return Path(self.llm.removeprefix(REPLAY))

    def _options(self, trial: ModelTrial, llm: str, library: Path | None = None) -> RunOptions:
        builtin = trial.model == BUILTIN
        values: dict[str, Any] = {
            "level": trial.level, "preset": self.preset, "seed": trial.number, "transport": "inproc",
            "video": False,
            "proposer": "builtin" if builtin else "openai", "skills": "builtin" if builtin else "empty",
            "llm": "" if builtin else llm, "library": str(library or ""),
        }  # fmt: skip
        return RunOptions.model_validate({**values, **VARIANTS[trial.variant]})

    @contextmanager
    def _library(self, trial: ModelTrial, folder: Path) -> Iterator[Path]:
        """What the level before has left, to be worked with; kept for the next level if nothing breaks.

        A trial that is run again begins with the same as the first time, whatever became of that.
        """
        own = folder / "libraries" / trial.model / trial.variant / str(trial.number)
        work, before, after = own / "work", own / f"{trial.place - 1:03}", own / f"{trial.place:03}"
        shutil.rmtree(work, ignore_errors=True)
        if before.is_dir() and trial.variant != "no-reuse":
            shutil.copytree(before, work)
        work.mkdir(parents=True, exist_ok=True)
        yield work
        shutil.rmtree(after, ignore_errors=True)
        work.rename(after)

    @contextmanager
    def _model(self, trial: ModelTrial) -> Iterator[str]:
        """The value of `--llm` for a run."""
        if self.llm:
            recorded = self._recorded / LLM / _safe(trial)
            yield f"{REPLAY}{recorded.resolve()}"
            return
        model = next(m for m in self.models if _label(m) == trial.model)
        if model == BUILTIN or (scripted := _scripted(model)) is None:
            yield model
            return
        draw = f"{trial.number}/{trial.level}"
        with scripted.scripted.serving(draw, scripted.price) as file:  # type: ignore[attr-defined]
            yield str(file)


def _safe(trial: ModelTrial) -> str:
    """A trial's name as a folder's."""
    return trial.key.replace("/", "_").replace(":", "_")


def _by_group(contestants: Mapping[str, Trials]) -> Iterator[tuple[object, ...]]:
    """Solved by group and in all."""
    done = [d for own in contestants.values() for d in own]
    for group in (*groups(done, lambda d: d.trial.group), "all"):
        mine = ([d for d in own if group in ("all", d.trial.group)] for own in contestants.values())
        yield group, *(Rate.of(d.result.success for d in own) for own in mine)


def _label(model: str) -> str:
    return Path(model).stem


def _scripted(model: str) -> _Scripted | None:
    """The scripted model that a file describes, if it describes one."""
    content = read_yaml(Path(model), "a model configuration")
    if not isinstance(content, dict) or "scripted" not in content:
        return None
    with expecting("a scripted model", model):
        return _Scripted.model_validate(content)


def _who(model: str) -> dict[str, Any]:
    """Everything about a model that a result depends on."""
    if model == BUILTIN:
        return {}
    if (scripted := _scripted(model)) is not None:
        return scripted.model_dump(mode="json")
    config = load_config(Path(model))
    table = load_prices(config.prices)
    prices = {
        role.model: p.model_dump() if (p := table.of(role.model)) else None for role in config.roles.values()
    }
    return {**config.model_dump(mode="json", exclude={"prices"}), "prices": prices}


def _digest_of_prompts() -> str:
    """Over the texts of all prompts of the planner, the coder and the eyes."""
    texts = []
    for package in _PROMPTS:
        folder = files(package) / "prompts"
        if folder.is_dir():
            texts += [
                (package, f.name, f.read_text()) for f in sorted(folder.iterdir(), key=lambda f: f.name)
            ]
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:16]
