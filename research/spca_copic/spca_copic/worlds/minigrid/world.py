"""The world `minigrid`: levels of MiniGrid and BabyAI with new seeds, actions by the built-in skills."""

from __future__ import annotations

from pathlib import Path

from spca_copic.remembered import RememberedWorld
from spca_copic.worlds.environment_world import EnvironmentWorld
from spca_core.ports.environment import Environment
from spca_minigrid.environment import MinigridEnvironment
from spca_minigrid.levels import find_level
from spca_programs.plan_world import ActionKind, Case
from spca_programs.ports.plan_world import PlanWorld

_LEVELS = {
    "go_to": ("BabyAI-GoToLocalS6N3", "BabyAI-GoToLocalS8N6", "MiniGrid-GoToObject-6x6-N2"),
    "pick_up": ("MiniGrid-Fetch-6x6-N2", "BabyAI-PickupDist", "BabyAI-FindObjS6"),
    "open": ("MiniGrid-Unlock", "BabyAI-OpenRedBlueDoors", "BabyAI-OpenDoorsOrderN2"),
    "put_near": ("BabyAI-PutNextS4N1", "MiniGrid-PutNear-8x8-N3", "BabyAI-PutNextS7N4"),
    "unlock": ("MiniGrid-UnlockPickup", "BabyAI-UnlockPickupDist", "MiniGrid-KeyCorridorS3R3"),
}
_GOALS = {
    "go_to": "Stand before the thing that the mission names, and report it where that is wanted.",
    "pick_up": "Take the thing that the mission names into the hand; in some levels a wrong one ends it.",
    "open": "Open the door or doors that the mission names, in its order.",
    "put_near": "Put one thing next to another.",
    "unlock": "Take a thing that lies behind a locked door.",
}


class MinigridWorld(EnvironmentWorld):
    """See `EnvironmentWorld`. The agent knows only what it has seen."""

    name = "minigrid"
    levels, goals = _LEVELS, _GOALS
    actions = (
        ActionKind(name="find", parameters=("thing",), about="explore until it has been seen"),
        ActionKind(name="go_to", parameters=("thing",), about="stand before it, facing it"),
        ActionKind(name="enter", parameters=("square",), about="step onto a goal square"),
        ActionKind(name="open_door", parameters=("door",), about="open it, with the key if it is locked"),
        ActionKind(name="pick_up", parameters=("thing",), about="take it into the hand"),
        ActionKind(name="put_down", parameters=("thing",), about="put down what the hand holds"),
        ActionKind(name="put_next_to", parameters=("thing", "other"), about="carry it to another thing"),
        ActionKind(name="report", parameters=("thing",), about="say that one has arrived at it"),
    )
    folder = Path(__file__).parent
    example_task = "get to the green goal square"
    decisions = 8

    def build(self, case: Case) -> Environment:
        """The level with its seed."""
        return MinigridEnvironment(find_level(case.name), case.seed)


def open_minigrid() -> PlanWorld:
    """The world that remembers what each plan led to."""
    return RememberedWorld(MinigridWorld())
