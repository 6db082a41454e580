"""The corridor's kit, named by the entry point: what spca needs to know of this world."""

from __future__ import annotations

from collections.abc import Sequence

from corridor.environment import CorridorEnvironment
from corridor.proposer import DOMAIN, CorridorProposer
from corridor.world import API
from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_core.ports.chat import VisionModel
from spca_core.ports.kit import Kit, LevelInfo
from spca_core.ports.vocabulary import Vocabulary


class CorridorKit(Kit):
    """See `spca_core.ports.kit.Kit`. Levels are `corridor:2` to `corridor:99`."""

    name = "corridor"
    about = "a row of cells and an agent: the smallest world there is"
    time_unit = "steps"
    api = API
    builtin_skills = CorridorEnvironment.builtin_skills

    def builtin(self) -> CorridorProposer:
        """The proposer that needs no model."""
        return CorridorProposer()

    def vocabulary(self) -> Vocabulary:
        """Predicates are named like the facts."""
        return Vocabulary()

    def domain(self) -> str:
        """See `Kit.domain`: `spca api corridor` prints it in words."""
        return DOMAIN

    def levels(self) -> Sequence[LevelInfo]:
        """A few lengths."""
        return [LevelInfo(name=f"corridor:{n}", group="corridor", about=f"Go to c{n}.") for n in (3, 5, 20)]

    def check(self, options: RunOptions) -> None:
        """Raise InputError for a length that makes no sense."""
        length = options.level.removeprefix("corridor:")
        if not (length.isdigit() and 2 <= int(length) <= 99):
            raise InputError(f"unknown level '{options.level}'", hint="corridor:2 to corridor:99")

    def build(self, options: RunOptions, vision: VisionModel | None = None) -> CorridorEnvironment:
        """The environment of a level."""
        self.check(options)
        return CorridorEnvironment(int(options.level.removeprefix("corridor:")))
