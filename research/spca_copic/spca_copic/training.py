"""The training of one task type: trials of episodes, updates of the selector, evolution of the programs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spca_copic.episode import SelectorChoice, experience_of, run_episode
from spca_copic.pool import ProgramPool
from spca_copic.ports import ProgramProposer, Selector
from spca_copic.recipe import (
    STAND_IN,
    Outcome,
    Recipe,
    TaskState,
    Trial,
    WorldUse,
    cases_to_test,
    mean_worth,
)
from spca_copic.rollouts import TryingChoice, alone, keep_best
from spca_core.result import Usage
from spca_programs.plan_world import (
    ActionSequence,
    Briefing,
    Case,
    Episode,
    Experience,
    PlanningProgram,
    Situation,
    Transition,
)
from spca_programs.ports.plan_world import PlanWorld

_RECENT = 5
"""Episodes that evolution is shown (published), and the report."""
_AGAIN = 3
"""For each choice that was tried out, so many earlier ones are learned from again in an update."""
_OFFSPRING = 12
"""New programs of an evolution where they cost nothing."""
_MOST_TRIED = 2000
"""Choices that are kept to be learned from again, the newest ones: some ten megabytes."""


class CountedWorld:
    """A `PlanWorld` over another one; `use` is what was taken of it so far."""

    def __init__(self, world: PlanWorld, sparse: bool = False) -> None:
        """With `sparse`, the reward is 1 for a success and else 0."""
        self._world, self._sparse = world, sparse
        self.name, self.tasks, self.cases, self.returns = world.name, world.tasks, world.cases, world.returns
        self.split, self.briefing = world.split, world.briefing
        self.checkpoint, self.close = world.checkpoint, world.close
        self.use = WorldUse()

    def reset(self, case: Case) -> Situation:
        """See `PlanWorld.reset`."""
        self.use = self.use.and_also(resets=1)
        return self._world.reset(case)

    def step(self, plan: ActionSequence) -> Transition:
        """See `PlanWorld.step`."""
        self.use = self.use.and_also(plans=1, actions=len(plan))
        transition = self._world.step(plan)
        reward = float(transition.success) if self._sparse else transition.reward
        return transition.model_copy(update={"reward": reward})

    def restore(self, checkpoint: bytes) -> Situation:
        """See `PlanWorld.restore`."""
        self.use = self.use.and_also(restores=1)
        return self._world.restore(checkpoint)


@dataclass
class Listener:
    """Callbacks for the progress of a training; by default they do nothing."""

    on_episode: Callable[[str, int, Episode], None] = lambda task, trial, episode: None
    on_trial: Callable[[str, Trial], None] = lambda task, trial: None
    save: Callable[[TaskState], None] = lambda state: None
    """Called after every trial with all that is needed to go on from there, and the selector as it is."""


def train_task(
    world: PlanWorld,
    task: str,
    proposer: ProgramProposer,
    selector: Selector,
    recipe: Recipe,
    state: TaskState | None = None,
    listener: Listener | None = None,
) -> TaskState:
    """Train on one task type, from the beginning or from the state after a trial; returns the last state.

    The selector is left as it shall be used. Raises ModelError when a proposer gives no usable program at
    first.
    """
    training = _Training(world, task, proposer, selector, recipe, listener or Listener())
    with training.pool:
        return training.run(state or training.first())


class _Training:
    def __init__(
        self, world: PlanWorld, task: str, proposer: ProgramProposer, selector: Selector, recipe: Recipe,
        listener: Listener,
    ) -> None:  # fmt: skip
        self._world, self._task = CountedWorld(world, recipe.published), task
        self._proposer, self._selector = proposer, selector
        self._briefing: Briefing = world.briefing(task)
        recipe = recipe.fitted(self._briefing)
        self._recipe, self._listener = recipe, listener
        self._before = self._asked = Usage()  # what was asked before an interruption
        self.pool = ProgramPool((), recipe.deadline_s, recipe.trusted(self._briefing))
        kept = recipe.kept
        cases = world.split(task, kept + world.cases, 0, 0, recipe.seed).train
        self._held_out, self._judged = cases[: recipe.held_out], cases[recipe.held_out : kept]
        self._cases = cases[kept:][: recipe.episodes if recipe.published else None]
        if recipe.on_test_cases:
            self._cases = cases_to_test(world, task, recipe, recipe.episodes)
        free = recipe.proposer == STAND_IN and not recipe.published
        self._offspring = _OFFSPRING if free else recipe.programs

    def first(self) -> TaskState:
        """The state before the first trial."""
        # Under a frozen selector others than those that it has learned with.
        seed = ~self._recipe.seed if self._recipe.frozen else self._recipe.seed
        programs = tuple(self._proposer.write(self._briefing, self._recipe.programs, seed))
        return TaskState(
            task=self._task, programs=programs, all_programs=programs, alone=self._alone(programs, {}),
            written=self._proposer.usage,
        )  # fmt: skip

    def run(self, state: TaskState) -> TaskState:
        if state.trials:
            last = state.trials[-1]
            self._world.use, self._before, self._asked = last.use, last.usage, last.asked
        else:
            self._listener.save(state)  # what was written has been paid for
        while not state.finished:
            state = self._trial(state)
            self._listener.on_trial(self._task, state.trials[-1])
            self._listener.save(state)
        return state

    def _trial(self, state: TaskState) -> TaskState:
        began = time.monotonic()
        number = len(state.trials)
        self.pool.use(state.programs, state.worth)
        episodes, entropy, tried = self._roll_out(number, state.tried)
        frozen = [] if self._recipe.published else self._frozen(self._held_out)
        success, held_out = _rate(episodes), _rate(frozen) if frozen else None
        solvable = [
            any(state.alone[p.id][k].success for p in state.programs) for k in range(len(self._held_out))
        ]
        missed = any(solved and not e.success for solved, e in zip(solvable, frozen, strict=False))
        reached = (
            min(success, success if held_out is None else held_out) >= self._recipe.threshold and not missed
        )
        finished = number + 1 >= self._recipe.trials or (
            reached and (self._recipe.published or (number > 0 and state.trials[-1].reached))
        )
        programs, outcomes = state.programs, state.alone
        born: tuple[PlanningProgram, ...] = ()
        unchanged = number > 0 and state.trials[-1].kept == state.trials[-1].programs
        settled = unchanged and bool(solvable) and all(solvable)
        if self._recipe.evolve and not (finished or settled or reached):
            new = self._proposer.evolve(
                self._briefing, state.programs, episodes[-_RECENT:], self._offspring,
                self._recipe.seed * 1000 + number,
            )  # fmt: skip
            known = {program.id for program in state.all_programs}
            born = tuple(program for program in new if program.id not in known)
            outcomes = self._alone(born, outcomes)
            if born:
                everyone = [*state.all_programs, *born] if self._recipe.elites else born
                programs = (
                    born if self._recipe.published else keep_best(everyone, outcomes, self._recipe.programs)
                )
        follow = self._safest(state) if finished else ""
        trial = Trial(
            number=number, programs=tuple(p.id for p in state.programs), success=success, held_out=held_out,
            score=sum(e.score for e in episodes) / len(episodes),
            steps=(state.trials[-1].steps if state.trials else 0) + sum(len(e.decisions) for e in episodes),
            use=self._world.use, entropy=entropy,
            usage=self._before + self._proposer.usage,
            asked=sum(getattr(self._selector, "usage", ()), self._asked),
            seconds=time.monotonic() - began, kept=tuple(p.id for p in programs),
            born=tuple(p.id for p in born), episodes=tuple(e.success for e in episodes), reached=reached,
        )  # fmt: skip
        return TaskState(
            task=self._task, programs=programs, all_programs=(*state.all_programs, *born),
            written=state.written, trials=(*state.trials, trial), alone=outcomes, finished=finished,
            follow=follow, recent=tuple(episodes[-_RECENT:]),
            tried=() if finished else tuple(tried[-_MOST_TRIED:]),
        )  # fmt: skip

    def _alone(
        self, programs: Sequence[PlanningProgram], known: dict[str, tuple[Outcome, ...]]
    ) -> dict[str, tuple[Outcome, ...]]:
        """Return `known` extended by the outcomes of following each of these programs alone."""
        return known | {p.id: alone(self._world, self.pool, p, self._held_out) for p in programs}

    def _safest(self, state: TaskState) -> str:
        """The best single program, unless the selector does better on cases that nothing was chosen by."""
        if self._recipe.published:
            return ""
        best = next(p for p in state.programs if p.id == state.best_single)
        single = alone(self._world, self.pool, best, self._judged)
        self.pool.use(state.programs, state.worth)
        selected = [Outcome(e.success, e.score) for e in self._frozen(self._judged)]
        return "" if mean_worth(selected) > mean_worth(single) else best.id

    def _frozen(self, cases: Sequence[Case]) -> list[Episode]:
        """Run cases while the selector does not learn, and return the episodes."""
        return [run_episode(self._world, case, self.pool, SelectorChoice(self._selector)) for case in cases]

    def _roll_out(
        self, number: int, tried: Sequence[Experience]
    ) -> tuple[list[Episode], float | None, list[Experience]]:
        """A trial's episodes and last entropy; the selector learns every so many decisions and at the end.

        Also all choices that were tried out by then; `tried` are those of earlier trials.
        """
        seed = [self._recipe.seed, number]
        choice = TryingChoice(
            SelectorChoice(self._selector, np.random.default_rng(seed)),
            self._recipe.tried if self._world.returns else 0.0,
            np.random.default_rng([*seed, 2]),
        )
        episodes_of = self._recipe.episodes
        taken = [(number * episodes_of + k) % len(self._cases) for k in range(episodes_of)]
        order = np.random.default_rng([self._recipe.seed, number, 1]).permutation(taken)
        rng = np.random.default_rng([*seed, 3])
        episodes: list[Episode] = []
        entropy: float | None = None
        buffer: list[Experience] = []
        known = list(tried)
        for index in order:
            episode = run_episode(self._world, self._cases[index], self.pool, choice)
            episodes.append(episode)
            buffer += experience_of(episode, choice.outcomes)
            self._listener.on_episode(self._task, number, episode)
            if len(buffer) >= self._recipe.horizon or len(episodes) == episodes_of:
                new = [sample for sample in buffer if sample.outcomes]
                earlier = rng.permutation(len(known))[: _AGAIN * len(new)]
                if not self._recipe.frozen:
                    entropy = self._selector.learn([*buffer, *(known[k] for k in earlier)])
                buffer, known = [], known + new
        return episodes, entropy, known


def _rate(episodes: Sequence[Episode]) -> float:
    return sum(e.success for e in episodes) / len(episodes)
