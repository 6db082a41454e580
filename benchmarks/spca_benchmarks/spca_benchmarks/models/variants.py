"""What each variant of a model changes: a run's options, or parts that its proposer brings.

Those that exchange parts are proposers of their own (group `spca.proposers`), so that a run's folder names
them and a resumed run is the same variant. They open the proposer that the run would have had without them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from spca.models import open_openai
from spca.proposals import OpenProposals, Proposals, open_builtin
from spca_benchmarks.models import one_validator as worker
from spca_benchmarks.models.words_alone import WordsAlone
from spca_coder.language import LanguageCoder
from spca_core.errors import InputError
from spca_core.options import Budgets, RunOptions
from spca_core.ports.kit import Kit
from spca_core.run_folder import RunFolder
from spca_planner.solver.process import warm_solver

VARIANTS: dict[str, dict[str, Any]] = {
    "full": {},
    "no-reuse": {},
    "no-repair": {"budgets": Budgets(drafts=1, code_drafts=1, code_retries=0)},
    "no-replanning": {"budgets": Budgets(rounds=1)},
    "no-rehearsal": {"rehearse": "never"},
    "always-rehearsal": {"rehearse": "always"},
    "no-rewind": {"rewind": False},
    "one-validator": {"proposer": "variant-one-validator"},
    "small-repair": {"proposer": "variant-small-repair"},
    "whole-library": {"proposer": "variant-whole-library"},
    "vision": {"vision": True},
    "vision-alone": {"proposer": "variant-vision-alone", "vision": True},
}
"""What a variant changes in a run's options. Without reuse, every level begins with nothing learned."""


class WholeLibrary(LanguageCoder):
    """A coder that is shown every skill, however many there are."""

    longest = {**LanguageCoder.longest, "relevant": sys.maxsize}


def _exchanging(exchange: Callable[[Proposals, RunOptions], Proposals]) -> OpenProposals:
    """A proposer that brings other parts than the model's, or the built-in one's where there is no model."""

    @contextmanager
    def opened(kit: Kit, options: RunOptions, folder: RunFolder) -> Iterator[Proposals]:
        usual = open_openai if options.llm else open_builtin
        with usual(kit, options, folder) as proposals:
            yield exchange(proposals, options)

    return opened


def _one_validator(proposals: Proposals, options: RunOptions) -> Proposals:
    """Plans are validated by Unified Planning alone, without TAMER."""
    return replace(proposals, solver=warm_solver(worker.__name__))


def _small_repair(proposals: Proposals, options: RunOptions) -> Proposals:
    """Rejected drafts are corrected by the small planner model, which adapts trusted domains, too."""
    planner = proposals.planner
    if not isinstance(planner, Mapping):
        return proposals
    return replace(proposals, planner={**planner, "repair": planner["reuse"]})


def _whole_library(proposals: Proposals, options: RunOptions) -> Proposals:
    """The coder is shown the whole library instead of the skills that resemble the wanted ones."""
    if not isinstance(proposals.coder, LanguageCoder):
        return proposals
    return replace(proposals, coder=WholeLibrary(proposals.coder.chat), token_budget=math.inf)


def _vision_alone(proposals: Proposals, options: RunOptions) -> Proposals:
    """The planner sees the vision model's sentences only, not the detector's objects and relations."""
    if options.transport == "ros":
        raise InputError("a vision model alone", hint="needs --transport inproc")
    return replace(proposals, vision=proposals.vision and WordsAlone(proposals.vision))


open_one_validator = _exchanging(_one_validator)
open_small_repair = _exchanging(_small_repair)
open_whole_library = _exchanging(_whole_library)
open_vision_alone = _exchanging(_vision_alone)
