"""What a learning run and the bench are told: the options of their commands are made of these fields.

The defaults are the published ones where there are such.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from spca_programs.options import Options

EPSILON = 0.05
"""Published share of steps at random."""
Strategy = Literal["bandit", "greedy", "breadth"]
Writer = Literal["inductive", "language"]


class WorldOptions(Options):
    """Choice of worlds. Fields that a world has no use for are ignored by it."""

    world: str
    """sokoban, minigrid, another package's, file.py:factory or module:factory."""
    environments: tuple[str, ...] = ()
    """Environments in their order (UnlockPickup, …); the world's curriculum by default."""
    boxes: int = Field(2, ge=1, le=8)
    """Boxes of Sokoban, 1 to 8."""
    size: int = Field(7, ge=5, le=12)
    """Cells along each side of Sokoban, 5 to 12."""


class Settings(Options):
    """Settings of the agent's acting and learning."""

    seed: int = Field(0, ge=0)
    """Random seed of episodes and of chance."""
    first_data: int = Field(10, ge=1)
    """Transitions before the first program is asked for."""
    epsilon: float = Field(0.0, ge=0, le=1)
    """Share of actions at random; 0.05 for a model, as published, 0 for the built-in."""
    curiosity: int = Field(0, ge=0)
    """Initial actions that may be spent on untried steps although there is a plan; 20 in Sokoban, else 0."""
    steps: int = Field(100, ge=1)
    """Maximum number of actions per episode."""
    streak: int = Field(10, ge=1)
    """An environment is done when so many episodes in a row succeed."""
    episodes: int = Field(200, ge=1)
    """Maximum number of episodes per environment."""
    actions: int = Field(5000, ge=1)
    """Actions an environment at most."""
    refinements: int = Field(50, ge=1)
    """Drafts per search for a program that fits, as published."""
    strategy: Strategy = "bandit"
    """Which program is refined: bandit, greedy or breadth."""
    optimism: bool = True
    """Require that programs can reach a reward."""
    transfer: bool = True
    """Keep program and data for the next environment."""
    rewards: Literal["learned", "guessed"] = "learned"
    """`guessed`: one guess for each mission, from its words alone, which nothing corrects (an ablation)."""
    planner: Literal["width", "value"] = "width"
    """`width` (ours) or `value` (value iteration, as published)."""
    questions: int = Field(200, ge=1)
    """Questions to a model at most; 200, 300 for several environments."""


class LearnOptions(Options):
    """Options of a learning run: the worlds to learn, and how."""

    worlds: WorldOptions
    settings: Settings = Settings()
    synthesizer: Writer = "inductive"
    """Who writes the program: `inductive` (built in) or `language` (a model)."""
    llm: str = ""
    """A model configuration (YAML), or `replay:FOLDER` to answer from a record."""
    temperature: float = Field(1.0, ge=0, le=2)
    """Temperature of the model."""


class BenchOptions(Options):
    """Suites × seeds; Sokoban's programs are tried on unseen levels."""

    suites: tuple[str, ...] = ()
    """sokoban, UnlockPickup, curriculum, …; all by default."""
    seeds: int = Field(10, ge=1)
    """Seeds; variants take every second of them, ablations every fifth."""
    first_seed: int = Field(0, ge=0)
    """The first seed."""
    levels: int = Field(200, ge=0)
    """Unseen Sokoban levels of each size to plan in what was learned."""
    models: tuple[str, ...] = ()
    """A model configuration (YAML), also for the ReAct baseline; repeatable."""
    synthesizer: Writer = "inductive"
    """`inductive` (a stand-in for a model) or `language`: each --model, as published."""
    ppo: int = Field(0, ge=0)
    """Actions of PPO in Sokoban, as a baseline (needs torch; an update takes 524,288); 0: none."""
