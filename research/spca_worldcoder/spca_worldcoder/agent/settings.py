"""The constants of the agent; the defaults are the published ones where there are such."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from spca_core.model import Record
from spca_worldcoder.agent.bandit import Strategy

EPSILON = 0.05
"""Published share of steps at random."""


class Settings(Record):
    """Settings of the agent's acting and learning."""

    seed: int = Field(0, ge=0)
    """Random seed of episodes and of chance."""
    first_data: int = Field(10, ge=1)
    """Transitions before the first program is asked for."""
    epsilon: float = Field(0.0, ge=0, le=1)
    """Share of steps taken at random (`EPSILON` with a language model)."""
    curiosity: int = Field(0, ge=0)
    """Actions at the beginning that may go to untried steps although there is a plan."""
    steps: int = Field(100, ge=1)
    """Longest episode."""
    streak: int = Field(10, ge=1)
    """An environment is done when so many episodes in a row succeed."""
    episodes: int = Field(200, ge=1)
    """Maximum number of episodes per environment."""
    actions: int = Field(5000, ge=1)
    """Actions an environment at most."""
    refinements: int = Field(50, ge=1)
    """Drafts per search for a program that fits."""
    strategy: Strategy = "bandit"
    """Which program is refined next."""
    optimism: bool = True
    """Whether programs are asked to be able to reach a reward."""
    transfer: bool = True
    """Keep program and data for the next environment."""
    rewards: Literal["learned", "guessed"] = "learned"
    """`guessed`: one guess for each mission, from its words alone, which nothing corrects (an ablation)."""
    planner: Literal["width", "value"] = "width"
    """`value`: depth-limited value iteration, as published, in place of our searches."""
    questions: int = Field(200, ge=1)
    """Questions to a language model in a run (published, and 300 for a curriculum)."""
