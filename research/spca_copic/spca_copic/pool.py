"""Programs at work; their plans are masked and merged into candidates.

Each program is in a sandbox of its own. Only what is known to be code of the installed packages is called
directly (`Recipe.trusted`): that is ten times as fast without a process between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spca_core.errors import InputError
from spca_core.stopping import Closing
from spca_programs.ipp.program import Answer, ProgramRunner
from spca_programs.plan_world import (
    ActionSequence,
    Candidate,
    PlanningProgram,
    Situation,
)

SIGNATURE = "plan(observation, actions, task)"
FUNCTION = "plan"
LONGEST = 5
"""Actions of a plan; what a program returns beyond that is cut off."""
DEADLINE_S = 0.2
_SECOND_CHANCE = 10
"""A call that times out is repeated once with this many times the time: the machine may be busy."""
MEMORY = 5
"""Past plans that a program is shown."""


class ProgramPool(Closing):
    """Programs kept loaded in the sandbox. Use as a context manager, or `close` it."""

    def __init__(
        self,
        programs: Sequence[PlanningProgram],
        deadline_s: float = DEADLINE_S,
        trusted: Callable[[PlanningProgram], bool] = lambda program: False,
    ) -> None:
        self._deadline_s, self._trusted = deadline_s, trusted
        self._workers: dict[str, _Worker | _Direct] = {}
        self._worth: Mapping[str, float] = {}
        self.programs: tuple[PlanningProgram, ...] = ()
        self.use(programs)

    def use(self, programs: Sequence[PlanningProgram], worth: Mapping[str, float] | None = None) -> None:
        """Work with these programs from now on; those that were there stay loaded.

        `worth` says what programs (ids) are worth alone, as far as it is known; candidates carry it.
        """
        self._worth = worth or {}
        self.programs = tuple({program.id: program for program in programs}.values())
        wanted = {program.id for program in self.programs}
        for id_ in [id_ for id_ in self._workers if id_ not in wanted]:
            self._workers.pop(id_).close()
        for program in self.programs:
            if program.id not in self._workers:
                own = _Direct(program) if self._trusted(program) else _Worker(program, self._deadline_s)
                self._workers[program.id] = own

    def check(self) -> None:
        """Raises InputError, with what is wrong, for the first program that cannot be loaded."""
        for program in self.programs:
            if problem := self._workers[program.id].problem:
                raise InputError(f"the program {program.id} cannot be used: {problem}")

    def close(self) -> None:
        """End the sandboxes; harmless when called twice."""
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()

    def propose(
        self, situation: Situation, memory: Sequence[Mapping[str, Any]]
    ) -> tuple[tuple[Candidate, ...], dict[str, str]]:
        """The different plans that the programs propose, in the programs' order.

        Also why a program proposes none: it failed, took too long, or returned no list of actions, or an
        empty one.
        """
        proposals: dict[ActionSequence, list[str]] = {}
        problems: dict[str, str] = {}
        for program in self.programs:
            plan, problem = self.plan_of(program.id, situation, memory)
            if plan:
                proposals.setdefault(plan, []).append(program.id)
            else:
                problems[program.id] = problem
        candidates = tuple(
            Candidate(plan=plan, programs=tuple(ids), worth=max(self._worth.get(id_, 0.0) for id_ in ids))
            for plan, ids in proposals.items()
        )
        return candidates, problems

    def plan_of(
        self, program: str, situation: Situation, memory: Sequence[Mapping[str, Any]]
    ) -> tuple[ActionSequence, str]:
        """Return the plan that one program (an id) proposes; empty with the reason if it proposes none."""
        observation = {**situation.observation, "memory": list(memory[-MEMORY:])}
        answer = self._workers[program].ask(
            [observation, [a.plain for a in situation.actions], situation.instruction]
        )
        plan = tuple(" ".join(action.split()) for action in answer.plan[:LONGEST])
        return ((), answer.problem or "an empty plan") if answer.problem or not plan else (plan, "")


class _Direct:
    """A trusted program, in this process."""

    problem = ""

    def __init__(self, program: PlanningProgram) -> None:
        names: dict[str, Any] = {}
        exec(compile(program.source, f"<program {program.id}>", "exec"), names)  # it is trusted
        self._plan = names[FUNCTION]

    def ask(self, arguments: list[Any]) -> Answer:
        """Its answer."""
        try:
            return Answer(plan=tuple(self._plan(*arguments)))
        except Exception as error:
            return Answer(problem=f"{type(error).__name__}: {error}")

    def close(self) -> None:
        """Nothing to end."""


class _Worker:
    """One program in its sandbox."""

    def __init__(self, program: PlanningProgram, deadline_s: float) -> None:
        self._runner = ProgramRunner(deadline_s, function=FUNCTION)
        self._patient = deadline_s * _SECOND_CHANCE
        self._program = program
        self._loaded: str | None = None
        self._slow = False

    @property
    def problem(self) -> str:
        """Reason why it cannot be used; empty if it can. Loads it on first access."""
        if self._loaded is None:
            self._loaded = self._runner.load(self._program.source, SIGNATURE)
        return self._loaded

    def ask(self, arguments: list[Any]) -> Answer:
        """Its answer."""
        if self.problem:
            return Answer(problem=self.problem)
        answer = self._runner.answer([arguments])[0]
        if answer.problem.startswith("timeout") and not self._slow:
            answer = self._runner.answer([arguments], self._patient)[0]
            self._slow = answer.problem.startswith("timeout")  # no third chance
        return answer

    def close(self) -> None:
        self._runner.close()
