"""Rehearsing MiniGrid plans in a learned program instead of MiniGrid's own rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from spca_core.run_folder import RunFolder
from spca_minigrid.cells import DIRECTIONS, EMPTY
from spca_minigrid.twin import MapWorld, MinigridTwin, thing_of
from spca_minigrid.worldmap import WorldMap
from spca_worldcoder.records import Program
from spca_worldcoder.run import PROGRAM
from spca_worldcoder.sandbox import ModelRunner
from spca_worldcoder.state import Entity, State
from spca_worldcoder.worlds.minigrid import ACTIONS, observe


class ProgramWorld(MapWorld):
    """The map so far, in which a program says what each primitive does; MiniGrid only draws what is seen.

    Where the program has no answer, nothing changes.
    """

    def __init__(
        self, known: WorldMap, mission: str, max_steps: int, runner: ModelRunner, program: Program
    ) -> None:
        super().__init__(known, mission, max_steps)
        self._runner, self._program = runner, program

    def step(self, primitive: int) -> tuple[np.ndarray, int]:
        """Carry out one primitive and look."""
        before, action = observe(self.env), ACTIONS[primitive]
        after = self._runner.predict(self._program, [(before, action)])[0]
        if not isinstance(after, str):
            paid = self._runner.pay(self._program, [(before, action, after, self.mission)])[0]
            self.terminated = not isinstance(paid, str) and paid[1]
            _arrange(self.env, after)
        self.primitives.append(primitive)
        self.truncated = len(self.primitives) >= self.max_steps
        return self.look()


class LearnedTwin(MinigridTwin):
    """MiniGrid's twin with the rules that a learning run arrived at; they run in the sandbox."""

    def __init__(self, program: Program) -> None:
        self._runner = ModelRunner()
        super().__init__(
            lambda known, mission, steps: ProgramWorld(known, mission, steps, self._runner, program)
        )

    def close(self) -> None:
        """See `Twin`."""
        super().close()
        self._runner.close()


def learned_twin(folder: Path) -> Callable[[], LearnedTwin]:
    """Makes twins with the program of a learning run. InputError where there is none, or a damaged one."""
    return partial(LearnedTwin, RunFolder(folder).read(PROGRAM, Program))


def _arrange(env: Any, state: State) -> None:
    """Make the grid what a state says; what MiniGrid has no object for is left out."""
    env.grid.grid = [None] * (env.width * env.height)
    for one in state:
        if one.x is None or one.y is None or not (0 <= one.x < env.width and 0 <= one.y < env.height):
            continue
        if one.kind != "agent":
            env.grid.set(one.x, one.y, thing_of(_cell(one)))
            continue
        held, direction = one.get("carrying"), one.get("direction")
        env.agent_pos = (one.x, one.y)
        env.agent_dir = DIRECTIONS.index(direction) if direction in DIRECTIONS else env.agent_dir
        env.carrying = thing_of(_cell(held)) if isinstance(held, Entity) else None


def _cell(one: Entity) -> str:
    """See `spca_minigrid.cells`."""
    words = [one.kind, one.get("color"), one.get("state")]
    return " ".join(str(word) for word in words if word is not None) or EMPTY
