"""PPO without programs (CoPiC's Tables 6 and 11): a policy over the single actions of `build_order`.

    .venv/bin/python benchmarks/copic_ppo.py --task easy --trials 10

Each action is a program that proposes it always, so that CoPiC's own selector, learning by PPO from the
reward of `--published` (1 or 0), is a policy over actions that knows nothing at first.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing

from spca_copic.evaluation import evaluate, unseen_cases
from spca_copic.recipe import Recipe
from spca_copic.run import open_world
from spca_copic.selectors import make_selector
from spca_copic.training import train_task
from spca_core.result import Usage
from spca_programs.plan_world import Briefing, Episode, PlanningProgram


class SingleActions:
    """See `spca_copic.ports.ProgramProposer`: one program for each action."""

    name = "single actions"
    usage = Usage()

    def __init__(self, actions: Sequence[str]) -> None:
        self._actions = actions

    def write(self, briefing: Briefing, count: int, seed: int) -> list[PlanningProgram]:
        """All of them, whatever `count` says."""
        return [
            PlanningProgram(source=f"def plan(observation, actions, task):\n    return [{action!r}]\n")
            for action in self._actions
        ]

    def evolve(
        self,
        briefing: Briefing,
        programs: Sequence[PlanningProgram],
        episodes: Sequence[Episode],
        count: int,
        seed: int,
    ) -> list[PlanningProgram]:
        """None: only the policy learns."""
        return []


def main() -> None:
    """Train, test on unseen cases, and print the share of solved ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="easy")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--episodes", type=int, default=20, help="of a trial")
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    recipe = Recipe(
        published=True, evolve=False, trials=given.trials, episodes=given.episodes, seed=given.seed
    )
    with closing(open_world("build_order")) as world:
        [case] = world.split(given.task, 1, 0, 0, given.seed).train
        actions = [action.name for action in world.reset(case).actions]
        selector = make_selector(recipe.selector)
        state = train_task(world, given.task, SingleActions(actions), selector, recipe)
        cases = unseen_cases(world, given.task, recipe, given.cases)
        for score in evaluate(world, state, selector, recipe, cases, ("selector", "random")):
            name = "random" if score.policy == "random" else "PPO"
            print(f"{given.task}  {name:8} {100 * score.success:.1f} % of {given.cases} unseen cases")


if __name__ == "__main__":
    main()
