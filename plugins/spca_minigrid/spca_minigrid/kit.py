"""MiniGrid's kit: what the rest of spca needs to know of these worlds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_core.ports.kit import DocumentMaker, Kit, LevelInfo, late

if TYPE_CHECKING:  # constructing a kit must be cheap: every command does
    from spca_core.ports.chat import VisionModel
    from spca_minigrid.environment import MinigridEnvironment
    from spca_minigrid.twin import MinigridTwin


class MinigridKit(Kit):
    """See `spca_core.ports.kit.Kit`. A level is named `minigrid:LEVEL`; the seed draws its maze."""

    name = "minigrid"
    about = "MiniGrid and BabyAI: an agent that sees 7×7 cells of a maze"
    time_unit = "primitives"
    has_twin = True
    builtin_skills = Path(__file__).with_name("skills.py")

    api = late("spca_minigrid.environment:MinigridEnvironment.api")
    builtin = late("spca_minigrid.proposer:MissionProposer")
    vocabulary = late("spca_minigrid.proposer:MissionVocabulary")

    def domain(self) -> str:
        """See `Kit.domain`."""
        from spca_minigrid.proposer import DOMAIN

        return DOMAIN

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

    def documents(self, options: RunOptions) -> Iterator[Sequence[DocumentMaker]]:
        """The level's pictures; then, unless videos are switched off, an animation."""
        from spca_minigrid.pictures import write_animation, write_looks

        yield (write_looks,)
        if options.video:
            yield (write_animation,)
