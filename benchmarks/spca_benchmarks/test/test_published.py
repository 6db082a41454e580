"""The data file of the papers' cells: where a paper prints a figure twice, both are there and equal."""

import re
from collections import Counter

import pytest

from spca_benchmarks.campaigns.published import PublishedCell, cells, printed, published


def of(seed: str, table: str) -> dict[tuple[str, str], PublishedCell]:
    return {(c.row, c.column): c for c in cells().values() if (c.seed, c.table) == (seed, table)}


def test_every_cell_is_a_number_or_one_of_few_words() -> None:
    found = list(cells().values())
    assert Counter(c.seed for c in found).keys() == {"SPCA", "GRASP", "IPP", "WorldCoder", "CoPiC"}
    words = {c.value for c in found if not re.fullmatch(r"[+-]?\d+(\.\d+)?(e-?\d+)?", c.value)}
    assert len(found) > 1900 and words == {"OOM", "+∞"}


def test_a_table_printed_again_with_deviations_has_the_same_means() -> None:
    once, again = of("IPP", "Table 1"), of("IPP", "Table 4")
    assert len(once) == 180 and all(again[key].value == cell.value for key, cell in once.items())
    first = of("CoPiC", "Table 1")
    for table, own in (("Table 11", "CoPiC (Ours)"), ("Table 14", "CoPiC (0.6)")):
        same = {column: c.value for (name, column), c in of("CoPiC", table).items() if name == own}
        assert len(same) == 12 and all(first["CoPiC (Ours)", name].value == v for name, v in same.items())


@pytest.mark.parametrize(
    ("table", "total", "calls"),
    [("Table 2", "Table 1", "Planner API calls"), ("Table 3", "Table 1", "Coder API calls"),
     ("Table 7", "Table 6", "Planner API calls"), ("Table 8", "Table 6", "Coder API calls")],
)  # fmt: skip
def test_calls_add_up_to_the_total_of_another_table(table: str, total: str, calls: str) -> None:
    assert sum(int(c.value) for (_, name), c in of("SPCA", table).items() if name == "calls") == published(
        "SPCA", total, calls
    )


def test_a_table_is_printed_with_its_own_heads() -> None:
    table = printed("CoPiC", "Table 13")
    assert table.heads == ("CoPiC, Table 13", "Lift", "Pick-and-Place", "Stack-Three-Cubes")
    assert table.rows == [("CoPiC", "100.00", "96.67", "91.67"), ("GPT-3.5", "78.33", "65.00", "48.33")]
