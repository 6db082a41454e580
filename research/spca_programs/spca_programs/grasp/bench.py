"""`spca bench grasp`: a policy over all 16,000 environments, or any slice of them, with its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import Page, PageTable, new_figure
from spca_benchmarks.campaigns.published import printed
from spca_benchmarks.campaigns.statistics import Mean, groups
from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.options import REPLAY
from spca_core.ports.chat import Role
from spca_core.ports.proposer import ModelError
from spca_core.result import Usage
from spca_core.validation import expecting
from spca_llm.config import load_config
from spca_llm.exchange import server_fault, set_aside
from spca_programs.grasp.dataset import Environment, environments, generated, released
from spca_programs.grasp.domain import GraspDomain
from spca_programs.grasp.mistakes import mistakes
from spca_programs.grasp.policy import BUILTIN, answers_of, planner_of
from spca_programs.grasp.rules import TAKE, play
from spca_programs.ipp.dialogue import open_writer, reach
from spca_programs.ipp.domain import Answer
from spca_programs.ipp.program import ProgramRunner
from spca_programs.ipp.thinking import plans_of
from spca_programs.options import GraspOptions, Slice

_CHUNK, _CHUNK_OF_MODEL = 400, 20
_AGENTS = {"random": "Random Walk", "greedy": "Greedy Search"}
_ROLE: Role = "planner_big"
_RELEASED = {
    "random walk": (-1.78, 3.10, 16_000, 19.0),
    "GPT-3.5-Turbo, zero-shot": (-2.53, 2.91, 1600, 18.3),
    "GPT-4o, zero-shot": (-1.12, 3.14, 1600, 19.1),
    "GPT-o1-mini, zero-shot": (0.38, 3.27, 800, 19.8),
}
"""Mean, standard deviation, environments, mean number of actions. Made by
`benchmarks/grasp_released_answers.py`, which says how actions are read from a free text."""

_NOTE = (
    "GRASP's own table used a scorer in which diagonal moves did not move the agent and in which the energy "
    "was read at the agent's last cell, so that its energies cannot be compared with these; its lengths can."
)


class Answered(Answer):
    """A policy's answer for one environment, with its score."""

    score: float


Scored = tuple[Environment, Answered]


def figures(scored: Sequence[Scored]) -> tuple[int, float, float, float]:
    """The number of environments, mean and standard deviation of the score, and mean number of actions."""
    found = Mean.of([a.score for _, a in scored])
    return found.count, found.value, found.sd, Mean.of([float(len(a.plan)) for _, a in scored]).value


def margins(scored: Sequence[Scored]) -> list[tuple[object, ...]]:
    """Compare each constraint on the same grids: means without and with it, difference, interval, pairs."""
    known = {(e.family, e.index, e.rules): a.score for e, a in scored}
    changes: dict[str, dict[str, Any]] = {
        "four moves instead of eight": {"diagonals": False},
        "carry limit 2": {"carry_limit": 2},
        "an action costs 0.3": {"cost": 0.3},
    }
    rows: list[tuple[object, ...]] = []
    for name, change in changes.items():
        pairs = [
            (score, known[other])
            for (family, index, rules), score in known.items()
            if (other := (family, index, rules.model_copy(update=change))) in known and other[2] != rules
        ]
        if pairs:
            found = Mean.of([limited - free for free, limited in pairs])
            free, limited = (Mean.of([p[i] for p in pairs]).value for i in (0, 1))
            rows.append((name, free, limited, f"{found.value:+.2f}", found.margin(2), len(pairs)))
    return rows


def paths(chosen: Sequence[tuple[str, Environment, Answer]]) -> Figure:
    """Grids with the way of their plans: energy as dots, obstacles as black cells, the start as a square."""
    with rc_context({"font.size": 8}):
        figure, several = new_figure(4.2 * len(chosen), 4.4, columns=len(chosen))
        for axes, (name, environment, answer) in zip(several, chosen, strict=True):
            grid = environment.grid
            axes.imshow(grid.obstacle, cmap="gray_r", vmin=0, vmax=1)
            rows, columns = np.nonzero(grid.energy)
            axes.scatter(columns, rows, s=18, color="C2")
            played = play(grid, environment.rules, answer.plan)
            effects = played.effects
            way = [grid.start, *(effect.position for effect in effects)]
            axes.plot([column for _, column in way], [row for row, _ in way], "-", color="C0", alpha=0.7)
            taken = [e.position for e in effects if e.action == TAKE and not e.problem]
            axes.scatter([c for _, c in taken], [r for r, _ in taken], s=60, marker="x", color="C3")
            axes.scatter(grid.start[1], grid.start[0], s=110, marker="s", facecolors="none", edgecolors="C1")
            axes.set_title(f"{name}: {played.score:.1f} with {len(answer.plan)} actions", fontsize=8)
            axes.set_xticks([])
            axes.set_yticks([])
        return figure


class Chunk(Record):
    """Some environments, by their place among those of the bench; the unit of work."""

    first: int
    environments: tuple[Environment, ...]

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.first}-{self.first + len(self.environments)}"


class ChunkResult(Record):
    """Answers in the order of the chunk's environments."""

    answers: tuple[Answered, ...]
    usage: Usage = Usage()


TRAITS: dict[str, Callable[[Environment], str]] = {
    "rules": lambda e: str(e.rules),
    "energy": lambda e: e.family.energy,
    "obstacles": lambda e: "obstacles" if e.family.obstacles else "free",
    "start": lambda e: e.family.start,
    "moves": lambda e: str(len(e.rules.moves)),
    "carry limit": lambda e: str(e.rules.carry_limit or "none"),
    "cost of an action": lambda e: f"{e.rules.cost:g}",
}
_VALUES = (
    "random", "vertical", "horizontal", "cluster", "spiral", "obstacles", "free", "inner", "outer",
    "4", "8", "none", "2", "0", "0.3",
)  # fmt: skip
"""Of the controls, in the order of GRASP's Table 2."""


def by_control(scored: Sequence[Scored]) -> dict[str, tuple[int, float, float, float]]:
    """Figures of the environments that share one control's value, by what the paper calls it, then of all."""
    *names, average = [str(row[0]) for row in printed("GRASP", "Table 2").rows]
    values = dict(zip(names, _VALUES, strict=True))
    found = groups([(of(s[0]), s) for s in scored for of in TRAITS.values()], lambda one: one[0])
    rows = {n: figures([s for _, s in found[v]]) for n, v in values.items() if v in found}
    return {**rows, average: figures(scored)}


class GraspBench(GraspOptions, Bench[Chunk, ChunkResult]):
    """A model is asked as GRASP's authors did: zero-shot, at temperature 0, for the whole list of actions."""

    name = "grasp"
    result_type: ClassVar[type[Record]] = ChunkResult

    @property
    def title(self) -> str:
        """See `Bench`."""
        source = f"released grids in {self.data}" if self.data else f"grids generated with seed {self.seed}"
        return f"GRASP: {self.policy}, {source}"

    @property
    def asks_model(self) -> bool:
        """True if the policy is a language model."""
        return self.policy.startswith(REPLAY) or self.policy.endswith((".yaml", ".yml"))

    def identity(self) -> Mapping[str, Any]:
        """See `Bench`; with what the configuration of a model says."""
        if not self.asks_model or self.policy.startswith(REPLAY):
            return super().identity()
        roles = load_config(Path(self.policy)).model_dump(mode="json")["roles"]
        return {**super().identity(), "roles": roles}

    def prepare(self, folder: Path) -> None:
        """See `Bench`: the policy must exist, and a model's server must answer."""
        if self.policy.endswith(".py"):
            if not Path(self.policy).is_file():
                raise InputError("no such policy file", self.policy, "a Python file with `solve` is needed")
        elif not self.asks_model:
            planner_of(self.policy)
        elif not self.policy.startswith(REPLAY):
            reach(self.policy, [_ROLE])

    def _by_program(self, chosen: Sequence[Environment]) -> list[Answer]:
        """Return the answers of a file's program, in the sandbox. Raises InputError if it does not load."""
        domain = GraspDomain()
        with expecting("a program", self.policy):
            source = Path(self.policy).read_text(encoding="utf-8")
        with ProgramRunner(self.deadline) as runner:
            if problem := runner.load(source, domain.signature):
                raise InputError(f"cannot be used: {problem}", self.policy, f"expected `{domain.signature}`")
            return runner.answer([domain.arguments(environment) for environment in chosen])

    def trials(self) -> list[Chunk]:
        """Chunks of environments, so that results are on disk every few seconds."""
        chosen = _chosen(self.data, self.seed, self.part)
        size = _CHUNK_OF_MODEL if self.asks_model else _CHUNK
        return [
            Chunk(first=first, environments=chosen[first : first + size])
            for first in range(0, len(chosen), size)
        ]

    def run_trial(self, trial: Chunk, folder: Path) -> ChunkResult:
        """Answer and score some environments."""
        usage = Usage()
        if self.asks_model:
            record = folder / "llm" / trial.key
            llm = f"{self.policy}/llm/{trial.key}" if self.policy.startswith(REPLAY) else self.policy
            chat = open_writer(llm, record, 0.0, _ROLE)
            answers, usage = plans_of("zero-shot", GraspDomain(), chat, trial.environments)
            if fault := server_fault(record):
                raise ModelError(fault, "unreachable")
        elif self.policy.endswith(".py"):
            answers = self._by_program(trial.environments)
        else:
            answers = answers_of(self.policy, trial.environments, self.seed)
        scores = [
            play(e.grid, e.rules, a.plan).score for e, a in zip(trial.environments, answers, strict=True)
        ]
        return ChunkResult(
            answers=tuple(
                Answered(**dict(a), score=round(s, 6)) for a, s in zip(answers, scores, strict=True)
            ),
            usage=usage,
        )

    def cost(self, result: ChunkResult) -> float:
        """See `Bench`."""
        return result.usage.usd

    def cost_of_broken(self, trial: Chunk, folder: Path) -> float:
        """See `Bench`."""
        return set_aside(folder / "llm" / trial.key, folder / "broken" / trial.key)

    def table(self, done: Sequence[Done[Chunk, ChunkResult]]) -> PageTable:
        """Mean scores by rules (moves, carry limit, cost of an action)."""
        scored = _scored(done)
        by_rules = groups(scored, lambda s: TRAITS["rules"](s[0]))
        rows = [(rules, *figures(own)) for rules, own in by_rules.items()]
        heads = ("rules", "environments", "mean score", "sd", "actions")
        return PageTable(heads, [*rows, ("all", *figures(scored))] if scored else [])

    def report(self, done: Sequence[Done[Chunk, ChunkResult]], page: Page) -> None:
        """See `Bench`."""
        scored = _scored(done)
        seconds = sum(a.seconds for _, a in scored)
        page.text(
            f"{seconds:.1f} s of wall time in the policy, {1000 * seconds / len(scored):.2f} ms an "
            "environment. Rules: moves, carry limit, cost of an action. Deviations are those of a sample."
        )
        if problems := Counter(a.problem for _, a in scored if a.problem):
            page.heading("Environments without a plan")
            page.table(("why", "how often"), problems.most_common())
        own = "" if self.asks_model else _AGENTS.get(self.policy, "no such agent")
        known = printed("GRASP", "Table 2", lambda cell: cell.column.startswith(own))
        beside = {str(row[0]): row[1:] for row in known.rows}
        page.heading("By control, as GRASP's Table 2")
        if beside:
            note = "" if self.data else " These grids are generated ones: the figures do not compare."
            page.text(f"To the right what is published, on the released grids. {_NOTE}{note}")
        page.table(
            ("control", "environments", "energy", "sd", "length", *known.heads[1:]),
            [(name, *found, *beside.get(name, ())) for name, found in by_control(scored).items()],
        )
        if self.asks_model:
            page.table(
                ("answers of", "mean score", "sd", "environments", "actions"),
                [(name, *known) for name, known in _RELEASED.items()],
                caption="The released answers, scored by the rules of this project.",
            )
        used = sum((d.result.usage for d in done), Usage())
        if used.output_tokens:
            page.text(f"{used.input_tokens} + {used.output_tokens} tokens, {used.cost}.")
        page.heading("Each constraint alone")
        page.text("Mean score with and without it; pairs of environments that differ in nothing else.")
        page.table(("constraint", "without", "with", "difference", "95 % ±", "pairs"), margins(scored))
        page.heading("Plans")
        page.text("Dots: energy. Black: obstacles. Crosses: energy taken. The orange square: the start.")
        ordered = sorted(scored, key=lambda s: s[1].score)
        page.figure(paths([(e.name, e, a) for e, a in (ordered[-1], ordered[0])]), "The best and the worst.")
        environment, answer = ordered[len(ordered) // 2]
        agents = {name: answers_of(name, [environment], self.seed)[0] for name in BUILTIN}
        agents[Path(self.policy).stem] = answer
        caption = f"Agents on one grid, {environment.name}, as Fig. 2 of the paper."
        page.figure(paths([(name, environment, of) for name, of in agents.items()]), caption)
        page.heading("Mistakes")
        page.text("Share of the plans with each kind; the figures named are the paper's examples.")
        made = Counter(kind for e, a in scored for kind in mistakes(e.grid, e.rules, a.plan))
        page.table(("kind", "plans", "%"), [(k, n, 100 * n / len(scored)) for k, n in made.most_common()])

    def rows(self, done: Done[Chunk, ChunkResult]) -> Iterable[Mapping[str, Any]]:
        """One row an environment."""
        for environment, answer in _scored([done]):
            traits = {trait: value(environment) for trait, value in TRAITS.items()}
            yield {"environment": environment.name, **traits, **answer.model_dump(mode="json")}


@lru_cache(maxsize=4)
def _chosen(data: Path | None, seed: int, part: Slice) -> tuple[Environment, ...]:
    return tuple(environments(list(released(data) if data else generated(seed, part.count)), part))


def _scored(done: Sequence[Done[Chunk, ChunkResult]]) -> list[Scored]:
    return [pair for d in done for pair in zip(d.trial.environments, d.result.answers, strict=True)]
