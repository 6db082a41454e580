"""A whole bench: every model, every task, results on disk as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from spca.pddl_bench.tasks import load_tasks
from spca.pddl_bench.trial import ROLE, Trial, run_trial
from spca_core.errors import BudgetExhausted, InputError
from spca_core.model import Record
from spca_core.run_folder import write_atomically
from spca_llm.chat import Chat
from spca_llm.config import load_config
from spca_llm.connect import REPLAY, open_chat
from spca_planner.solver.process import SolverProcess

DESCRIPTION, RESULTS = "bench.json", "results.jsonl"


class PddlBench(Record):
    """What is run. `models` replace the configured model of the role planner_big; none: that model itself."""

    models: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    attempts: int = Field(8, ge=1)
    trials: int = Field(1, ge=1)
    timeout_s: float = Field(20.0, gt=0)
    llm: str = ""
    """As in `spca run`: a configuration file, or `replay:FOLDER` with the folder of an earlier bench."""


def run_bench(
    bench: PddlBench, folder: Path, on_trial: Callable[[Trial], None] = lambda trial: None
) -> tuple[list[Trial], str]:
    """Run what the folder has no result of yet; returns all trials, and why it ended early ("" if it did not).

    Raises InputError: an unknown domain, no model, a server that cannot be reached, a folder of another bench.
    """
    tasks = load_tasks(bench.tasks)
    _check_unclaimed(folder, bench)
    chats = dict(_chats(bench, folder))
    for chat in chats.values():
        chat.preflight([ROLE])
    write_atomically(folder / DESCRIPTION, bench.model_dump_json(indent=1).encode())
    trials = read_trials(folder)
    done = {(t.model, t.task, t.number) for t in trials}
    with SolverProcess() as solver, (folder / RESULTS).open("a", encoding="utf-8") as file:
        for model, chat in chats.items():
            with chat:
                for task in tasks:
                    for number in range(1, bench.trials + 1):
                        if (model, task.name, number) in done:
                            continue
                        try:
                            trial = run_trial(
                                task, chat, solver, model, number, bench.attempts, bench.timeout_s
                            )
                        except BudgetExhausted as error:
                            return trials, str(error)
                        file.write(trial.model_dump_json() + "\n")
                        file.flush()
                        trials.append(trial)
                        on_trial(trial)
    return trials, ""


def read_trials(folder: Path) -> list[Trial]:
    """What a bench's folder holds; a line torn by a kill is left out, and its trial is run again."""
    path = folder / RESULTS
    trials: list[Trial] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            trials.append(Trial.model_validate_json(line))
        except ValidationError:
            continue
    return trials


def _chats(bench: PddlBench, folder: Path) -> Iterator[tuple[str, Chat]]:
    """A chat for each model, with a ledger of its own in the bench's folder; the budget is each model's."""
    if bench.llm.startswith(REPLAY):
        recorded = Path(bench.llm.removeprefix(REPLAY)) / "llm"
        names = bench.models or tuple(sorted(p.name for p in recorded.glob("*") if p.is_dir()))
        if not names:
            raise InputError("no recorded bench", where=str(recorded.parent), hint="record one first")
        for name in names:
            yield name, open_chat(f"{REPLAY}{recorded / _safe(name)}", folder / "llm" / _safe(name))
        return
    config = load_config(Path(bench.llm) if bench.llm else None)
    role = config.role(ROLE)
    for name in bench.models or (role.model,):
        roles = {**config.roles, ROLE: role.model_copy(update={"model": name})}
        yield (
            name,
            open_chat("", folder / "llm" / _safe(name), config.model_copy(update={"roles": roles})),
        )


def _safe(model: str) -> str:
    """A folder's name for a model's (`qwen3:32b`, `org/model`)."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in model).lstrip(".") or "_"


def _check_unclaimed(folder: Path, bench: PddlBench) -> None:
    """InputError if the folder holds another bench."""
    path = folder / DESCRIPTION
    if path.is_file() and PddlBench.model_validate_json(path.read_bytes()) != bench:
        raise InputError("holds another bench", where=str(folder), hint="name a new folder with --out")
