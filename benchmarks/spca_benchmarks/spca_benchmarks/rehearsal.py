"""`spca bench rehearsal`: what rehearsals catch before acting, and what they reject wrongly."""

from __future__ import annotations

import atexit
import random
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import ClassVar, Literal

from pydantic import Field

from spca.kits import checked_kit, kit_named
from spca.rehearsal.rehearsal import SampledRehearsal, Settings
from spca_benchmarks.campaigns import plots
from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import Page, PageTable
from spca_benchmarks.campaigns.statistics import Rate, groups, median_of
from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.options import Budgets, RunOptions
from spca_core.plan import Draft, Plan, PlanRequest, Rehearsed, Rejection
from spca_core.ports.environment import Environment
from spca_core.ports.kit import Kit
from spca_core.ports.proposer import PlanProposer
from spca_core.scene import Observation
from spca_core.skill import python_name
from spca_core.skill_package import library_source
from spca_planner.planner import DraftingPlanner
from spca_planner.solver.process import warm_solver
from spca_planner.trusted import TrustedDomains

SOUND = "sound"
Origin = Literal["sound", "skill", "plan", "domain"]
_MOST_SITES = 8  # places where a plan or a domain may be changed


class RehearsalTrial(Record):
    """A plan with its skills on one table, sound or with one fault."""

    level: str
    preset: str
    seed: int
    origin: Origin = "sound"
    kind: str = SOUND
    site: int = 0
    variant: str = ""

    @property
    def table(self) -> str:
        """The level on its table."""
        return f"{self.level}/{self.preset}/{self.seed}"

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.table}/{self.origin}/{self.kind}/{self.site}{self.variant and '/'}{self.variant}"


class RehearsalResult(Record):
    """Verdict of the rehearsal, and outcome of the plan in the real run. Seconds of wall time."""

    applies: bool = True
    """False where there is no such fault: no plan was found, or it does not use what is changed."""
    solved: bool = False
    """Whether the referee said so after the plan had been carried out."""
    verdict: str = ""
    status: str = ""
    share: float = 0.0
    faults: tuple[str, ...] = ()
    """The kind of fault of each try; empty for one that went well."""
    sentence: str = ""
    seconds: float = 0.0
    cpu: float = 0.0
    """Processor time in seconds, without the sandbox: about the cost on a machine with nothing else to do."""
    without_frame: str = ""
    """The status without the frame rule, where that rule spoke."""
    chosen: str = ""
    """What was preferred, where a sound plan failed in the twin and another choice or plan did not."""
    solved_chosen: bool = False
    """Whether the referee was satisfied after what was chosen, or after the plan where nothing was."""

    @property
    def first(self) -> str:
        """The status after one exact try."""
        return "" if not self.faults else "rejected" if self.faults[0] else "accepted"


Trials = Sequence[Done[RehearsalTrial, RehearsalResult]]


class RehearsalBench(Bench[RehearsalTrial, RehearsalResult]):
    """With `faults`, mutants of the built-in skills, plans and domain; otherwise the sound ones.

    `limit` trials are drawn from all of a kind of campaign by `first_seed` (0: all).
    """

    name = "rehearsal"
    result_type: ClassVar[type[Record]] = RehearsalResult

    levels: tuple[str, ...]
    presets: tuple[str, ...] = ("shuffled",)
    tables: int = Field(1, ge=1)
    first_seed: int = Field(0, ge=0)
    faults: bool = True
    limit: int = Field(0, ge=0)

    @property
    def title(self) -> str:
        """See `Bench`."""
        return f"Rehearsal: {'faulty' if self.faults else 'sound'} plans and skills"

    def prepare(self, folder: Path) -> None:
        """See `Bench`."""
        for preset in self.presets:
            for level in self.levels:
                checked_kit(RunOptions(level=level, preset=preset))

    def trials(self) -> list[RehearsalTrial]:
        """Table by table: what is seen there is kept from one trial to the next."""
        tables = [
            RehearsalTrial(level=level, preset=preset, seed=seed)
            for seed in range(self.first_seed, self.first_seed + self.tables)
            for preset in self.presets
            for level in self.levels
        ]
        if not self.faults:
            return tables
        found = [
            t.model_copy(update={"origin": origin, "kind": kind, "site": site, "variant": variant})
            for t in tables
            for origin, kind, site, variant in _faults()
        ]
        if self.limit and self.limit < len(found):
            chosen = random.Random(self.first_seed).sample(range(len(found)), self.limit)
            found = [found[i] for i in sorted(chosen)]
        return found

    def run_trial(self, trial: RehearsalTrial, folder: Path) -> RehearsalResult:
        """The plan is carried out for good, put back, and rehearsed."""
        table = _table(trial.level, trial.preset, trial.seed)
        made = table.faulty(trial) if table.plan else None
        if made is None:
            return RehearsalResult(applies=False)
        plan, library = made
        solved, reason = table.carry_out(plan, library)
        found = table.rehearse(trial.key.replace("/", ":"), plan, library, frame=True)
        kinds = tuple(f"{t.fault.kind} {t.fault.step + 1}" if t.fault else "" for t in found.tries)
        without = ""
        if any(k.startswith("frame") for k in kinds):
            without = table.rehearse(trial.key.replace("/", ":"), plan, library, frame=False).status
        chosen, solved_chosen = "", solved
        if trial.origin == "sound" and found.status != "accepted":
            better = table.rehearse(trial.key.replace("/", ":"), plan, library, frame=True, choose=True)
            if better.instead is not None:
                chosen = ", ".join(map(str, better.instead.choices)) or "another plan"
                solved_chosen, _ = table.carry_out(better.instead, library)
        return RehearsalResult(
            chosen=chosen, solved_chosen=solved_chosen, solved=solved,
            verdict=reason, status=found.status, share=found.share, faults=kinds,
            sentence=found.sentence, seconds=found.seconds, cpu=found.cpu, without_frame=without,
        )  # fmt: skip

    def success(self, result: RehearsalResult) -> bool | None:
        """Return whether rehearsal and reality agree."""
        return (result.status != "rejected") == result.solved if result.applies else None

    def remark(self, done: Done[RehearsalTrial, RehearsalResult]) -> str:
        """See `Bench`."""
        r = done.result
        if self.success(r) is not False:
            return ""
        return f"{'solved' if r.solved else 'not solved: ' + r.verdict}, but {r.status}: {r.sentence}"

    def table(self, done: Trials) -> PageTable:
        """Rates by kind: of what fails in the real run, how much was caught, and of what works, rejected."""
        used = [d for d in done if d.result.applies]
        rows = []
        by = (lambda d: f"{d.trial.origin}: {d.trial.kind}") if self.faults else (lambda d: d.trial.preset)
        for name, own in [*sorted(groups(used, by).items()), ("all", used)]:
            caught = Rate.of(d.result.status == "rejected" for d in own if not d.result.solved)
            alarms = Rate.of(d.result.status == "rejected" for d in own if d.result.solved)
            times = (median_of(d.result.seconds for d in own), median_of(d.result.cpu for d in own))
            rows.append((name, str(caught), caught.percent, str(alarms), alarms.percent_interval, *times))
        return PageTable(
            ("kind", "caught", "share", "rejected though it works", "95 % interval", "wall s", "CPU s"), rows
        )

    def report(self, done: Trials, page: Page) -> None:
        """See `Bench`."""
        used = [d for d in done if d.result.applies]
        failing = [d for d in used if not d.result.solved]
        if self.faults:
            page.heading("Caught before acting")
            kinds = sorted(groups(failing, lambda d: d.trial.kind).items())
            shares_caught = {
                name: {kind: Rate.of(caught(d.result) for d in own) for kind, own in kinds}
                for name, caught in ABLATIONS.items()
            }
            page.figure(plots.rates(shares_caught, "share caught"))
        else:
            page.heading("Choice by rehearsal")
            page.table(
                ("", "solved", "95 % interval"),
                [(name, str(rate), rate.percent_interval) for name, rate in choice(used).items()],
            )
        page.heading("Ablations")
        rows = []
        for name, rejects in ABLATIONS.items():
            rate = Rate.of(rejects(d.result) for d in failing)
            alarms = Rate.of(rejects(d.result) for d in used if d.result.solved)
            rows.append((name, str(rate), rate.percent_interval, str(alarms)))
        page.table(("", "caught", "95 % interval", "rejected though it works"), rows)
        page.heading("Calibration")
        page.text(f"Brier score of the share of tries that went well: {brier(used):.3f}.")
        shares = sorted(groups(used, lambda d: f"{d.result.share:.1f}").items())
        page.table(
            ("share that went well", "plans", "really solved"),
            [(s, len(own), str(Rate.of(d.result.solved for d in own))) for s, own in shares],
        )
        page.heading("Cost")
        page.figure(
            plots.boxes({"seconds": [d.result.seconds for d in used]}, "wall time of a rehearsal (s)")
        )
        page.heading("Where rehearsal and reality differ")
        differ = [(d.trial.key, d.result) for d in used if self.success(d.result) is False]
        told = [(name, "solved" if r.solved else r.verdict, r.sentence) for name, r in differ]
        page.table(("trial", "really", "rehearsed"), told)


ABLATIONS = {
    "as it is": lambda r: r.status == "rejected",
    "one exact try": lambda r: r.first == "rejected",
    "no frame rule": lambda r: (r.without_frame or r.status) == "rejected",
}
"""Whether a plan is rejected, by variant; without noise all tries are the exact one."""


def choice(done: Trials) -> dict[str, Rate]:
    """Compare how often sound plans solve the level with geometry's first choice and with the twin's."""
    return {
        "what comes first": Rate.of(d.result.solved for d in done),
        "choice by rehearsal": Rate.of(d.result.solved_chosen for d in done),
    }


def brier(done: Trials) -> float:
    """Mean squared difference between the share of tries that went well and whether it really did."""
    return mean((d.result.share - d.result.solved) ** 2 for d in done) if done else 0.0


def _faults() -> Iterator[tuple[Origin, str, int, str]]:
    try:
        from spca_benchmarks import mutants
    except ModuleNotFoundError as error:
        hint = f"pip install {error.name}, or leave faults out: --no-faults"
        raise InputError(f"the bench 'rehearsal' makes faults with {error.name}", hint=hint) from error
    kit = kit_named("tabletop")
    library = library_source(kit.name, kit.builtin_skills)
    for kind in mutants.RULES:
        for variant in (mutants.CHECKED, mutants.SILENT):
            for site in range(len(mutants.sites(library, kind, variant))):
                yield "skill", kind, site, variant
    for kind in mutants.PLAN_RULES:
        for site in range(_MOST_SITES // 2):
            yield "plan", kind, site, ""
    for site in range(_MOST_SITES):
        yield "domain", "precondition forgotten", site, ""


class _TableOf:
    """A level on one table: what was seen of it, and the plan of the built-in proposer."""

    def __init__(self, level: str, preset: str, seed: int) -> None:
        options = RunOptions(level=level, preset=preset, seed=seed, transport="inproc")
        self._kit: Kit = checked_kit(options)
        self._environment: Environment = self._kit.build(options)
        self._library = library_source(self._kit.name, self._kit.builtin_skills)
        self._observation: Observation = self._environment.sense()
        self._start = self._environment.checkpoint()
        self.plan = self._solved(self._kit.builtin())
        self._options = options
        self._rehearsals: dict[Settings, SampledRehearsal] = {}

    def faulty(self, trial: RehearsalTrial) -> tuple[Plan, str] | None:
        """The plan and the library of a trial; None where its fault does not apply."""
        assert self.plan is not None
        if trial.origin == "sound":
            return self.plan, self._library
        from spca_benchmarks import mutants

        if trial.origin == "skill":
            changed = mutants.sites(self._library, trial.kind, trial.variant)[trial.site]
            used = {python_name(s.action) for s in self.plan.steps}
            if changed and not changed.startswith("_") and changed not in used:
                return None
            return self.plan, mutants.mutant(self._library, trial.kind, trial.site, trial.variant)
        if trial.origin == "plan":
            plan = mutants.mutant_plan(self.plan, trial.kind, trial.site, self._observation)
            return (plan, self._library) if plan else None
        domain = mutants.mutant_domain(self.plan.draft.domain, trial.site)
        drafts = _Fixed(self.plan.draft.model_copy(update={"domain": domain}))
        plan = self._solved(drafts) if domain else None
        return (plan, self._library) if plan and plan.steps != self.plan.steps else None

    def carry_out(self, plan: Plan, library: str) -> tuple[bool, str]:
        """Return whether the referee is satisfied in the end, and what it says."""
        self._environment.restore(self._start)
        self._environment.act("bench", plan, library)
        verdict = self._environment.settle()
        return verdict.outcome.value == "success", verdict.reason

    def rehearse(self, name: str, plan: Plan, library: str, frame: bool, choose: bool = False) -> Rehearsed:
        """The rehearsal, from what was seen alone."""
        settings = Settings(checks_unmentioned=frame, choose=choose)
        if settings not in self._rehearsals:
            twin = partial(self._kit.twin, self._options)
            self._rehearsals[settings] = SampledRehearsal(twin, settings)
        rehearsal = self._rehearsals[settings]
        return rehearsal.try_out(name, plan, library, self._observation, Budgets().rehearsal_s)

    def close(self) -> None:
        for rehearsal in self._rehearsals.values():
            rehearsal.close()
        self._environment.close()

    def _solved(self, proposer: object) -> Plan | None:
        request = PlanRequest(
            attempt="bench", task=self._environment.task, observation=self._observation, skills=()
        )
        with tempfile.TemporaryDirectory() as nothing:
            planner = DraftingPlanner(
                self._kit.name, proposer, TrustedDomains(Path(nothing)), self._kit.vocabulary(),  # type: ignore[arg-type]
                budget=1, solver=warm_solver(),
            )  # fmt: skip
            return planner.plan(request).plan


class _Fixed(PlanProposer):
    """A proposer with one draft."""

    name = "builtin"

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    def draft(self, request: PlanRequest, previous: Draft | None, rejection: Rejection | None) -> Draft:
        return self._draft


_open: dict[tuple[str, str, int], _TableOf] = {}


def _table(level: str, preset: str, seed: int) -> _TableOf:
    """The table of a trial; the last one is kept."""
    key = (level, preset, seed)
    if key not in _open:
        _close_tables()
        _open[key] = _TableOf(level, preset, seed)
    return _open[key]


@atexit.register
def _close_tables() -> None:
    while _open:
        _open.popitem()[1].close()
