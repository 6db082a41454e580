"""One learning run in a folder of its own; it is written as it happens, so it can be resumed."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Literal

from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.run_folder import RunFolder
from spca_planner.solver.process import SolverProcess
from spca_programs.experience import (
    EMPTY_PROGRAM,
    Contradiction,
    Draft,
    Experience,
    NotLearnable,
    Program,
    TransitionLine,
    Usage,
)
from spca_programs.factories import stand_in
from spca_programs.ipp.dialogue import open_writer, reach
from spca_worldcoder import OPTIONS
from spca_worldcoder.agent.agent import Agent, EnvironmentResult, EpisodeResult, Listener
from spca_worldcoder.agent.planner import ModelPlanner, Searcher
from spca_worldcoder.language.synthesizer import LanguageSynthesizer
from spca_worldcoder.options import LearnOptions
from spca_worldcoder.sandbox import ModelRunner
from spca_worldcoder.synthesizer import ModelSynthesizer
from spca_worldcoder.worlds.catalogue import make_worlds
from spca_worldcoder.worlds.world import World

TRANSITIONS, EPISODES, DRAFTS = "transitions.jsonl", "episodes.jsonl", "drafts.jsonl"
RESULTS, PROGRAM, RESULT = "environments.jsonl", "program.json", "result.json"

_UNSTEADY = "{r.environment}: after {r.episodes} episodes and {r.actions} actions not yet {s} won in a row"


Outcome = Literal["learned", "not_learned", "contradictory", "not_learnable", "interrupted"]


class DraftLine(Record):
    """A draft with its verdict; `diff` is against the program it would replace."""

    draft: Draft
    adopted: bool
    diff: str


class LearnResult(Record):
    """Result of a learning run. `problem` names contradictory or inexpressible data."""

    outcome: Outcome
    environments: tuple[EnvironmentResult, ...] = ()
    actions: int = 0
    transitions: int = 0
    program_lines: int = 0
    usage: Usage = Usage()
    problem: str = ""


class Recorder:
    """Writes what happens to the folder, and passes it on. A `Listener`."""

    def __init__(self, folder: RunFolder, then: Listener) -> None:
        self._folder, self._then = folder, then
        self._source = EMPTY_PROGRAM.source

    def step(self, line: TransitionLine) -> None:
        """One line."""
        self._folder.append(line, TRANSITIONS)
        self._then.step(line)

    def draft(self, draft: Draft, adopted: bool) -> None:
        """One line with the difference; the program itself when it is adopted."""
        old, new = self._source.splitlines(), draft.program.source.splitlines()
        diff = "\n".join(difflib.unified_diff(old, new, "before", "after", lineterm="", n=1))
        self._folder.append(DraftLine(draft=draft, adopted=adopted, diff=diff), DRAFTS)
        if adopted:
            self._source = draft.program.source
            self._folder.write(PROGRAM, draft.program)
            self._folder.write("program.py", draft.program.source)
        self._then.draft(draft, adopted)

    def episode(self, result: EpisodeResult) -> None:
        """One line."""
        self._folder.append(result, EPISODES)
        self._then.episode(result)


def start(
    options: LearnOptions, path: Path | None, listener: Listener, cancelled: Callable[[], bool]
) -> tuple[RunFolder, LearnResult]:
    """Begin a run in a new folder. InputError for impossible options, before anything is made."""
    worlds = make_worlds(options.worlds)
    reach_model(options)
    folder = RunFolder.create(f"learn_{options.worlds.world.rpartition(':')[2]}", path)
    folder.write(OPTIONS, options)
    return folder, _go(options, worlds, folder, listener, cancelled)


def resume(path: Path, listener: Listener, cancelled: Callable[[], bool]) -> tuple[RunFolder, LearnResult]:
    """Go on with an interrupted run. InputError when the folder is none or damaged."""
    if not (path / OPTIONS).is_file():
        raise InputError("no learning run", where=str(path), hint=f"a folder with {OPTIONS} is needed")
    folder = RunFolder(path)
    options = folder.read(OPTIONS, LearnOptions)
    if folder.read_bytes(RESULT) and (ended := folder.read(RESULT, LearnResult).outcome) != "interrupted":
        raise InputError("this run has ended", where=str(path), hint=f"its outcome was: {ended}")
    reach_model(options)
    return folder, _go(options, make_worlds(options.worlds), folder, listener, cancelled)


def _go(
    options: LearnOptions,
    worlds: list[World],
    folder: RunFolder,
    listener: Listener,
    cancelled: Callable[[], bool],
) -> LearnResult:
    done = list(folder.read_log(EnvironmentResult, RESULTS))
    with laboratory(options, folder, cancelled) as (runner, planner, synthesizer):
        agent = Agent(runner, planner, synthesizer, options.settings, Recorder(folder, listener), cancelled)
        progress = _restore(agent, folder, worlds)
        outcome: Outcome = "learned"
        problem = ""
        for world in worlds[len(done) :]:
            if not options.settings.transfer:
                agent.forget()
            try:
                result = agent.learn(world, *progress)
            except (Contradiction, NotLearnable) as error:
                outcome = "contradictory" if isinstance(error, Contradiction) else "not_learnable"
                problem = str(error)
                break
            progress = (0, 0, 0)
            if cancelled():
                outcome = "interrupted"
                break
            folder.append(result, RESULTS)
            done.append(result)
            if not result.learned:
                outcome, problem = "not_learned", _UNSTEADY.format(r=result, s=options.settings.streak)
        summary = LearnResult(
            outcome=outcome,
            environments=tuple(done),
            actions=agent.model.actions_taken,
            transitions=len(agent.model.experience.transitions),
            program_lines=agent.model.program.lines,
            usage=synthesizer.usage,
            problem=problem,
        )
    folder.write(RESULT, summary)
    return summary


@contextmanager
def laboratory(
    options: LearnOptions, folder: RunFolder, cancelled: Callable[[], bool]
) -> Iterator[tuple[ModelRunner, ModelPlanner, ModelSynthesizer]]:
    """Sandbox, planner and synthesizer, closed at the end."""
    with ExitStack() as stack:
        runner = stack.enter_context(ModelRunner(cancelled))
        searchers: list[Searcher]
        novelty = partial(runner.plan, method="novelty", budget=8_000)
        synthesizer: ModelSynthesizer
        if options.settings.planner == "value":
            searchers = [runner.plan]
        elif options.synthesizer == "inductive":
            solver = stack.enter_context(SolverProcess())
            solver.start()
            searchers = [novelty, stand_in("inductive").searcher(solver, cancelled=cancelled)]
        else:
            searchers = [novelty, runner.plan]
        guess = options.settings.rewards == "guessed"
        if options.synthesizer == "inductive":
            synthesizer = stand_in("inductive").synthesizer(guess, cancelled)
        else:
            chat = open_writer(options.llm, folder.path / "llm", options.temperature)
            synthesizer = LanguageSynthesizer(chat, options.settings.seed, guess)
        yield runner, ModelPlanner(runner, searchers), synthesizer


def reach_model(options: LearnOptions) -> None:
    """Raises InputError where a language model is to write programs and its server does not answer."""
    if options.synthesizer == "language":
        reach(options.llm)


def _restore(agent: Agent, folder: RunFolder, worlds: list[World]) -> tuple[int, int, int]:
    """Give an agent what the folder holds; returns episode, streak and actions of the present environment."""
    lines = list(folder.read_log(TransitionLine, TRANSITIONS))
    if not lines:
        return 0, 0, 0
    experience = Experience(tuple(dict.fromkeys(a for world in worlds for a in world.actions)))
    for line in lines:
        experience.add(line.transition())
    program = folder.read(PROGRAM, Program) if (folder.path / PROGRAM).is_file() else EMPTY_PROGRAM
    agent.restore(experience, program, len(lines))
    finished = {result.environment for result in folder.read_log(EnvironmentResult, RESULTS)}
    current = next((world.name for world in worlds if world.name not in finished), "")
    episodes = [e for e in folder.read_log(EpisodeResult, EPISODES) if e.environment == current]
    streak = 0
    for one in episodes:
        streak = streak + 1 if one.success else 0
    return len(episodes), streak, sum(line.environment == current for line in lines)
