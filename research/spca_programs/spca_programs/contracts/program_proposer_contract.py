"""The contract of the port `ProgramProposer`."""

from __future__ import annotations

import ast

from spca_programs.plan_world import (
    Briefing,
    Candidate,
    Case,
    ChoiceContext,
    Decision,
    Episode,
    PlanningProgram,
    Remark,
)
from spca_programs.ports.program_proposer import ProgramProposer


class ProgramProposerContract:
    """Subclass it, and implement `make` and `briefing`."""

    def make(self) -> ProgramProposer:
        """A new proposer; each time the same."""
        raise NotImplementedError

    def briefing(self) -> Briefing:
        """Return the briefing to write programs for."""
        raise NotImplementedError

    def test_it_writes_different_programs(self) -> None:
        """As many as wanted, each with the function that is called."""
        programs = self.make().write(self.briefing(), 3, 0)
        assert len({program.id for program in programs}) == 3
        for program in programs:
            assert program.proposer and "plan" in functions(program)

    def test_it_repeats(self) -> None:
        """The same seed, the same programs."""
        assert self.make().write(self.briefing(), 2, 5) == self.make().write(self.briefing(), 2, 5)

    def test_it_evolves_new_ones(self) -> None:
        """None of them is an old one; they know their trial."""
        proposer = self.make()
        programs = proposer.write(self.briefing(), 2, 0)
        new = proposer.evolve(self.briefing(), programs, [failed(programs[0])], 2, 1)
        assert len(new) == 2
        assert not {program.id for program in new} & {program.id for program in programs}
        assert all(program.trial == 1 and "plan" in functions(program) for program in new)


def functions(program: PlanningProgram) -> set[str]:
    """Names of a program's top-level functions."""
    return {node.name for node in ast.parse(program.source).body if isinstance(node, ast.FunctionDef)}


def failed(program: PlanningProgram) -> Episode:
    """An episode in which a program's plan met a failed precondition."""
    decision = Decision(
        context=ChoiceContext(instruction="Do it.", facts=(), text="Nothing is done."),
        candidates=(Candidate(plan=("do it",), programs=(program.id,)),),
        chosen=0,
        probabilities=(1.0,),
        value=0.0,
        reward=0.0,
        remarks=(Remark(kind="precondition", text="do it: it lacks a hammer"),),
    )
    return Episode(
        case=Case(task="any", name="1"), decisions=(decision,), success=False, ended="the time is up"
    )
