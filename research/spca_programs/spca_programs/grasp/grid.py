"""GRASP grids and their text form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spca_core.errors import InputError

SIZE = 11
EMPTY, ENERGY, OBSTACLE, AGENT = " ", "E", "O", "A"
SYMBOLS = (EMPTY, ENERGY, OBSTACLE, AGENT)

_HEADER = "    " + "   ".join(str(column) for column in range(SIZE)) + " "
_RULE = "  " + "+---" * SIZE + "+"

Cell = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Grid:
    """Layout of energy, obstacles and the start; arrays (11, 11) bool, cells (row, column), row 0 on top."""

    energy: NDArray[np.bool_]
    obstacle: NDArray[np.bool_]
    start: Cell

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self.rows() == other.rows()

    def __hash__(self) -> int:
        return hash(self.to_text())

    def rows(self) -> list[list[str]]:
        """The grid as rows of one-character strings: " ", "E", "O" and one "A"."""
        symbols = np.where(self.energy, ENERGY, np.where(self.obstacle, OBSTACLE, EMPTY))
        symbols[self.start] = AGENT
        rows: list[list[str]] = symbols.tolist()
        return rows

    @classmethod
    def from_rows(cls, rows: list[list[str]], where: str = "grid") -> Grid:
        """The inverse of `rows`.

        Raises InputError for a wrong shape, an unknown symbol, or not exactly one agent.
        """
        if len(rows) != SIZE or any(len(row) != SIZE for row in rows):
            shape = f"{len(rows)} rows of {sorted({len(row) for row in rows})} cells"
            raise InputError(f"a grid of {shape}", where, f"{SIZE} rows of {SIZE} cells are needed")
        symbols = np.array(rows)
        strange = sorted(set(symbols.ravel().tolist()) - set(SYMBOLS))
        if strange:
            raise InputError(f"unknown cell {strange[0]!r}", where, "cells are blank, E, O or A")
        agents = np.argwhere(symbols == AGENT)
        if len(agents) != 1:
            raise InputError(f"{len(agents)} agents", where, "exactly one cell must be A")
        row, column = (int(v) for v in agents[0])
        return cls(energy=symbols == ENERGY, obstacle=symbols == OBSTACLE, start=(row, column))

    def to_text(self) -> str:
        """The benchmark's text form: a header of column numbers, and rows ` 0|   | E |…` between rules.

        >>> grid = Grid(np.zeros((11, 11), bool), np.zeros((11, 11), bool), (0, 2))
        >>> grid.to_text().splitlines()[2]
        ' 0|   |   | A |   |   |   |   |   |   |   |   |'
        """
        lines = [_HEADER, _RULE]
        for number, row in enumerate(self.rows()):
            lines += [f"{number:>2}|" + "".join(f" {symbol} |" for symbol in row), _RULE]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_text(cls, text: str, where: str = "grid") -> Grid:
        """Read the text form; rules and header are skipped, so that hand-written grids may leave them out."""
        lines = [line for line in text.splitlines() if "|" in line]
        return cls.from_rows(
            [[cell.strip() or EMPTY for cell in line.split("|")[1:-1]] for line in lines], where
        )
