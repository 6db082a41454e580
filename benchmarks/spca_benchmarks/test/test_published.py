"""The data file of the papers' cells: where a paper prints a figure twice, both are there and equal."""

import re
from collections import Counter

from spca_benchmarks.campaigns.published import PublishedCell, cells


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
