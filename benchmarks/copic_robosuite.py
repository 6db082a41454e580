"""CoPiC in robosuite (its Table 13): a picture becomes text, programs plan gripper motions, robosuite judges.

The plan world of `spca copic`, where `spca judge install robosuite` has been run. The paper's three seeds:

    spca copic train benchmarks/copic_robosuite.py:RobosuiteWorld --published --proposer model \
        --llm llm.yaml --seed 1 --out runs/robosuite_1                                  # and 2, and 3
    .venv/bin/python benchmarks/copic_robosuite.py runs/robosuite_1 runs/robosuite_2 runs/robosuite_3

The last line tests each training on 20 layouts that it has not seen, and prints the paper's table.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from contextlib import closing, suppress
from pathlib import Path

from spca_benchmarks.campaigns.published import cells
from spca_copic.evaluation import evaluate, unseen_cases
from spca_copic.run import CopicFolder
from spca_copic.worlds.limited_actions import Played, PlayedAgain
from spca_core.errors import SpcaError
from spca_core.geometry import Pose, top_down_yaw
from spca_core.log import logging_to
from spca_core.plan import Draft, Plan, Step
from spca_core.result import Outcome
from spca_core.scene import Scene
from spca_judges.environment import JudgedTabletop
from spca_judges.remote import RemoteEpisode
from spca_programs.plan_world import (
    ActionKind,
    ActionSequence,
    Briefing,
    Case,
    Remark,
    Situation,
    Split,
    Transition,
    require_task,
)
from spca_robosuite.bench import SEED_STRIDE
from spca_robosuite.bins import BinsDetector
from spca_robosuite.episode import LIMIT_S, PICK_PLACE, STIFFNESS, judged_world, open_episode

ENVIRONMENTS = {"lift": "Lift", "pick_and_place": "PickPlaceCan", "stack_three": "StackThree"}
"""Task type → robosuite's environment; `StackThree` is its `Stack` with a third cube."""
TRAINING = 1_000_000
"""Layouts from this one on are for training; those of tests are `spca bench robosuite`'s own."""
LIBRARY = '''
def move_gripper(ctx, x, y, z, yaw):
    """Straight where it goes up or down, around what is in the way otherwise."""
    here, there = ctx.tool_pose(), pose(float(x), float(y), float(z), float(yaw))
    above = abs(here.x - there.x) < 0.02 and abs(here.y - there.y) < 0.02
    (ctx.move_linear if above else ctx.move_to)(there)


def open_gripper(ctx):
    """Fully."""
    ctx.open()


def close_gripper(ctx):
    """Until something resists."""
    ctx.close()
'''
API = """A UR5e with a two-finger gripper stands at a table, or at a bin with things, with four compartments
(trays) beside it. A camera above sees them. All is told in metres and radians (z is up), in the frame
in which the gripper is moved.

`observation` is a dict:
- `things`: name → `{"kind", "position", "yaw", "size"}`: the centre [x, y, z], and the extents [a, b,
  height]; a tray's walls are as high as that, and it is open above.
- `gripper`: `{"position", "yaw", "holds"}`: the point between the fingertips, which always point down;
  `holds` is the name of what is between them, or empty.
- `looked`: whether the things were seen after the last plan: they are when the gripper holds nothing,
  and the arm then stands aside; else they are told as seen last.
- `memory`: the last plans, each with `plan`, `remarks` and the `observation` before it.

The fingers close along the direction `yaw`, open 0.085 wide, and must reach about a thing's centre to
hold it. A move goes straight where it leads up or down, and around what is in the way otherwise, so go
above a thing first, then down, and up again. A plan is a list of at most five texts, such as
`"move_gripper 0.1 0.05 0.95 0.3"` or `"close_gripper"`; the first action that fails ends it."""
_GOALS = {
    "lift": "Lift the cube off the table, five centimetres or more.",
    "pick_and_place": "Put the thing that the task names into the tray that it names, and let go of it.",
    "stack_three": "Stack three cubes in the order that the task tells, and let go of each.",
}
_EXAMPLE = '''
def plan(observation, actions, task):
    """Touch the green cube from above."""
    x, y, z = observation["things"]["cube_green"]["position"]
    return ["close_gripper", f"move_gripper {x} {y} {z + 0.15} 0", f"move_gripper {x} {y} {z + 0.03} 0"]
'''
_ACTIONS = (
    ActionKind(
        name="move_gripper", parameters=("x", "y", "z", "yaw"), about="move the point between the fingertips"
    ),
    ActionKind(name="open_gripper", about="let go"),
    ActionKind(name="close_gripper", about="close until something resists"),
)


class _Table(JudgedTabletop):
    """The judge's table, with what the gripper's own sensors tell."""

    def tool(self) -> tuple[Pose, str]:
        """The point between the fingertips, and what is between them."""
        return self._arm.tool_pose(), self._arm.held or ""


class RobosuiteWorld(PlayedAgain):
    """See `spca_programs.ports.plan_world.PlanWorld`; to go back, an episode is played again."""

    name, tasks = "robosuite", tuple(ENVIRONMENTS)
    cases, returns = 20, False
    limit, cost = 60, 0.0

    def __init__(self) -> None:
        super().__init__()
        self._episode: RemoteEpisode | None = None
        self._table: _Table | None = None
        self._looked = True

    def split(self, task: str, train: int, seen: int, unseen: int, seed: int) -> Split:
        """Layouts that robosuite draws; those of tests are other ones than those of training."""
        require_task(task, self.tasks, self.name)
        first = SEED_STRIDE * (seed + 1)

        def cases(start: int, count: int) -> tuple[Case, ...]:
            return tuple(Case(task=task, name=f"layout {n}", seed=n) for n in range(start, start + count))

        return Split(
            train=cases(TRAINING + first, train),
            seen=cases(TRAINING + first + train, seen),
            unseen=cases(first, unseen),
        )

    def briefing(self, task: str) -> Briefing:
        """What the paper tells a model: the text of the task and the actions."""
        require_task(task, self.tasks, self.name)
        return Briefing(
            task=task, goal=_GOALS[task], api=API, example_task="Touch the green cube.", example=_EXAMPLE
        )

    def reset(self, case: Case) -> Situation:
        """Draw the layout and look."""
        name = ENVIRONMENTS[case.task]
        if self._episode is None or self._played is None or self._played.case.task != case.task:
            self.close()
            self._episode = open_episode(name)
        if self._table is not None:
            self._table.close()
        self._episode.reset(case.seed)
        bins = name in PICK_PLACE
        world = judged_world(bins)
        detector = BinsDetector(world) if bins else None
        self._table = _Table(name, self._episode, world, STIFFNESS, LIMIT_S, detector)
        self._table.sense()
        self._played, self._taken, self._over, self._looked = Played(case=case), 0, False, True
        return self._situation()

    def step(self, plan: ActionSequence) -> Transition:
        """See `PlanWorld`; then look, with the arm aside, unless it holds something."""
        self._looked = False
        done = super().step(plan)
        if done.done or self._playing().tool()[1]:
            return done
        with suppress(SpcaError):  # the arm cannot leave the view: what was seen last remains
            self._playing().sense()
            self._looked = True
        return done.model_copy(update={"situation": self._situation()})

    def close(self) -> None:
        """End robosuite and the sandbox."""
        if self._table is not None:
            self._table.close()
        if self._episode is not None:
            self._episode.close()
        self._table = self._episode = self._played = None
        self._over = True

    def _playing(self) -> _Table:
        if self._table is None:
            raise SpcaError("no episode has begun: reset first")
        return self._table

    def _act(self, action: str) -> Remark | None:
        name, *arguments = action.split() or [""]
        kind = next((kind for kind in _ACTIONS if kind.name == name), None)
        if kind is None or len(arguments) != len(kind.parameters):
            return Remark(kind="not_found", text=f"there is no action '{action[:60]}'")
        request = Plan(
            steps=(Step(action=name, args=tuple(arguments)),), schemas=(), draft=Draft(domain="", problem="")
        )
        result = self._playing().act(str(self._taken), request, LIBRARY)
        if name == "open_gripper":
            self._playing().settle()
        if result.status == "done":
            return None
        return Remark(kind="precondition", text=f"{action}: {result.steps[-1].message}")

    def _success(self) -> bool:
        return self._playing().verdict().outcome is Outcome.SUCCESS

    def _lost(self) -> Remark | None:
        late = self._playing().verdict().outcome is Outcome.TIMEOUT
        return Remark(kind="step_limit", text=f"not done after {LIMIT_S:g} s") if late else None

    def _situation(self) -> Situation:
        table, scene = self._playing(), self._playing().looks[-1][1]
        tool, held = table.tool()
        things = {
            o.id: {
                "kind": str(o.kind), "position": _rounded(o.pose.position), "yaw": round(o.pose.yaw, 3),
                "size": _rounded(o.size),
            }
            for o in scene.objects
        }  # fmt: skip
        gripper = {"position": _rounded(tool.position), "yaw": round(top_down_yaw(tool), 3), "holds": held}
        return Situation(
            instruction=table.task.description,
            observation={"things": things, "gripper": gripper, "looked": self._looked},
            actions=_ACTIONS,
            text=_told(scene) + f" The gripper holds {held or 'nothing'}.",
        )


def _told(scene: Scene) -> str:
    """Where things are, as the paper tells it."""
    return " ".join(f"{o.id} is located at {tuple(_rounded(o.pose.position))}." for o in scene.objects)


def _rounded(numbers: object) -> list[float]:
    return [round(float(n), 3) for n in numbers]  # type: ignore[attr-defined]


def main() -> None:
    """Test trainings on layouts that they have not seen, and print the paper's table with ours beside."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, help="folders of trainings")
    parser.add_argument("--cases", type=int, default=20, help="layouts of each training and task")
    given = parser.parse_args()
    solved = defaultdict[str, list[float]](list)
    with closing(RobosuiteWorld()) as world:
        for folder in map(CopicFolder.open, given.runs):
            recipe = folder.run.recipe
            for task in folder.run.tasks:
                cases = unseen_cases(world, task, recipe, given.cases)
                with logging_to(folder.path):
                    [score] = evaluate(world, *folder.trained(task), recipe, cases)
                solved[task].append(100 * score.success)
    for task, column in zip(ENVIRONMENTS, ("Lift", "Pick-and-Place", "Stack-Three-Cubes"), strict=True):
        if own := solved[task]:
            published = cells()["CoPiC", "Table 13", "CoPiC", column].value
            by_seed = ", ".join(f"{share:.0f}" for share in own)
            ours = f"{sum(own) / len(own):.2f} % ({by_seed}; {given.cases} layouts each)"
            print(f"{column}: {ours}; published {published} %")


if __name__ == "__main__":
    main()
