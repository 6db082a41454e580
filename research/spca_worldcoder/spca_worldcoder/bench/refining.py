"""Which strategy of refinement gets furthest with a writer that errs.

The built-in synthesizer is right at once about all it sees, so it says nothing about strategies. Here it is
made to see what a language model's prompts show: a few experiences at first, one failing and some fitting
ones for each refinement; and it forgets some of what its program was written from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spca_worldcoder.agent.bandit import Arm, Bandit, Strategy, search
from spca_worldcoder.critic import judge
from spca_worldcoder.induction.emit import emit
from spca_worldcoder.induction.learner import Learner
from spca_worldcoder.records import Contradiction, Experience, NotLearnable, Program, Transition, Verdict
from spca_worldcoder.sandbox import ModelRunner
from spca_worldcoder.worlds.world import World

DRAFTS = 25
_FIRST, _FITTING, _FORGOTTEN = 7, 3, 0.15


def wander(world: World, seed: int, steps: int, episode: int = 50) -> Experience:
    """What random actions show."""
    rng = np.random.default_rng([seed, 4])
    experience = Experience(world.actions)
    while steps > 0:
        state, mission = world.reset(int(rng.integers(2**31)))
        experience.starts.append((state, mission))
        for _ in range(min(episode, steps)):
            action = world.actions[int(rng.integers(len(world.actions)))]
            after, reward, done = world.step(action)
            experience.add(Transition(state, action, after, reward, done, mission))
            state = after
            steps -= 1
            if done:
                break
    return experience


def explained_by_draft(strategy: Strategy, experience: Experience, seed: int) -> tuple[float, ...]:
    """The best share explained after each of up to `DRAFTS` drafts; it ends with the first that fits."""
    rng = np.random.default_rng([seed, 5])
    data = experience.transitions
    memory: dict[str, list[int]] = {}
    best: list[float] = []

    def some(indices: Sequence[int], count: int) -> list[int]:
        return [int(i) for i in rng.permutation(list(indices))[:count]]

    with ModelRunner() as runner:

        def draft(arm: Arm) -> tuple[Program, Verdict] | None:
            if arm.program is None:
                seen = some(range(len(data)), _FIRST)
            else:
                failing = arm.verdict.failing
                fitting = sorted(set(range(len(data))) - set(failing))
                seen = [i for i in memory[arm.program.id] if rng.random() > _FORGOTTEN]
                seen = sorted({*seen, *some(failing, 1), *some(fitting, _FITTING)})
            try:
                rules = Learner().learn(Experience(experience.actions, [data[i] for i in seen]))
            except (Contradiction, NotLearnable):
                best.append(best[-1] if best else 0.0)
                return None
            program = Program(source=emit(rules))
            verdict = judge(runner, program, data)
            memory.setdefault(program.id, seen)
            best.append(max([verdict.explained, *best[-1:]]))
            return program, verdict

        search(Bandit(rng, strategy=strategy), draft, lambda _, verdict: verdict.fits, DRAFTS, DRAFTS)
    return tuple(round(value, 5) for value in best)
