"""The corridor as an `Environment`: all that the loop needs from a world."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from corridor.world import API, Corridor
from spca_core.plan import ActResult, Plan, Task
from spca_core.ports.environment import Environment
from spca_core.result import Condition, Outcome, Verdict
from spca_core.scene import Observation
from spca_core.skill import StepReport
from spca_sandbox.executor import PlanExecutor


class CorridorEnvironment(Environment):
    """See `spca_core.ports.environment.Environment`. The level's number is that of the cells."""

    name = "corridor"
    api = API
    builtin_skills = Path(__file__).with_name("skills.py")

    def __init__(self, cells: int) -> None:
        self.world = Corridor(cells)
        self.task = Task(
            group="corridor", id=str(cells), title="Reach the end", description=f"Go to c{cells}."
        )
        self._cancelled = threading.Event()
        self._executor = PlanExecutor(API, builtin=self.builtin_skills.read_text())

    def sense(self) -> Observation:
        """Everything is in view."""
        return self.world.observe()

    def act(
        self, attempt: str, plan: Plan, library: str, on_step: Callable[[StepReport], None] | None = None
    ) -> ActResult:
        """Run the plan's skills in the sandbox."""
        self.world.resume()
        return self._executor.execute(
            attempt, plan, library, self.world, on_step, cancelled=self._cancelled.is_set
        )

    def settle(self) -> Verdict:
        """Nothing happens by itself."""
        return self.verdict()

    def verdict(self) -> Verdict:
        """Success once the agent stands in the last cell. Only the referee may use that, not the planner."""
        done = self.world.position == self.world.cells
        reason = "the end is reached" if done else f"the agent stands in c{self.world.position}"
        return Verdict(
            outcome=Outcome.SUCCESS if done else Outcome.RUNNING,
            score=float(done),
            stamp=self.world.now(),
            reason=reason,
            conditions=(Condition(text=self.task.description, holds=done, reason="" if done else reason),),
        )

    def checkpoint(self) -> bytes:
        """Position and steps, as text."""
        return f"{self.world.position} {self.world.steps}".encode()

    def restore(self, checkpoint: bytes) -> None:
        """Back to a checkpoint."""
        self.world.position, self.world.steps = map(int, checkpoint.split())

    def cancel(self) -> None:
        """Stop, and run nothing more."""
        self._cancelled.set()
        self.world.stop()

    def close(self) -> None:
        """End the sandbox."""
        self._executor.close()
