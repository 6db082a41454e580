"""What each kind of environment brings along, beside the `Environment` itself: the one place that knows them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spca_core.errors import SpcaError
from spca_core.options import RunOptions
from spca_core.ports.environment import Environment
from spca_core.ports.proposer import PlanProposer
from spca_planner.critics.vocabulary import Vocabulary


@dataclass(frozen=True)
class Kit:
    """What an environment needs around it.

    `builtin` drafts plans without a model, `vocabulary` links its words to PDDL's, `build` makes the environment
    that a run's options ask for, in lockstep.
    """

    builtin: PlanProposer
    vocabulary: Vocabulary
    build: Callable[[RunOptions], Environment]


def kit_of(environment: str) -> Kit:
    """By the environment's name."""
    if environment == "tabletop":
        return _tabletop()
    if environment == "minigrid":
        return _minigrid()
    raise SpcaError(f"no kit for the environment '{environment}'")


def _tabletop() -> Kit:
    from spca.inproc import build_tabletop  # which needs the stages, and these a kit
    from spca_tabletop.plan.proposer import BuiltinProposer
    from spca_tabletop.plan.vocabulary import TabletopVocabulary

    return Kit(BuiltinProposer(), TabletopVocabulary(), build_tabletop)


def _minigrid() -> Kit:
    from spca.grid.run import build_minigrid
    from spca_minigrid.proposer import MissionProposer
    from spca_minigrid.vocabulary import MissionVocabulary

    return Kit(MissionProposer(), MissionVocabulary(), build_minigrid)
