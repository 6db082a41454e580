"""A program as a GRASP policy: run in the sandbox, with a deadline for each environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spca_core.errors import InputError
from spca_programs.grasp.dataset import Environment
from spca_programs.grasp.domain import GraspDomain
from spca_programs.ipp.program import Answer, ProgramRunner


class GraspProgram:
    """See `spca_programs.grasp.policy.Policy`."""

    def __init__(self, name: str, source: str, deadline_s: float = 2.0) -> None:
        self.name, self._source, self._deadline_s = name, source, deadline_s

    @classmethod
    def read(cls, path: Path, deadline_s: float = 2.0) -> GraspProgram:
        """From a file."""
        if not path.is_file():
            raise InputError("no such policy file", str(path), "a Python file with `solve` is needed")
        return cls(path.stem, path.read_text(encoding="utf-8"), deadline_s)

    def answer(self, environments: Sequence[Environment]) -> list[Answer]:
        """See `Policy.answer`. InputError when the program does not load."""
        domain = GraspDomain()
        with ProgramRunner(self._deadline_s) as runner:
            if problem := runner.load(self._source, domain.signature):
                raise InputError(f"cannot be used: {problem}", self.name, f"expected `{domain.signature}`")
            return runner.answer([domain.arguments(e) for e in environments])
