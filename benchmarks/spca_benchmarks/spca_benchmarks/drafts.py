"""Drafts of plans and of code, counted by what asked for them."""

from __future__ import annotations

from collections.abc import Sequence

from spca_core.result import RunResult

_MODES = {"syntax": "after a rejection"}
_KINDS = {"first": "new", "semantic": "after a failed attempt", "syntax": "after a rejection"}
"""What asks for a draft, in words: the published counts call every repair of a rejected draft "syntax"."""


def draft_sums(results: Sequence[RunResult]) -> dict[str, int]:
    """Drafts of plans by mode and of code by kind, summed up."""
    plans, codes = [r.planner.model_dump() for r in results], [r.coder.model_dump() for r in results]
    return {
        **{f"plan: {_MODES.get(mode, mode)}": sum(p[mode] for p in plans) for mode in plans[0]},
        **{f"code: {_KINDS.get(kind, kind)}": sum(c[kind] for c in codes) for kind in codes[0]},
    }
