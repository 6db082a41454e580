"""Parts that a supervisor needs besides the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spca.rehearsing import Rehearsing
from spca_core.options import Budgets
from spca_core.plan import Plan
from spca_core.ports.reading import Readers
from spca_core.result import Promotion, Usage

if TYPE_CHECKING:
    from spca_core.ports.chat import VisionModel
    from spca_core.ports.stages import Coder, Planner

Promote = Callable[[str, Plan, Mapping[str, str]], Promotion]
"""Function called after a success with the library, the plan, and the distrusted skills with reasons."""
Approve = Callable[[Plan, str], bool]
"""Function that says whether a plan may be carried out; it gets the plan and its goal in words."""


@dataclass(frozen=True)
class Stages:
    """The stages of one run, and what its options say of them.

    `library` is the source of the skills to start with. With `rewind`, a failed attempt puts the world back
    to where its plan began. `promote` keeps the skills that proved themselves; `usage` says what each
    language model has used so far; `rehearsing` tries plans before they are carried out; `approve` is asked
    before anything moves.
    """

    planner: Planner
    coder: Coder
    readers: Readers
    library: str
    budgets: Budgets
    rewind: bool = False
    promote: Promote | None = None
    usage: Callable[[], dict[str, Usage]] = dict
    vision: VisionModel | None = None
    rehearsing: Rehearsing | None = None
    approve: Approve | None = None
