"""The tables and plots that compare models, from what runs left in their folders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from spca_benchmarks.campaigns import plots
from spca_benchmarks.campaigns.bench import Done
from spca_benchmarks.campaigns.page import Page, new_figure
from spca_benchmarks.campaigns.statistics import Mean, Rate, groups, median_of
from spca_core.model import Record
from spca_core.plan import ActResult, CodeResult, PlanResult, Rehearsed
from spca_core.result import dollars
from spca_core.run_folder import RunFolder
from spca_llm.exchange import read_exchange

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spca_benchmarks.models.bench import ModelResult, ModelTrial, Trials

_FATES = {
    "parse": "refused: not valid PDDL",
    "scene": "refused: contradicts what is seen",
    "goal": "refused or questioned: not what the task asks for",
    "solve": "refused: no plan exists, or none was found in time",
    "validate": "refused: a validator found the plan invalid",
    "draft": "refused: the same draft again",
    "model": "no usable answer",
    "declined": "declined: the known domain does not serve",
    "the model": "no usable answer",
    "rejected: status": "rejected: a skill failed",
    "rejected: effect": "rejected: an effect did not come about",
    "rejected: frame": "rejected: another thing was moved",
    "rejected: safety": "rejected: a contact that must not be",
    "rejected: goal": "rejected: the goal did not hold",
}
"""What became of drafts and tries, by who refused them."""
_STAGE = re.compile(r"(plan|code|rehearsal|act)_(\d+)\.json")


def add_plots(contestants: Mapping[str, Trials], page: Page) -> None:
    """Success by group, solved over time and money, tokens, durations."""
    grouped = {name: groups(done, lambda d: d.trial.group) for name, done in contestants.items()}
    rates = {
        name: {group: Rate.of(d.result.success for d in own) for group, own in found.items()}
        for name, found in grouped.items()
    }
    page.figure(plots.rates(rates))
    page.heading("Solved over wall time")
    page.figure(_cumulative(contestants, lambda r: r.wall / 60, "minutes, one trial after the other"))
    page.heading("Solved over simulation runs (Fig. 8)")
    page.figure(_cumulative(contestants, lambda r: r.attempts, "plans carried out"))
    if any(d.result.usd for done in contestants.values() for d in done):
        page.heading("Solved over cost")
        page.figure(_cumulative(contestants, lambda r: r.usd, "US dollars"))
    parts = {f"{name}, {group}": own for name, found in grouped.items() for group, own in found.items()}
    page.heading("Tokens by group and role (Fig. 10)")
    page.figure(_tokens(parts))
    page.heading("Durations by group (Fig. 9)")
    page.figure(plots.boxes({n: [d.result.wall for d in own] for n, own in parts.items()}, "wall time (s)"))


def _cumulative(
    contestants: Mapping[str, Trials], cost: Callable[[ModelResult], float], label: str
) -> Figure:
    figure, axis = new_figure()
    for name, done in contestants.items():
        spent = list(accumulate((cost(d.result) for d in done), initial=0.0))
        solved = list(accumulate((int(d.result.success) for d in done), initial=0))
        axis.step(spent, solved, where="post", label=name)
    axis.set_xlabel(label)
    axis.set_ylabel("trials solved")
    axis.yaxis.get_major_locator().set_params(integer=True)
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=0)
    plots.legend_beside(axis)
    return figure


def _tokens(parts: Mapping[str, Trials]) -> Figure:
    """Mean and the middle 95 % of the trials, by role."""
    figure, axis = new_figure(6.4, 0.9 + 0.4 * len(parts))
    axis.set_yticks(range(len(parts)), list(parts))
    usage = [[d.result.usage for d in own] for own in parts.values()]
    for k, role in enumerate(roles := sorted({role for own in usage for used in own for role in used})):
        used = [
            [u[role].input_tokens + u[role].output_tokens if role in u else 0 for u in own] for own in usage
        ]
        means = [sum(own) / len(own) for own in used]
        bands = [np.abs(np.percentile(own, (2.5, 97.5)) - m) for own, m in zip(used, means, strict=True)]
        axis.errorbar(means, np.arange(len(parts)) + 0.12 * k, xerr=np.transpose(bands), fmt="o", label=role)
    axis.invert_yaxis()
    axis.set_xlabel("tokens a trial")
    if roles:
        plots.legend_beside(axis)
    return figure


def by_contestant(done: Trials) -> dict[str, list[Done[ModelTrial, ModelResult]]]:
    """Trials by model and variant."""
    return groups(done, lambda d: d.trial.contestant)


def summary_row(name: str, results: Sequence[ModelResult]) -> tuple[object, ...]:
    """A contestant's row of the table at the top; see `ModelsBench.table`."""
    rate = Rate.of(r.success for r in results)
    accepted = Rate.of(r.first_accepted for r in results if r.first_accepted is not None)
    usage = [u for r in results for u in r.usage.values()]
    return (
        name, rate, rate.percent, rate.percent_interval, accepted if accepted.total else "",
        sum(r.rounds for r in results) / len(results),
        *(sum(f.stage == s for r in results for f in r.fates) / len(results) for s in ("plan", "code")),
        round(sum(u.input_tokens for u in usage) / len(results)),
        round(sum(u.output_tokens for u in usage) / len(results)),
        dollars(usage, len(results)),
        median_of(r.wall for r in results), median_of(r.wall - r.model_seconds for r in results),
    )  # fmt: skip


def skills_row(name: str, results: Sequence[ModelResult]) -> tuple[object, ...]:
    """Runs, minutes, rounds, what became of skills, and the shares of the paper's §4.2, over all trials."""
    counts = (sum(len(getattr(r.skills, w)) for r in results) for w in ("written", "reused", "promoted"))
    repairs = sorted((r.coder.semantic for r in results), reverse=True)
    spans = (Mean.of([r.wall / 60 for r in results]), Mean.of([r.rounds for r in results]))
    return (
        name, sum(r.attempts for r in results),
        *(part for s in spans for part in (f"{s.value * s.count:.4g}", f"{s.value:.2f} ± {s.sd:.2f}")),
        *counts, sum(len(r.repaired) for r in results),
        Rate.of(not r.coder.semantic and not r.coder.syntax for r in results if r.coder.first),
        Rate.of(r.rounds == 1 for r in results if r.success and r.planner.reuse),
        100 * sum(repairs[:10]) / max(1, sum(repairs)),
    )  # fmt: skip


def verdicts(done: Trials) -> dict[object, bool]:
    """Return whether each level was solved, by table and level."""
    return {(d.trial.number, d.trial.level): d.result.success for d in done}


def by_role(contestants: Mapping[str, Trials]) -> Iterator[tuple[object, ...]]:
    """Calls, tokens and cost of each model role of each contestant."""
    for name, own in contestants.items():
        roles = groups([(role, u) for d in own for role, u in d.result.usage.items()], lambda pair: pair[0])
        for role, pairs in roles.items():
            used = [u for _, u in pairs]
            tokens = (sum(u.input_tokens for u in used), sum(u.output_tokens for u in used))
            names = ", ".join(sorted({n for d in own if (n := d.result.names.get(role))}))
            each = Mean.of([u.input_tokens + u.output_tokens for u in used])
            mean = f"{each.value:.0f} ± {each.sd:.0f}"
            yield name, role, sum(u.calls for u in used), *tokens, mean, dollars(used), names


def taxonomy(contestants: Mapping[str, Trials]) -> Iterator[tuple[object, ...]]:
    """How often a draft, a rehearsal or a try had which fate, and what came next."""
    for name, own in contestants.items():
        counts: Counter[tuple[str, str, str]] = Counter()
        for d in own:
            fates = d.result.fates
            following = [*(f.stage for f in fates), d.result.outcome.value][1:]  # none without a draft
            counts.update((f.stage, f.fate, then) for f, then in zip(fates, following, strict=True))
        for (stage, fate, then), count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1])):
            words = (_FATES.get(word, word.replace("_", " ")) for word in (fate, then))
            yield name, stage, *words, count


class Fate(Record):
    """One draft of a plan or of code, one rehearsal, or one try in the world.

    `fate` is `accepted`, or who refused it.
    """

    stage: Literal["plan", "code", "rehearsal", "act"]
    fate: str

    @property
    def good(self) -> bool:
        """Whether nothing was wrong with it."""
        return self.fate in ("accepted", "done")


def fates_of(run: RunFolder) -> tuple[Fate, ...]:
    """In the order in which they came: attempts are numbered through a run."""
    found: list[Fate] = []
    numbered = [(match, p) for p in run.path.glob("round_*/*.json") if (match := _STAGE.fullmatch(p.name))]
    for match, path in sorted(numbered, key=lambda pair: int(pair[0][2])):
        content, stage = path.read_bytes(), match[1]
        if stage == "plan":
            refused = [d.rejection for d in PlanResult.model_validate_json(content).drafts]
            found += [Fate(stage="plan", fate=r.critic if r else "accepted") for r in refused]
        elif stage == "code":
            codes = CodeResult.model_validate_json(content).drafts
            found += [Fate(stage="code", fate=_kind(c.rejection) or "accepted") for c in codes]
        elif stage == "rehearsal":
            rehearsed = Rehearsed.model_validate_json(content)
            fate = f"rejected: {rehearsed.fault.kind}" if rehearsed.fault else rehearsed.status
            found.append(Fate(stage="rehearsal", fate=fate))
        else:
            found.append(Fate(stage="act", fate=_how(ActResult.model_validate_json(content))))
    return tuple(found)


def models_in(asked: Path) -> dict[str, str]:
    """The models that recorded exchanges were asked of, by role."""
    found = [read_exchange(path) for path in sorted(asked.glob("*.json"))]
    return {one.request.role: one.answer.model for one in found if one.answer}


def repaired_in(run: RunFolder) -> tuple[str, ...]:
    """Skills that the coder wrote after they had failed, each as often as that."""
    codes = run.read_stage("code", CodeResult)
    return tuple(name for c in codes if c.drafts and c.drafts[0].kind == "semantic" for name in c.written)


def _how(act: ActResult) -> str:
    failed = next((s for s in act.steps if s.status == "failed"), None)
    if failed is None:
        return act.status
    return failed.failure.kind if failed.failure else "failed"


def _kind(rejection: str) -> str:
    """The beginning of a coder's rejection, without names and numbers.

    Similar rejections are counted together by it.
    """
    words = re.sub(r"^line \d+, `.*?`: ", "", rejection)
    return re.sub(r"'[^']*'|`[^`]*`|\d+", "…", words).partition(": ")[0].partition(";")[0][:60]
