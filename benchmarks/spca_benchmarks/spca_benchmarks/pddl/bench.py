"""`spca bench pddl`: how well language models formalise described planning domains in PDDL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from matplotlib.figure import Figure
from pydantic import Field

from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.campaign import recorded
from spca_benchmarks.campaigns.page import Page, PageTable, new_figure
from spca_benchmarks.campaigns.plots import legend_beside
from spca_benchmarks.campaigns.statistics import Rate, groups
from spca_benchmarks.pairs import add_pairs
from spca_benchmarks.pddl.judge import STATUSES
from spca_benchmarks.pddl.tasks import load_tasks
from spca_benchmarks.pddl.trial import ROLE, Attempt, PddlResult, run_attempts
from spca_core.model import Record
from spca_core.options import REPLAY
from spca_core.result import dollars
from spca_llm.chat import Chat, open_chat
from spca_llm.config import Budget, LlmConfig, load_config
from spca_llm.exchange import set_aside
from spca_planner.solver.process import warm_solver


class PddlTrial(Record):
    """One task put to one model; `number` counts repetitions from 1."""

    model: str
    task: str
    number: int

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.model}/{self.task}/{self.number}"


Trials = Sequence[Done[PddlTrial, PddlResult]]


class PddlBench(Bench[PddlTrial, PddlResult]):
    """Settings of the bench of PDDL drafts.

    `models` are configuration files (YAML, by whose stem they are called), or names that replace the
    configured model of the role planner_big; none: that model itself.
    """

    name = "pddl"
    result_type: ClassVar[type[Record]] = PddlResult

    models: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    attempts: int = Field(10, ge=1)
    trials_each: int = Field(5, ge=1)
    timeout_s: float = Field(20.0, gt=0)
    llm: str = ""
    """As in `spca run`: a configuration file, or `replay:FOLDER` with the folder of an earlier bench."""

    @property
    def title(self) -> str:
        """See `Bench`."""
        return "From plain words to PDDL"

    def prepare(self, folder: Path) -> None:
        """Every model's server must answer."""
        load_tasks(self.tasks)
        if self.llm.startswith(REPLAY):
            return
        with TemporaryDirectory() as nothing:
            for model in self._models():
                self._chat(model, Path(nothing)).preflight([ROLE])

    def identity(self) -> Mapping[str, Any]:
        """See `Bench`; with the models' names, wherever they come from."""
        files = {m: load_config(Path(m)).model_dump(mode="json")["roles"] for m in self.models if _is_file(m)}
        return {**super().identity(), "models": self._models(), "roles": files}

    def trials(self) -> list[PddlTrial]:
        """Model by model."""
        return [
            PddlTrial(model=model, task=task.name, number=number)
            for model in self._models()
            for task in load_tasks(self.tasks)
            for number in range(1, self.trials_each + 1)
        ]

    def run_trial(self, trial: PddlTrial, folder: Path) -> PddlResult:
        """Drafts and repairs, until a plan is found or the attempts are used up."""
        [task] = load_tasks([trial.task])
        chat = self._chat(trial.model, folder / "llm" / _safe(trial.key), trial.key)
        return run_attempts(task, chat, warm_solver(), self.attempts, self.timeout_s)

    def why_stop(self, done: Trials, wasted: Mapping[str, float]) -> str:
        """The price limit; the configuration's budget bounds what each model may use in the whole bench."""
        if why := super().why_stop(done, wasted):
            return why
        if self.llm.startswith(REPLAY):
            return ""
        budget = Budget() if any(map(_is_file, self.models)) else self._config().budget
        for model, own in groups(done, lambda d: d.trial.model).items():
            used = [d.result.used for d in own]
            lost = sum(usd for key, usd in wasted.items() if key.startswith(f"{model}/"))
            if problem := budget.exceeded(
                sum(u.input_tokens + u.output_tokens for u in used), sum(u.usd for u in used) + lost
            ):
                return f"{model}: {problem}"
        return ""

    def cost(self, result: PddlResult) -> float:
        """See `Bench`."""
        return result.used.usd

    def cost_of_broken(self, trial: PddlTrial, folder: Path) -> float:
        """See `Bench`."""
        return set_aside(folder / "llm" / _safe(trial.key), folder / "broken" / _safe(trial.key))

    def remark(self, done: Done[PddlTrial, PddlResult]) -> str:
        """See `Bench`."""
        at = done.result.solved_at
        return f"solved at attempt {at}" if at else done.result.status.replace("_", " ")

    def table(self, done: Trials) -> PageTable:
        """Solved at attempt 1, 2, 4 and the last, fates of drafts, tokens and cost, by model."""
        marks = sorted({1, 2, 4, self.attempts} & set(range(1, self.attempts + 1)))
        heads = (
            "model", "trials", *(f"solved@{k}" for k in marks), "95 % interval", f"found@{self.attempts}",
            "mean attempts when solved", *(s.replace("_", " ") for s in STATUSES),
            "tokens in / out", "USD", "model s", "judging s",
        )  # fmt: skip
        return PageTable(heads, [self._row(model, own, marks) for model, own in _by_model(done).items()])

    def report(self, done: Trials, page: Page) -> None:
        """See `Bench`."""
        page.text(
            "A task counts as solved when the plan that Fast Downward finds for the model's own domain and "
            "problem also solves the reference domain and problem; the model is never told that verdict. An "
            "empty plan counts as a failure. The columns from “solved” to “no answer” "
            "count drafts by their fate. *: asked for JSON in words, for its server enforces no schema."
        )
        add_pairs(
            page,
            {m: {(d.trial.task, d.trial.number): d.result.status == "solved" for d in own}
             for m, own in _by_model(done).items()},
        )  # fmt: skip
        page.heading("Solved at attempt k")
        page.figure(self._curves(done))
        page.text(
            "Dashed: a plan was found, right or wrong. The distance between the two is what a bench without "
            "a reference would not see."
        )
        page.heading("Tasks")
        models = _by_model(done)
        by_task = [groups(own, lambda d: d.trial.task) for own in models.values()]
        tasks = groups(done, lambda d: d.trial.task)
        rows = [
            (task, *(", ".join(map(self.remark, own.get(task, ()))) for own in by_task)) for task in tasks
        ]
        page.table(("task", *models), rows)
        page.heading("Drafts")
        for d in done:
            fates = " → ".join(a.judged.status for a in d.result.attempts)
            page.listing(f"{d.trial.key} · {fates}", "\n\n".join(map(_words, d.result.attempts)))

    def rows(self, done: Done[PddlTrial, PddlResult]) -> Iterable[Mapping[str, Any]]:
        """Without the drafts."""
        result = done.result
        marks = {"status": result.status, "solved_at": result.solved_at, "accepted_at": result.accepted_at}
        yield {**done.trial.model_dump(), **marks, "drafts": len(result.attempts), **result.used.model_dump()}

    def _row(self, model: str, done: Trials, marks: Sequence[int]) -> tuple[object, ...]:
        results = [d.result for d in done]
        fates = Counter(a.judged.status for r in results for a in r.attempts)
        used = [r.used for r in results]
        solved = {k: at_most(k, [r.solved_at for r in results]) for k in marks}
        return (
            model, len(results), *(f"{100 * solved[k].value:.0f} %" for k in marks),
            solved[self.attempts].percent_interval,
            f"{100 * at_most(self.attempts, [r.accepted_at for r in results]).value:.0f} %",
            f"{sum(at) / len(at):.2f}" if (at := [r.solved_at for r in results if r.solved_at]) else "",
            *(fates[s] for s in STATUSES),
            f"{sum(u.input_tokens for u in used)} / {sum(u.output_tokens for u in used)}",
            dollars(used), float(sum(u.seconds for u in used)),
            float(sum(a.judge_seconds for r in results for a in r.attempts)),
        )  # fmt: skip

    def _curves(self, done: Trials) -> Figure:
        """Solved@k as lines, accepted@k dashed."""
        figure, axis = new_figure()
        k = range(1, self.attempts + 1)
        for i, (model, own) in enumerate(_by_model(done).items()):
            solved, accepted = [d.result.solved_at for d in own], [d.result.accepted_at for d in own]
            axis.plot(k, [at_most(n, solved).value for n in k], "o-", ms=3, color=f"C{i}", label=model)
            axis.plot(k, [at_most(n, accepted).value for n in k], "--", lw=1, color=f"C{i}", alpha=0.6)
        axis.set_ylim(-0.02, 1.02)
        axis.set_xticks(list(k))
        axis.set_xlabel("attempt k")
        axis.set_ylabel("share solved by attempt k")
        legend_beside(axis)
        return figure

    # --- models ---------------------------------------------------------------------------------------------

    def _models(self) -> list[str]:
        if self.models:
            return [Path(m).stem if _is_file(m) else m for m in self.models]
        if not self.llm.startswith(REPLAY):
            return [self._config().role(ROLE).model]
        return list(recorded(Path(self.llm.removeprefix(REPLAY)), "models"))

    def _config(self) -> LlmConfig:
        return load_config(Path(self.llm) if self.llm else None)

    def _chat(self, model: str, folder: Path, trial: str = "") -> Chat:
        """A model that records into `folder`; of a recorded bench, the answers of that trial."""
        if self.llm.startswith(REPLAY):
            recorded = Path(self.llm.removeprefix(REPLAY)) / "llm"
            return open_chat(f"{REPLAY}{recorded / _safe(trial)}", folder)
        if file := next((m for m in self.models if _is_file(m) and Path(m).stem == model), None):
            return open_chat("", folder, load_config(Path(file)))
        config = self._config()
        roles = {**config.roles, ROLE: config.role(ROLE).model_copy(update={"model": model})}
        return open_chat("", folder, config.model_copy(update={"roles": roles}))


def _is_file(model: str) -> bool:
    return model.endswith((".yaml", ".yml"))


def at_most(k: int, marks: Sequence[int | None]) -> Rate:
    """Return the share of marks that are at most k; None never is.

    >>> [str(at_most(k, [1, 3, None, 1])) for k in (1, 2, 3)]
    ['2/4', '2/4', '3/4']
    """
    return Rate.of(mark is not None and mark <= k for mark in marks)


def _by_model(done: Trials) -> dict[str, list[Done[PddlTrial, PddlResult]]]:
    """Trials by the model's name, with a star where it was asked for JSON in words."""
    found = groups(done, lambda d: d.trial.model)
    return {f"{m} *" if any(d.result.in_words for d in own) else m: own for m, own in found.items()}


def _safe(name: str) -> str:
    """A path for a name with characters that paths do not like (`qwen3:32b`); slashes stay."""
    clean = "".join(c if c.isalnum() or c in "-_./" else "_" for c in name)
    return "/".join(part.lstrip(".") or "_" for part in clean.split("/"))


def _words(attempt: Attempt) -> str:
    judged, draft = attempt.judged, attempt.draft
    plan = "\n".join(f"({' '.join(step)})" for step in judged.steps)
    parts = [f"{judged.status.replace('_', ' ')}. {judged.message}", plan]
    return "\n\n".join(
        p for p in (*parts, draft.domain if draft else "", draft.problem if draft else "") if p
    )
