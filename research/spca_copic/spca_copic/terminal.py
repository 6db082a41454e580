"""Commands of `spca copic`: train and test with progress in the terminal, and write the report."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from shutil import rmtree

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from spca.console import results, show_table
from spca_copic.evaluation import Score, asks_model, evaluate, unseen_cases
from spca_copic.recipe import Recipe, Trial
from spca_copic.report import scores_table, write_report
from spca_copic.run import CopicFolder, CopicRun, open_world, train_run
from spca_copic.training import Listener
from spca_core.errors import EXIT_INTERRUPTED, InputError
from spca_core.log import logging_to
from spca_llm.chat import open_chat
from spca_programs.plan_world import Episode, require_task


def train_command(world_name: str, tasks: list[str], recipe: Recipe, llm: str, out: Path | None) -> int:
    """Train in a world; status 0 when all of it is done."""
    console = results()
    with closing(open_world(world_name)) as world:
        for task in tasks:
            require_task(task, world.tasks, world.name)
        run = CopicRun(world=world_name, tasks=tuple(tasks) or world.tasks, recipe=recipe, llm=llm)
        new = out is None or not out.exists()
        folder = CopicFolder.create(run, out)
        console.print(
            f"[bold]copic {world_name}[/bold]  {', '.join(run.tasks)}  → {folder.path}", soft_wrap=True
        )
        try:
            with logging_to(folder.path), _progress(console) as bar:
                task_bar = bar.add_task("episodes", total=recipe.episodes)

                def episode(task: str, trial: int, done: Episode) -> None:
                    bar.update(task_bar, advance=1, description=f"{task}, trial {trial + 1}")

                def trial(task: str, done: Trial) -> None:
                    bar.reset(task_bar)
                    console.print(f"  {task:<12} {_told(done)}")

                train_run(folder, world, Listener(episode, trial))
        except InputError:  # refused: nothing is left of a new training that has learned nothing
            if new and not any(folder.load(task) for task in run.tasks):
                rmtree(folder.path)
            raise
        except KeyboardInterrupt:
            console.print(
                "[yellow]interrupted[/yellow]: the trial under way is lost, everything before it is kept"
            )
            console.print(
                f"go on with: spca copic train {world_name} {_again(run)}--out {folder.path}", soft_wrap=True
            )
            return EXIT_INTERRUPTED
        console.print(f"report  {write_report(folder)}", soft_wrap=True)
    console.print(f"next: spca copic compare {world_name} --run {folder.path}", soft_wrap=True)
    return 0


def compare_command(
    world_name: str, tasks: list[str], run: Path | None, cases: int, policies: list[str], llm: str
) -> int:
    """Test in a world by one policy or several; status 0."""
    console = results()
    folder = CopicFolder.open(run) if run is not None else CopicFolder.newest(world_name)
    if folder.run.world != world_name:
        raise InputError(f"a training in '{folder.run.world}', not in '{world_name}'", str(folder.path))
    asks = asks_model(policies, folder.run.recipe)
    opened = closing(open_world(world_name, folder.run.table))
    with logging_to(folder.path), opened as world, _progress(console) as bar:
        chat = open_chat(llm, folder.path / "compare-llm") if asks else None
        scores: list[Score] = []
        recipe = folder.run.recipe
        for task in tasks or folder.run.tasks:
            state, selector = folder.trained(task)
            unseen = unseen_cases(world, task, recipe, cases)
            row = bar.add_task(task)

            def tell(policy: str, episode: Episode, row: int = row, task: str = task) -> None:
                bar.update(row, advance=1, description=f"{task}, {policy}")  # type: ignore[arg-type]

            scores += evaluate(world, state, selector, recipe, unseen, policies, chat, tell)
            bar.remove_task(row)
        table = scores_table(scores)
        show_table(table.heads, table.shown())
        console.print(f"report  {write_report(folder, scores)}", soft_wrap=True)
    return 0


def _again(run: CopicRun) -> str:
    """The options that say which training it was, where they are not the defaults."""
    words = [f"--task {task}" for task in run.tasks]
    for name, value in run.recipe.model_dump(exclude_defaults=True).items():
        option = name.replace("_", "-")
        yes_or_no = f"--{option}" if value else f"--no-{option}"
        words.append(yes_or_no if isinstance(value, bool) else f"--{option} {value}")
    words += [f"--llm {run.llm}"] if run.llm else []
    return " ".join(words) + " "


def _progress(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


def _told(trial: Trial) -> str:
    changed = len(set(trial.kept) - set(trial.programs))
    held_out = "" if trial.held_out is None else f", {100 * trial.held_out:5.1f} % of held-out cases"
    return (
        f"trial {trial.number + 1}: {100 * trial.success:5.1f} % solved while learning"
        f"{held_out}  {trial.steps} decisions ({trial.use})  {trial.seconds:.0f} s"
        + (f"  {changed} new program{'s' if changed > 1 else ''}" if changed else "")
    )
