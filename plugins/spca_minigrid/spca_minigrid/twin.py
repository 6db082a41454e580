"""A MiniGrid twin: a world of its own, made of the map so far, in which what was never seen is free floor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from spca_core.plan import ActResult, Choice, Moment, Perturbation, Plan
from spca_core.scene import Fact, Observation
from spca_core.skill import StepReport
from spca_core.skill_package import library_source
from spca_minigrid.cells import BALL, BOX, DOOR, GOAL, KEY, LAVA, WALL, beside, colour_of, kind_of, state_of
from spca_minigrid.ctx import API, GridCtx
from spca_minigrid.mission import naming
from spca_minigrid.observation import observe
from spca_minigrid.proposer import MissionVocabulary
from spca_minigrid.referents import Referents
from spca_minigrid.world import GridWorld
from spca_minigrid.worldmap import KnownMap, WorldMap
from spca_sandbox.executor import PlanExecutor
from spca_sandbox.limits import Limits

_MARGIN = 8
"""Number of cells of free floor around what was seen, before the walls of the twin."""
_LIMITS = Limits(worker_s=2.0)
_STEP_WALL_S = 120.0


class MapVocabulary(MissionVocabulary):
    """Vocabulary of a twin, whose things are all known."""

    certain = {**MissionVocabulary.certain, "beside": 2}


class MapWorld(GridWorld):
    """A world made of a map."""

    def __init__(self, known: WorldMap, mission: str, max_steps: int) -> None:
        self._begin(_env_of(known, mission, max_steps))


class MinigridTwin:
    """See `spca_core.ports.stages.Twin`. A map is certain, as far as it goes."""

    certain = True

    def __init__(self) -> None:
        self.vocabulary = MapVocabulary()
        skills = library_source("minigrid", Path(__file__).with_name("skills.py"))
        self._executor = PlanExecutor(API, _LIMITS, 10_000.0, _STEP_WALL_S, skills)
        self._drawn = ""

    def refusal(self, observation: Observation) -> str:
        """See `Twin`."""
        return "" if "known" in observation.detail else "the observation has no record of a map"

    def play(
        self,
        plan: Plan,
        library: str,
        observation: Observation,
        perturbation: Perturbation,
        go_on: Callable[[Moment], bool],
        cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[ActResult, float]:
        """See `Twin`.

        From where something is seen that never was, a step can be seen to work, but not to fail.
        """
        detail = observation.detail
        known = WorldMap.of(TypeAdapter(KnownMap).validate_python(detail["known"]))
        seen = set(known.cells)
        world = MapWorld(known, detail["mission"], int(detail["steps_left"]))
        referents = Referents(known, naming(world.mission))
        ctx = GridCtx(world, known, referents)
        report = observation.holds("report_wanted")

        def moment(phase: str, step: StepReport | None = None) -> Moment:
            now = observe(known, referents, ctx.now(), report, world.mission)
            guessing = bool(known.cells.keys() - seen)
            placed = {f.args[0] for f in now.facts if f.predicate in ("located", "held")}
            if guessing and step is not None and step.status == "failed":
                step = step.model_copy(update={"status": "cancelled"})
            facts = (*now.facts, *_beside(now, referents))
            hidden = tuple(o for o in now.objects if o not in placed) if guessing else ()
            now = now.model_copy(update={"facts": facts, "hidden": hidden, "detail": {}})
            return Moment.model_validate({"phase": phase, "step": step, "observation": now})

        stopped = not go_on(moment("start"))

        def on_step(step: StepReport) -> None:
            nonlocal stopped
            stopped = not go_on(moment("step", step))

        result = self._executor.execute("rehearsal", plan, library, ctx, on_step, cancelled, lambda: stopped)
        self._drawn = known.as_text()
        if result.status == "done" and not stopped:
            go_on(moment("rest"))
        return result, ctx.now()

    def alternatives(self) -> Sequence[Sequence[Choice]]:
        """See `Twin`: a map leaves nothing to choose."""
        return ()

    def record(self, folder: Path, name: str) -> None:
        """Write the map at the end of the last play."""
        (folder / f"{name}.map.txt").write_text(self._drawn + "\n")

    def close(self) -> None:
        """See `Twin`."""
        self._executor.close()


def _beside(now: Observation, referents: Referents) -> list[Fact]:
    places = {
        o: {t.place for t in referents.find(o) if isinstance(t.place, tuple)}
        for o in now.objects
        if referents.known(o)
    }
    return [
        Fact(predicate="beside", args=(a, b))
        for a, own in places.items()
        for b, others in places.items()
        if a != b and any(set(beside(p)) & others for p in own)
    ]


def _env_of(known: WorldMap, mission: str, max_steps: int) -> Any:
    """Make an environment with MiniGrid's rules over the known cells; all else is floor up to a far wall."""
    from minigrid.core.grid import Grid
    from minigrid.core.mission import MissionSpace
    from minigrid.minigrid_env import MiniGridEnv

    xs, ys = [x for x, _ in known.cells], [y for _, y in known.cells]
    left, top = min(xs) - _MARGIN, min(ys) - _MARGIN
    width, height = max(xs) - left + _MARGIN + 1, max(ys) - top + _MARGIN + 1

    class Seen(MiniGridEnv):
        def _gen_grid(self, width: int, height: int) -> None:
            self.grid = Grid(width, height)
            self.grid.wall_rect(0, 0, width, height)
            for (x, y), cell in known.cells.items():
                self.grid.set(x - left, y - top, thing_of(cell))
            x, y = known.position
            self.agent_pos, self.agent_dir = (x - left, y - top), known.direction
            self.mission = mission

    env = Seen(
        mission_space=MissionSpace(mission_func=lambda: mission), width=width, height=height,
        max_steps=max_steps,
    )  # fmt: skip
    env.reset(seed=0)
    if known.held is not None:
        env.carrying = thing_of(known.held.cell)
    return env


def thing_of(cell: str) -> Any:
    """Return MiniGrid's object for a cell; None for floor, and for what there is no object for."""
    from minigrid.core import world_object as objects

    kind, colour = kind_of(cell), colour_of(cell)
    if kind == DOOR:
        return objects.Door(colour, state_of(cell) == "open", state_of(cell) == "locked")
    if kind in (WALL, LAVA, GOAL):
        return {WALL: objects.Wall, LAVA: objects.Lava, GOAL: objects.Goal}[kind]()
    portable = {KEY: objects.Key, BALL: objects.Ball, BOX: objects.Box}
    return portable[kind](colour) if kind in portable else None
