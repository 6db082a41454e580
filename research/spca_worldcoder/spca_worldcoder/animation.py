"""Episodes as moving pictures: SVG that a browser plays by itself."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, BinaryIO

from spca_worldcoder.state import Entity, State

_CELL = 28
_SECONDS = 0.35
_LETTER = 7
"""Pixels of the caption."""
_COLOURS = {
    "red": "#d33",
    "green": "#2a2",
    "blue": "#36c",
    "purple": "#939",
    "yellow": "#cb0",
    "grey": "#888",
}
_PALETTE = ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c")


class Animation:
    """States one after the other. Stands where a report expects a figure: it has `savefig`."""

    def __init__(self, states: Sequence[State], caption: str = "") -> None:
        self._states, self._caption = list(states), caption

    def savefig(self, stream: BinaryIO, **_: Any) -> None:
        """Write the SVG."""
        stream.write(self.svg().encode())

    def svg(self) -> str:
        """The picture: what never changes once, the rest frame by frame."""
        fixed = set(self._states[0]).intersection(*map(set, self._states)) if self._states else set()
        spots = [e.cell for state in self._states for e in state if e.cell is not None]
        wide = (max((x for x, _ in spots), default=0) + 1) * _CELL
        width = max(wide, _LETTER * len(self._caption))
        high = (max((y for _, y in spots), default=0) + 1) * _CELL
        length = len(self._states) * _SECONDS
        kinds = sorted({e.kind for state in self._states for e in state})
        parts = [_drawn(e, kinds) for e in sorted(fixed)]
        for i, state in enumerate(self._states):
            times = f"0;{i / len(self._states):.4f};{(i + 1) / len(self._states):.4f};1"
            shown = "hidden;visible;hidden;hidden" if i else "visible;visible;hidden;hidden"
            moving = "".join(_drawn(e, kinds) for e in state if e not in fixed)
            parts.append(
                f'<g visibility="hidden">{moving}<animate attributeName="visibility" values="{shown}" '
                f'keyTimes="{times}" dur="{length:.2f}s" calcMode="discrete" repeatCount="indefinite"/></g>'
            )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{high + 18}"'
            ' font-family="sans-serif">'
            f'<rect width="{wide}" height="{high}" fill="#f4f1ea"/>{"".join(parts)}'
            f'<text x="2" y="{high + 13}" font-size="12">{html.escape(self._caption)}</text></svg>'
        )


def _drawn(one: Entity, kinds: Sequence[str]) -> str:
    """A square with the first letters of the class; directions are arrows, what is held is written below."""
    if one.x is None or one.y is None:
        return ""
    x, y = one.x * _CELL, one.y * _CELL
    values = dict(one.attributes)
    named = [_COLOURS[v] for v in values.values() if isinstance(v, str) and v in _COLOURS]
    fill = named[0] if named else _PALETTE[kinds.index(one.kind) % len(_PALETTE)]
    shape = (
        f'<rect x="{x + 3}" y="{y + 3}" width="{_CELL - 6}" height="{_CELL - 6}" rx="4" fill="{fill}"'
        ' fill-opacity="0.75"/>'
        f'<text x="{x + _CELL / 2}" y="{y + _CELL / 2 + 4}" font-size="10" text-anchor="middle">'
        f"{html.escape(one.kind[:3])}</text>"
    )
    for value in values.values():
        if isinstance(value, Entity):
            shape += f'<text x="{x + 2}" y="{y + _CELL}" font-size="8">{html.escape(value.kind)}</text>'
        elif isinstance(value, tuple) and len(value) == 2:
            ax, ay = x + _CELL / 2 + 12 * value[0], y + _CELL / 2 + 12 * value[1]
            line = f'x1="{x + _CELL / 2}" y1="{y + _CELL / 2}" x2="{ax}" y2="{ay}"'
            shape += f'<line {line} stroke="black" stroke-width="2"/>'
    return shape
