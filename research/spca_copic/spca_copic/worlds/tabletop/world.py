"""The world `tabletop`: levels on shuffled tables, actions by the built-in skills, judged by the referee."""

from __future__ import annotations

from pathlib import Path

from spca_copic.remembered import RememberedWorld
from spca_copic.worlds.environment_world import EnvironmentWorld
from spca_core.options import RunOptions
from spca_core.ports.environment import Environment
from spca_programs.plan_world import ActionKind, Case
from spca_programs.ports.plan_world import PlanWorld
from spca_tabletop.kit import build_tabletop

TASKS: dict[str, tuple[str, ...]] = {
    "lift": tuple(f"pickup_0{n}" for n in range(2, 8)),
    "pick_and_place": tuple(f"pick_and_place_0{n}" for n in range(1, 6)),
    "stack_three": tuple(f"stack_0{n}" for n in range(4, 9)),
    "stack": tuple(f"stack_0{n}" for n in range(1, 9)),
}
"""The levels of each task type. Lift, pick-and-place and a stack of three resemble those of robosuite."""
_GOALS = {
    "lift": "Lift the one cube that the task means off the table and keep it in the gripper.",
    "pick_and_place": "Put the cube that the task names on the plate that it names.",
    "stack_three": "Build a tower of three cubes, in the order that the task tells.",
    "stack": "Put cubes on each other, in the order that the task tells.",
}

_ACTIONS = (
    ActionKind(
        name="pick_up",
        parameters=("cube", "from"),
        about="grasp a cube that nothing lies on and lift it off what it rests on",
    ),
    ActionKind(name="place_on", parameters=("cube", "plate"), about="put the held cube down on a plate"),
    ActionKind(name="stack_on", parameters=("cube", "base"), about="put the held cube down on another cube"),
    ActionKind(name="place_on_table", parameters=("cube",), about="put the held cube down on free table"),
    ActionKind(
        name="place_next_to",
        parameters=("cube", "other"),
        about="put the held cube on the table, touching another",
    ),
    ActionKind(name="touch", parameters=("thing",), about="touch a thing from above with closed fingers"),
)


class TabletopWorld(EnvironmentWorld):
    """See `EnvironmentWorld`. Cases are levels on tables drawn by seed."""

    name = "tabletop"
    levels, goals, actions = TASKS, _GOALS, _ACTIONS
    folder = Path(__file__).parent
    example_task = "Touch the red plate."
    decisions = 6
    cases = 80
    places = ("table",)

    def __init__(self, preset: str = "shuffled", noise: bool = True) -> None:
        super().__init__()
        self._preset, self._noise = preset, noise

    def build(self, case: Case) -> Environment:
        """The table with its simulator, camera, arm and referee, in this process."""
        options = {"level": case.name, "seed": case.seed, "preset": self._preset, "noise": self._noise}
        return build_tabletop(RunOptions.model_validate({**options, "transport": "inproc"}))


def open_tabletop() -> PlanWorld:
    """The table that remembers what each plan led to: a look and a motion take half a second each."""
    return RememberedWorld(TabletopWorld())
