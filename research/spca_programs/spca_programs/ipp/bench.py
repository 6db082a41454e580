"""`spca bench ipp`: planning programs and models that write them or plan directly, on the same cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, ClassVar, Literal

from matplotlib.figure import Figure

from spca_benchmarks.campaigns import plots
from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.campaign import recorded
from spca_benchmarks.campaigns.page import Page, PageTable, new_figure
from spca_benchmarks.campaigns.published import PublishedCell, printed
from spca_benchmarks.campaigns.statistics import Mean, groups
from spca_core.errors import InputError, one_of
from spca_core.model import Record
from spca_core.options import REPLAY
from spca_core.ports.chat import Role
from spca_core.ports.proposer import ModelError
from spca_core.result import Usage
from spca_llm.chat import Chat, open_chat
from spca_llm.config import load_config
from spca_llm.exchange import server_fault, set_aside
from spca_programs.grasp.policies import example as grasp_example
from spca_programs.grasp.policy import BUILTIN
from spca_programs.ipp.develop import Attempt, develop
from spca_programs.ipp.dialogue import reach
from spca_programs.ipp.domain import Domain
from spca_programs.ipp.program import Evaluation, Program, ProgramRunner, judge_answers
from spca_programs.ipp.store import ProgramStore
from spca_programs.ipp.strategies import STRATEGIES
from spca_programs.ipp.tasks import domain_of
from spca_programs.ipp.thinking import METHODS, plans_of
from spca_programs.minigrid.policies import example as minigrid_example
from spca_programs.options import IppOptions, Recipe

EXAMPLE = "example"
BASELINES = tuple(BUILTIN)
"""Names of policies; each task says which of them it has (`Domain.baselines`)."""
REFINED = "+refine"
WAYS = (*STRATEGIES, *(f"{s}{REFINED}" for s in STRATEGIES), *METHODS)
"""A way to use a model: a program by a strategy, with or without refinement, or plans case by case."""


class IppTrial(Record):
    """One contestant at one task: a program, or a model (its configuration, `llm`) with a way of using it."""

    task: str
    name: str
    kind: Literal["policy", "program", "model"]
    way: str
    llm: str = ""
    number: int = 1
    """Of repetitions."""

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.task}/{self.name}/{self.number}"


class CaseScore(Record):
    """Result of one case."""

    case: str
    score: float
    completed: bool
    actions: int


class CurvePoint(Record):
    """One program on the way: what it was written for, and its mean scores.

    The test scores are for the page only: the choice among programs is made by the training scores.
    """

    step: str
    train: float
    test: float
    sd: float = 0.0
    """Standard deviation over the test cases."""


class IppResult(Record):
    """Figures over the test cases, and how the program came about."""

    evaluation: Evaluation
    cases: tuple[CaseScore, ...]
    curve: tuple[CurvePoint, ...] = ()
    """The programs that were tried, in their order: stages of a strategy, then rounds of refinement."""
    ended: str = ""
    usage: Usage = Usage()
    questions: int = 0
    source: str = ""
    stored: bool = False
    """Whether the program was written before: its usage is no cost of this campaign."""


Trials = Sequence[Done[IppTrial, IppResult]]
_PUBLISHED_TASKS = {
    "Unlock": "minigrid-unlock", "Door-Key": "minigrid-doorkey", "Unlock-Pickup": "minigrid-unlockpickup"
}  # fmt: skip
"""What the paper's tables call its tasks; cells that name none of these are GRASP's."""


class IppBench(IppOptions, Bench[IppTrial, IppResult]):
    """Every contestant gets the same test cases; no training case is among them.

    A policy that a task does not have (MiniGrid has no `exact`) is left out there.
    """

    name = "ipp"
    result_type: ClassVar[type[Record]] = IppResult

    @property
    def title(self) -> str:
        """See `Bench`."""
        return f"Programs that plan: {self.test} test cases of {', '.join(self.tasks)}"

    def identity(self) -> Mapping[str, Any]:
        """See `Bench`; the models and servers of the configurations and the programs' sources are added."""
        if self.llm:
            roles = recorded(Path(self.llm.removeprefix(REPLAY)), "roles")
        else:
            roles = {str(m): load_config(m).model_dump(mode="json")["roles"] for m in self.models}
        sources = {
            f"{task}/{name}": self._program(task, name).id
            for task in self.tasks
            for name in self.programs
            if name not in BASELINES
        }
        return {**super().identity(), "roles": roles, "sources": sources}

    def prepare(self, folder: Path) -> None:
        """Every task, program and way must be there, and every model's server must answer."""
        for way in self.ways:
            if way not in WAYS:
                raise InputError(f"unknown way '{way}'", where="--way", hint=one_of(way, WAYS))
        has = {task: domain_of(task, self.data).baselines for task in self.tasks}
        for name in self.programs:
            if name in BASELINES and not any(name in known for known in has.values()):
                raise InputError(
                    f"no policy '{name}' for {', '.join(self.tasks)}",
                    where="--program",
                    hint="; ".join(f"{task}: {', '.join(known)}" for task, known in has.items()),
                )
        if not self.programs and not self.models:
            raise InputError(
                "nothing to compare", hint="name programs with --program, or models with --model"
            )
        self.identity()
        for model in () if self.llm else self.models:
            reach(str(model), list(dict.fromkeys(map(_role, self.ways))))

    def trials(self) -> list[IppTrial]:
        """Task by task. A program gives the same answers every time, and is run once."""
        found = []
        for task in self.tasks:
            for name in self.programs:
                if name in BASELINES and name not in domain_of(task).baselines:
                    continue
                kind: Literal["policy", "program"] = "policy" if name in BASELINES else "program"
                label = Path(name).stem if name.endswith(".py") else name
                found.append(IppTrial(task=task, name=label, kind=kind, way=name))
            for model, way, n in product(self.models, self.ways, range(1, self.repeats + 1)):
                name = f"{model.stem}:{way}"
                found.append(IppTrial(task=task, name=name, kind="model", way=way, llm=str(model), number=n))
        return found

    def run_trial(self, trial: IppTrial, folder: Path) -> IppResult:
        """See `Bench`."""
        domain = domain_of(trial.task, self.data)
        cases = domain.split(1, self.test, self.seed)[1]
        if trial.kind == "policy":
            return _result(judge_answers(domain, cases, domain.baseline(trial.way, cases, self.seed)))
        if trial.kind == "program":
            program = self._program(trial.task, trial.way)
            with ProgramRunner(self.deadline) as runner:
                return _result(
                    runner.evaluate(program, domain, cases), source=program.source, stored=True,
                    usage=program.origin.usage, questions=program.origin.questions,
                )  # fmt: skip
        place = _record(trial, folder)
        llm = str(_record(trial, Path(self.llm))) if self.llm else trial.llm
        result = self._with_model(domain, cases, trial.way, open_chat(llm, place))
        if fault := server_fault(place):
            raise ModelError(fault, "unreachable")
        return result

    def cost(self, result: IppResult) -> float:
        """See `Bench`."""
        return 0.0 if result.stored else result.usage.usd

    def cost_of_broken(self, trial: IppTrial, folder: Path) -> float:
        """See `Bench`."""
        return set_aside(_record(trial, folder), folder / "broken" / trial.key.replace(":", "_"))

    def _with_model(self, domain: Domain[Any], cases: list[Any], way: str, chat: Chat) -> IppResult:
        if way in METHODS:
            answers, usage = plans_of(way, domain, chat, cases)
            asked = chat.ledger.totals()[_role(way)].calls
            return _result(judge_answers(domain, cases, answers), usage=usage, questions=asked)
        recipe = Recipe(
            strategy=way.removesuffix(REFINED), refine=self.rounds if way.endswith(REFINED) else 0,
            train=self.train,
            test=self.test, seed=self.seed, deadline_s=self.deadline,
        )  # fmt: skip
        made = develop(domain, chat, recipe)
        with ProgramRunner(self.deadline) as runner:
            evaluation = runner.evaluate(made.program, domain, cases)
            curve = _curve(made.attempts, lambda p: runner.evaluate(p, domain, cases))
        return _result(
            evaluation,
            curve=curve,
            ended=made.ended,
            usage=made.usage,
            questions=made.questions,
            source=made.program.source,
        )

    def remark(self, done: Done[IppTrial, IppResult]) -> str:
        """See `Bench`."""
        return f"{done.result.evaluation.mean:.3f} (possible {done.result.evaluation.reference:.3f})"

    def table(self, done: Trials) -> PageTable:
        """By task, the best contestant first; means over all cases of all repetitions."""
        heads = ("task", "contestant", "mean score", "95 % ±", "sd", "possible", "completed %", "no plan",
                 "actions", "ms a case", "questions", "tokens", "USD", "USD a case")  # fmt: skip
        rows = []
        for task, own in groups(done, lambda d: d.trial.task).items():
            by_name = groups(own, lambda d: d.trial.name)
            found = [
                (task, name, *_figures([d.result for d in members])) for name, members in by_name.items()
            ]
            rows += sorted(found, key=lambda row: -float(str(row[2])))
        return PageTable(heads, rows)

    def report(self, done: Trials, page: Page) -> None:
        """See `Bench`."""
        # No published figure stands beside a stand-in's; random and greedy are the paper's own.
        if self.models or self.llm or {"random", "greedy"} & {*self.programs}:
            page.heading("Published")
            page.text(
                "The cells of the paper's Tables 1 to 7 for these tasks. Its Table 3 has GRASP with eight "
                "moves, carry limit 2 and cost 0.3 alone, to go by the figures of its greedy policy."
            )
            for number in range(1, 8):
                known = printed("IPP", f"Table {number}", self._concerns)
                if known.rows:
                    page.table(*known)
        if not self.models and not self.llm:
            page.text("No model was asked: stored programs and the example stand in for one.")
        for task, own in groups(done, lambda d: d.trial.task).items():
            by_name = groups(own, lambda d: d.trial.name)
            page.heading(task)
            page.figure(
                plots.boxes(
                    {n: [c.score for d in ds for c in d.result.cases] for n, ds in by_name.items()}, "score"
                )
            )
            page.text(
                "Pairs on the same cases: mean difference of the first one's score less the second one's."
            )
            page.table(
                ("first", "second", "cases", "difference", "95 % ±"),
                [(a, b, *_difference(by_name[a], by_name[b])) for a, b in combinations(by_name, 2)],
            )
            if task == "grasp":
                page.table(
                    ("GRASP's cases with", "cases", *by_name), _slices(by_name),
                    "Mean scores ± standard deviations: by one rule or trait at a time, by energy with "
                    "obstacles (Tables 1 and 4) and with cost (Table 5), and for each set of rules.",
                )  # fmt: skip
            if curves := {d.trial.key: d.result.curve for d in own if len(d.result.curve) > 1}:
                page.text(
                    "Program by program, stages first (Fig. 3, Table 7) and then rounds of refinement "
                    "(Fig. 2, Table 6): mean score in the test (solid) and in training (dashed)."
                )
                page.figure(_curves(curves))
                page.table(
                    ("contestant", "program", "training", "test", "sd"),
                    [
                        (n, p.step, *(f"{v:.3f}" for v in (p.train, p.test, p.sd)))
                        for n, c in curves.items()
                        for p in c
                    ],
                )
        page.heading("Programs")
        for d in done:
            if d.result.source:
                page.listing(f"{d.trial.key} {d.result.ended}", d.result.source)

    def _concerns(self, cell: PublishedCell) -> bool:
        """Return whether a published cell is of one of the bench's tasks, and no mere gain."""
        words = f"{cell.row}, {cell.column}".split(", ")
        named = [task for word, task in _PUBLISHED_TASKS.items() if word in words] or ["grasp"]
        own = "Greedy" in words or (cell.table == "Table 3" and "Random" in words)
        return named[0] in self.tasks and words[-1] != "gain" and bool(own or self.models or self.llm)

    def rows(self, done: Done[IppTrial, IppResult]) -> Iterable[Mapping[str, Any]]:
        """One row a case."""
        trial = done.trial
        for case in done.result.cases:
            known = {"task": trial.task, "contestant": trial.name, "number": trial.number}
            yield {**known, **case.model_dump()}

    def _program(self, task: str, name: str) -> Program:
        if name == EXAMPLE:
            module = grasp_example if task == "grasp" else minigrid_example
            return Program(source=Path(str(module.__file__)).read_text(encoding="utf-8"))
        return ProgramStore(self.store).find(task, name)


def _record(trial: IppTrial, folder: Path) -> Path:
    """Return the folder in which a trial's exchanges with its model are recorded."""
    return folder / "llm" / trial.key.replace(":", "_")


def _curve(attempts: Sequence[Attempt], test: Callable[[Program], Evaluation]) -> tuple[CurvePoint, ...]:
    """The programs of a development, each with its scores on the test cases."""
    points: list[CurvePoint] = []
    for attempt in attempts:
        strategy = attempt.program.origin.strategy
        number = 1 + sum(p.step.startswith(strategy) for p in points)
        step = f"{strategy} {number}"
        tested = test(attempt.program)
        points.append(CurvePoint(step=step, train=attempt.train.mean, test=tested.mean, sd=tested.sd))
    return tuple(points)


def _role(way: str) -> Role:
    return "planner_big" if way in METHODS else "coder"


def _result(evaluation: Evaluation, **more: Any) -> IppResult:
    cases = tuple(
        CaseScore(case=r.case, score=r.score, completed=r.completed, actions=len(r.answer.plan))
        for r in evaluation.results
    )
    return IppResult(evaluation=evaluation.without_results(), cases=cases, **more)


def _figures(results: Sequence[IppResult]) -> tuple[object, ...]:
    cases = [c for r in results for c in r.cases]
    score = Mean.of([c.score for c in cases])
    usage, count = [r.usage for r in results], len(results)
    usd = sum(u.usd for u in usage)
    goalless = results[0].evaluation.completion is None
    return (
        f"{score.value:.3f}", score.margin(3), score.sd,
        f"{sum(r.evaluation.reference for r in results) / count:.3f}",
        None if goalless else 100 * sum(c.completed for c in cases) / len(cases),
        sum(r.evaluation.problems for r in results), Mean.of([c.actions for c in cases]).value,
        1000 * sum(r.evaluation.seconds for r in results) / count, sum(r.questions for r in results),
        sum(u.input_tokens + u.output_tokens for u in usage), f"{usd:.4f}", f"{usd / len(cases):.6f}",
    )  # fmt: skip


def _curves(curves: Mapping[str, Sequence[CurvePoint]]) -> Figure:
    figure, axis = new_figure()
    for number, (name, points) in enumerate(curves.items()):
        places = range(1, len(points) + 1)
        axis.plot(places, [p.test for p in points], "o-", ms=3, color=f"C{number}", label=name)
        axis.plot(places, [p.train for p in points], "--", lw=1, color=f"C{number}", alpha=0.6)
    axis.set_xlabel("program written")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_ylabel("mean score")
    axis.legend(frameon=False, fontsize=7)
    return figure


def _traits(case: str) -> tuple[str, ...]:
    """Return what a GRASP case shares with others, by its name (`inner-spiral-block-07/8,∞,0.3`)."""
    family, _, rules = case.partition("/")
    _, energy, obstacles, _ = family.split("-")
    moves, carry, cost = rules.split(",")
    place, blocked = f"energy: {energy}", "without obstacles" if obstacles == "free" else "with obstacles"
    single = (f"{moves} moves", f"carry limit {carry}", f"an action costs {cost}")
    crossed = (f"{place}, {blocked}", f"{place}, {single[-1]}", "; ".join(single))
    return (place, blocked, *single, *crossed)


def _slices(by_name: Mapping[str, Trials]) -> list[tuple[object, ...]]:
    """For each trait of cases, their number and the contestants' mean scores with deviations."""
    scores: dict[str, dict[str, list[float]]] = {}
    for name, own in by_name.items():
        for case in (case for done in own for case in done.result.cases):
            for trait in _traits(case.case):
                scores.setdefault(trait, {}).setdefault(name, []).append(case.score)
    means = {trait: [Mean.of(found[n]) for n in by_name] for trait, found in sorted(scores.items())}
    return [
        (trait, own[0].count, *(f"{m.value:.2f} ± {m.sd:.2f}" for m in own)) for trait, own in means.items()
    ]


def _difference(first: Trials, second: Trials) -> tuple[object, ...]:
    """The cases in common, their mean difference, and half the width of its interval.

    Repetitions of a case are averaged first.
    """
    means: list[dict[str, float]] = []
    for own in (first, second):
        cases = groups([c for d in own for c in d.result.cases], lambda c: c.case)
        means.append({name: Mean.of([c.score for c in found]).value for name, found in cases.items()})
    found = Mean.of([means[0][case] - means[1][case] for case in means[0] if case in means[1]])
    return found.count, f"{found.value:+.3f}", found.margin(3)
