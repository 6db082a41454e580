"""The one mapping between simulator models (`box_red`), symbols (`cube_red`) and words ("red cube")."""

from __future__ import annotations

COBOT = "cobot"
TABLE = "table_lightgray"
GROUND = "ground_plane"
TABLE_SYMBOL = "table"
GROUND_SYMBOL = "ground"

_KIND_OF_MODEL = {"box": "cube", "plate": "plate"}


def symbol_of(model: str) -> str:
    """Return the planning symbol of a simulator model.

    >>> symbol_of("box_red"), symbol_of("table_lightgray")
    ('cube_red', 'table')
    """
    if model == TABLE:
        return TABLE_SYMBOL
    if model == GROUND:
        return GROUND_SYMBOL
    kind, _, rest = model.partition("_")
    return f"{_KIND_OF_MODEL[kind]}_{rest}" if kind in _KIND_OF_MODEL and rest else model


def words_of(symbol: str) -> str:
    """Return the plain words for a symbol.

    >>> words_of("cube_red"), words_of("table"), words_of("left_of__cube_red")
    ('red cube', 'table', 'left of the red cube')
    """
    from spca_core.relation import place_of

    if (place := place_of(symbol)) is not None:
        return place.words
    kind, _, colour = symbol.partition("_")
    return f"{colour.replace('_', ' ')} {kind}" if colour else kind
