"""Intervals and tests, against worked examples of the papers they come from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_benchmarks.campaigns.statistics import Mean, Paired, Rate, groups

COUNT = st.integers(0, 60)


def test_wilson_interval() -> None:
    """Against the worked values of Newcombe (1998), table I: 81 of 263, 0.2553 to 0.3662."""
    low, high = Rate(good=81, total=263).interval
    assert low == pytest.approx(0.2553, abs=1e-4)
    assert high == pytest.approx(0.3662, abs=1e-4)


@given(COUNT, COUNT, COUNT, COUNT)
def test_the_paired_interval_holds_the_difference_and_turns_with_its_sign(
    a: int, b: int, c: int, d: int
) -> None:
    one, other = Paired(both=a, first=b, second=c, neither=d), Paired(both=a, first=c, second=b, neither=d)
    (low, high), (other_low, other_high) = one.interval, other.interval
    assert -1 - 1e-9 <= low <= one.difference + 1e-9 and one.difference - 1e-9 <= high <= 1 + 1e-9
    assert low == pytest.approx(-other_high) and high == pytest.approx(-other_low)
    assert 0 < one.p_value <= 1 and one.p_value == pytest.approx(other.p_value)


def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs() -> None:
    """Five against none: 2 / 2^5; and a difference of nothing has no significance."""
    assert Paired(both=10, first=5, second=0, neither=3).p_value == pytest.approx(2 / 32)
    assert Paired(both=10, first=4, second=4, neither=3).p_value == 1.0


def test_pairs_and_groups_are_counted() -> None:
    found = Paired.of([(True, True), (True, False), (False, True), (True, False), (False, False)])
    assert (found.both, found.first, found.second, found.neither) == (1, 2, 1, 1)
    assert found.difference == pytest.approx(0.2)
    assert groups(["b1", "a1", "b2"], lambda s: s[0]) == {"b": ["b1", "b2"], "a": ["a1"]}


def test_the_interval_of_a_mean_is_student_s() -> None:
    """Against a table of t: of three values, 4.3027 standard errors to each side; one value has none."""
    found = Mean.of([1.0, 2.0, 3.0])
    assert (found.value, found.sd) == (2.0, 1.0)
    assert found.half_width == pytest.approx(4.3027 / 3**0.5, abs=1e-4)
    assert Mean.of([1.0]).half_width == float("inf") and Mean.of([]).half_width == 0.0
