"""Recipe of a training, its trials, and the state that it leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from pydantic import Field

from spca_core.model import Record
from spca_core.result import Usage
from spca_programs.factories import stand_in
from spca_programs.options import Options
from spca_programs.plan_world import Briefing, Case, Episode, Experience, PlanningProgram
from spca_programs.ports.plan_world import PlanWorld

BY_MODEL, STAND_IN = "model", "grammar"
"""Who writes programs: a language model, or what stands in for one."""
_SUCCESS = 2.0
"""What a solved case counts beside its rewards, so that solving comes first."""


class Outcome(NamedTuple):
    """Outcome of an episode, or of the rest of one; a success is better than any score without one."""

    success: bool
    score: float
    """The sum of the rewards."""

    @property
    def worth(self) -> float:
        """One number for both."""
        return _SUCCESS * self.success + self.score


def mean_worth(outcomes: Sequence[Outcome]) -> float:
    """Of several cases; 0 for none."""
    return sum(outcome.worth for outcome in outcomes) / max(1, len(outcomes))


class Recipe(Options):
    """What a training is told; the published constants are the defaults (20 episodes, 10 trials, K = 128)."""

    programs: int = Field(0, ge=0, le=12)
    """Programs that propose side by side; 0: 3 or 5, as the world says."""
    episodes: int = Field(0, ge=0)
    """Episodes of a trial, on as many training cases; 0: as the world says."""
    trials: int = Field(10, ge=1)
    """Trials at most."""
    horizon: int = Field(128, ge=1)
    """Decisions between two updates of the selector."""
    held_out: int = Field(0, ge=0)
    """Further training cases, on which it is decided which programs stay; 0: as many as the world says."""
    tried: float = Field(0.5, ge=0, le=1)
    """Share of the decisions in training at which every candidate is tried out to the end.

    Where a world cannot go back cheaply (`PlanWorld.returns`), none is.
    """
    judged: int = Field(0, ge=0)
    """Further cases: on them the selector and the best single program are compared in the end.

    0: as many as the world says are to be held out.
    """
    elites: bool = True
    """Keep the best of old and new programs; without it new ones replace all, as published."""
    evolve: bool = True
    """Write better programs between trials."""
    frozen: str = ""
    """A training's folder: its learned selector, as it is, over new programs (published: Fig. 4a)."""
    experience: str = ""
    """A training's folder, whose last episodes a model is shown before it writes (published: E.9)."""
    on_test_cases: bool = False
    """Learn on the cases of the later test (published: test set learning)."""
    published: bool = False
    """Only what the paper does.

    The selector learns from its own choices, of which the reward is 1 for a success and else 0; in tests it
    takes the best. A trial's own episodes decide whether training ends, new programs replace all, and nothing
    is tried out or judged in further episodes.
    """
    threshold: float = Field(0.95, ge=0, le=1)
    """Training ends when this share of a trial's episodes succeeds, in two trials in a row: one may by luck.

    The frozen selector must solve as large a share of the held-out cases, with each that a program solves
    alone.
    """
    temperature: float = Field(0.6, ge=0, le=2)
    """Temperature of the model that writes programs."""
    seed: int = Field(0, ge=0)
    """Draws cases, programs and choices."""
    deadline_s: float = Field(0.2, gt=0)
    """Wall time that a program has for a plan, in seconds."""
    selector: str = "hashed"
    """`hashed`, `language` (optional), or `judge`: a model."""
    proposer: str = STAND_IN
    """`grammar`, a stand-in for a model, or `model`."""

    def fitted(self, briefing: Briefing) -> Recipe:
        """With the numbers that the world says, where this recipe leaves them to it."""
        if self.published:
            return self.model_copy(
                update={
                    "programs": self.programs or briefing.programs, "episodes": self.episodes or 20,
                    "elites": False, "tried": 0.0, "held_out": 0, "judged": 0,
                }
            )  # fmt: skip
        numbers = {
            "programs": self.programs or briefing.programs,
            "episodes": self.episodes or briefing.episodes,
            "held_out": self.held_out or briefing.held_out,
            "judged": self.judged or briefing.held_out,
        }
        return self.model_copy(update=numbers)

    def trusted(self, briefing: Briefing) -> Callable[[PlanningProgram], bool]:
        """What says whether a program needs no sandbox: a model's always does."""
        if self.proposer == BY_MODEL:
            return lambda program: False
        return partial(stand_in(self.proposer).trusts, briefing)

    @property
    def kept(self) -> int:
        """Training cases that are kept apart from those of the episodes; of a `fitted` recipe."""
        return self.held_out + self.judged


BUILTIN = ("selector", "random", "programs", "oracle")
"""Ways to choose; `programs` stands for each program alone, of which the best by training is marked."""
WITH_MODEL = ("judge", "vanilla", "react", "cot", "cot-few", "reflexion", "prospector", "adaplanner",
              "repl-plan", "llm-dp")  # fmt: skip
"""Ways to choose, or to do without programs, that ask a model."""


class BenchOptions(Options):
    """What `spca bench copic` is told beside the recipe of its trainings."""

    worlds: tuple[str, ...] = ("build_order",)
    """Worlds by name."""
    tasks: tuple[str, ...] = ()
    """Task type; repeatable, all by default."""
    seeds: int = Field(5, ge=1)
    """Trainings of each task type, with seeds from 0."""
    cases: int = Field(20, ge=1)
    """Test cases of each task type."""
    policies: tuple[str, ...] = BUILTIN
    """Also a model's: judge, vanilla, react, cot, cot-few, reflexion, prospector, adaplanner, repl-plan,
    llm-dp; repeatable."""
    recipe: Recipe = Recipe()
    """How to train."""
    tables: int = Field(1, ge=1)
    """Hidden tables of the world; the trainings of seed s are in the table s modulo so many (household)."""
    frozen: bool = False
    """Then measure new programs, under the selector that a training with the usual number has learned."""
    llm: str = ""
    """A model configuration (YAML) for the proposer and these policies."""


def cases_to_test(world: PlanWorld, task: str, recipe: Recipe, count: int) -> tuple[Case, ...]:
    """The cases of a test after a training with a fitted recipe."""
    return world.split(task, recipe.kept + world.cases, 0, count, recipe.seed).unseen


class WorldUse(Record):
    """Use made of a world: episodes and trials of programs alike."""

    plans: int = 0
    """Plans carried out."""
    actions: int = 0
    """Actions in them."""
    resets: int = 0
    restores: int = 0
    """Returns to a checkpoint."""

    def and_also(self, **more: int) -> WorldUse:
        """This and some more."""
        return self.model_copy(update={name: getattr(self, name) + count for name, count in more.items()})

    def __str__(self) -> str:
        return (
            f"{self.plans} plans with {self.actions} actions carried out, {self.resets} resets, "
            f"{self.restores} restores"
        )


class Trial(Record):
    """One trial's figures."""

    number: int
    programs: tuple[str, ...]
    success: float
    """Share of its training episodes, with the selector sampling."""
    held_out: float | None = None
    """Share of the held-out cases, with the frozen selector, after the trial; None: none were held out."""
    score: float
    """Mean sum of rewards of its training episodes."""
    steps: int
    """Decisions taken in the episodes of training up to its end."""
    use: WorldUse = WorldUse()
    """All that was taken of the world up to its end: also to try programs out and to judge them."""
    entropy: float | None = None
    """Of the policy at the last update; None: the selector was frozen."""
    usage: Usage = Usage()
    """What writing programs has taken up to its end."""
    asked: Usage = Usage()
    """What the selector has asked a model up to its end: a judge, or one whose probabilities score plans."""
    seconds: float = 0.0
    kept: tuple[str, ...] = ()
    """Programs that go on after evolution; the same ones where there was none."""
    born: tuple[str, ...] = ()
    episodes: tuple[bool, ...] = ()
    reached: bool = False
    """Whether it reached the threshold at which training ends."""


class TaskState(Record):
    """All that training one task type needs to go on from after a trial."""

    task: str
    programs: tuple[PlanningProgram, ...]
    """The present ones."""
    all_programs: tuple[PlanningProgram, ...]
    """Every one that there ever was: the ancestry."""
    written: Usage = Usage()
    """What writing the first ones has taken; evolving them has taken the rest of a trial's `usage`."""
    trials: tuple[Trial, ...] = ()
    alone: dict[str, tuple[Outcome, ...]] = {}
    """What comes of each of the held-out training cases when one program (id) is followed alone."""
    finished: bool = False
    follow: str = ""
    """The program (id) to follow at test time: set where the selector was no better than the best one."""
    recent: tuple[Episode, ...] = ()
    """The last episodes, for the report."""
    tried: tuple[Experience, ...] = ()
    """Choices that were tried out, to learn from again; none when finished."""

    @property
    def worth(self) -> dict[str, float]:
        """The worth of each program alone: the mean over the held-out cases."""
        return {id_: mean_worth(outcomes) for id_, outcomes in self.alone.items() if outcomes}

    @property
    def best_single(self) -> str:
        """The present program (id) that is worth most alone."""
        worth = self.worth
        return max((p.id for p in self.programs), key=lambda id_: worth.get(id_, 0.0))
