"""Drafts of plans and of code, counted by what asked for them."""

from __future__ import annotations

from collections.abc import Sequence

from spca_benchmarks.campaigns.statistics import Mean
from spca_core.result import RunResult

_WORDS = {
    "planner": {"syntax": "plan: after a rejection"},
    "coder": {
        "first": "code: new", "semantic": "code: after a failed attempt", "syntax": "code: after a rejection"
    },
}  # fmt: skip
"""What asks for a draft, in words: the published counts call every repair of a rejected draft "syntax"."""


def draft_cells(results: Sequence[RunResult]) -> dict[str, str]:
    """Drafts of plans by mode and of code by kind: how many, their share, and a level's mean ± sd."""
    cells = {}
    for part, words in _WORDS.items():
        counts = [getattr(result, part).model_dump() for result in results]
        total = sum(sum(count.values()) for count in counts)
        for name in counts[0]:
            own = Mean.of([count[name] for count in counts])
            drafts = round(own.value * own.count)
            told = f"{drafts} ({100 * drafts / max(1, total):.1f} %), {own.value:.2f} ± {own.sd:.2f}"
            cells[words.get(name, f"plan: {name}")] = told
    return cells
