"""MiniGrid's kit: what the rest of spca needs to know of these worlds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_core.ports.kit import DocumentMaker, Kit, LevelInfo

if TYPE_CHECKING:  # constructing a kit must be cheap: every command does
    from spca_core.ports.chat import VisionModel
    from spca_core.ports.proposer import PlanProposer
    from spca_core.ports.vocabulary import Vocabulary
    from spca_core.skill import CtxApi
    from spca_minigrid.environment import MinigridEnvironment
    from spca_minigrid.twin import MinigridTwin


class MinigridKit(Kit):
    """See `spca_core.ports.kit.Kit`. A level is named `minigrid:LEVEL`; the seed draws its maze."""

    name = "minigrid"
    about = "MiniGrid and BabyAI: an agent that sees 7×7 cells of a maze"
    time_unit = "primitives"
    has_twin = True
    builtin_skills = Path(__file__).with_name("skills.py")

    @cached_property
    def api(self) -> CtxApi:
        """API that a skill may call."""
        from spca_minigrid.environment import MinigridEnvironment

        return MinigridEnvironment.api

    def builtin(self) -> PlanProposer:
        """Return the proposer that reads the mission by a grammar."""
        from spca_minigrid.proposer import MissionProposer

        return MissionProposer()

    def domain(self) -> str:
        """See `Kit.domain`."""
        from spca_minigrid.proposer import DOMAIN

        return DOMAIN

    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary, whose predicates are named like the observed facts."""
        from spca_minigrid.proposer import MissionVocabulary

        return MissionVocabulary()

    def levels(self) -> Sequence[LevelInfo]:
        """Return the levels of the curriculum."""
        from spca_minigrid.levels import curriculum

        return [
            LevelInfo(name=f"{self.name}:{found.name}", group=found.category, about=found.about)
            for found in curriculum()
        ]

    def published(self) -> tuple[str, ...]:
        """See `Kit.published`: the nine categories; the paper does not name its own 102 levels."""
        from spca_minigrid.levels import NINE

        return tuple(info.name for info in self.levels() if info.group in NINE)

    def check(self, options: RunOptions) -> None:
        """Raise InputError for an unknown level, or a robot arm."""
        if options.robot:
            raise InputError(f"--robot {options.robot}", hint="the agent of a grid world has no arm")
        self.build(options).close()

    def build(self, options: RunOptions, vision: VisionModel | None = None) -> MinigridEnvironment:
        """See `Kit.build`; there is no picture for a vision model to describe."""
        from spca_minigrid.environment import MinigridEnvironment
        from spca_minigrid.levels import find_level

        return MinigridEnvironment(find_level(options.level.removeprefix(f"{self.name}:")), options.seed)

    def twin(self, options: RunOptions) -> MinigridTwin:
        """See `Kit.twin`."""
        from spca_minigrid.twin import MinigridTwin

        return MinigridTwin()

    def documents(self, options: RunOptions) -> Sequence[DocumentMaker]:
        """Return the maker of the level's pictures."""
        from spca_minigrid.pictures import write_looks

        return (write_looks,)

    def slow_documents(self, options: RunOptions) -> Sequence[DocumentMaker]:
        """Return the maker of an animation; none if videos are switched off."""
        from spca_minigrid.pictures import write_animation

        return (write_animation,) if options.video else ()
