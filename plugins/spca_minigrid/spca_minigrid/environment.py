"""A MiniGrid level as an `Environment`: all that Sense → Plan → Code → Act needs of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from spca_core.errors import SpcaError
from spca_core.plan import ActResult, Plan, Task
from spca_core.ports.environment import Environment
from spca_core.result import Condition, Outcome, Verdict
from spca_core.scene import Observation
from spca_core.skill import CtxApi, StepReport
from spca_core.skill_package import library_source
from spca_core.stopping import Flag
from spca_minigrid.ctx import API, GridCtx
from spca_minigrid.levels import GridLevel
from spca_minigrid.mission import naming
from spca_minigrid.observation import observe
from spca_minigrid.referents import Referents
from spca_minigrid.world import GridWorld
from spca_minigrid.worldmap import WorldMap
from spca_sandbox.executor import PlanExecutor
from spca_sandbox.limits import Limits

SKILLS = Path(__file__).parent / "skills.py"
PRIMITIVES = "primitives.json"
"""Name of the file of a run that says what was done: level, seed and every primitive."""

_STEP_WALL_S = 300.0


class MinigridEnvironment(Environment):
    """One level with one seed.

    Time is counted in primitives. See `spca_core.ports.environment.Environment`.
    """

    name = "minigrid"
    api: CtxApi = API
    builtin_skills = SKILLS

    def __init__(self, level: GridLevel, seed: int = 0, limits: Limits | None = None) -> None:
        self.level, self.seed = level, seed
        self._cancelled = Flag()
        self._begin(())
        self.task = Task(
            group=level.category, id=level.name, title=level.name, description=self.world.mission
        )
        self._executor = PlanExecutor(
            API,
            limits,
            step_deadline_s=self.world.max_steps + 1,
            step_wall_s=_STEP_WALL_S,
            builtin=library_source(self.name, SKILLS),
        )
        self.last_act: ActResult | None = None

    def _begin(self, primitives: tuple[int, ...]) -> None:
        """Begin a fresh world, with some primitives carried out and their views taken in."""
        self.world = GridWorld(self.level.env, self.seed)
        self.map = WorldMap()
        self.map.observe(*self.world.look())
        self._referents = Referents(self.map, naming(self.world.mission))
        self._ctx = GridCtx(self.world, self.map, self._referents)
        for primitive in primitives:
            self.map.observe(*self.world.step(primitive), primitive)

    def sense(self) -> Observation:
        """Return what has been seen up to now; looking takes no time here."""
        seen = observe(self.map, self._referents, self._ctx.now(), self.level.report, self.world.mission)
        steps_left = self.world.max_steps - len(self.world.primitives)
        return seen.model_copy(update={"detail": {**seen.detail, "steps_left": steps_left}})

    def act(
        self, attempt: str, plan: Plan, library: str, on_step: Callable[[StepReport], None] | None = None
    ) -> ActResult:
        """See `Environment.act`."""
        self._ctx.resume()
        self.last_act = self._executor.execute(
            attempt, plan, library, self._ctx, on_step, cancelled=self._cancelled.is_set
        )
        return self.last_act

    def settle(self) -> Verdict:
        """Return the verdict at once: nothing happens here by itself."""
        return self.verdict()

    def verdict(self) -> Verdict:
        """Return success if the level was rewarded; an end without is a failure, or the time was up."""
        world = self.world
        if world.terminated and world.reward > 0:
            outcome, reason = (
                Outcome.SUCCESS,
                f"rewarded {world.reward:.3f} after {len(world.primitives)} primitives",
            )
        elif world.terminated:
            outcome, reason = (
                Outcome.FAIL,
                "the level ended without a reward: something was done that it forbids",
            )
        elif world.truncated:
            outcome, reason = Outcome.TIMEOUT, f"not done within {world.max_steps} primitives"
        else:
            outcome, reason = Outcome.RUNNING, "the mission is not fulfilled yet"
        done = outcome is Outcome.SUCCESS
        condition = Condition(text=world.mission, holds=done, reason="" if done else reason)
        return Verdict(
            outcome=outcome, score=float(done), stamp=self._ctx.now(), reason=reason, conditions=(condition,)
        )

    def checkpoint(self) -> bytes:
        """Return level, seed, all primitives (world and map follow from them), and what was remembered."""
        known = {"primitives": self.world.primitives, "names": self.map.names}
        return json.dumps({"level": self.level.name, "seed": self.seed, **known}).encode()

    def restore(self, checkpoint: bytes) -> None:
        """Begin a fresh world with the same seed, and replay the primitives."""
        saved = json.loads(checkpoint)
        if (saved["level"], saved["seed"]) != (self.level.name, self.seed):
            raise SpcaError(f"the checkpoint is of {saved['level']}, seed {saved['seed']}")
        self._begin(tuple(saved["primitives"]))
        self.map.names = saved["names"]

    def save_recording(self, folder: Path) -> None:
        """Write what was done, from which the views follow."""
        (folder / PRIMITIVES).write_bytes(self.checkpoint())

    def cancel(self) -> None:
        """See `Environment.cancel`."""
        self._cancelled.set()
        self._ctx.stop()

    def close(self) -> None:
        """End the sandbox."""
        self._executor.close()
