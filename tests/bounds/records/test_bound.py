"""Bound: logs, sides, trivial values, safe integers."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds import Bound, prefix_length
from bounds.records import Hypothesis, HypothesisError
from bounds.records.bound import MAX_DIGITS, format_log10, settle
from bounds.theorems import state


def bound(log, side="upper", **options):
    return Bound("prefix length", log, side, "name", "source", **options)


@given(st.integers(2, 2**52))
def test_as_integer_is_on_the_safe_side(count):
    assert bound(math.log(count)).as_integer() >= count
    assert bound(math.log(count), "lower").as_integer() <= count


@given(st.integers(1, 10**6))
def test_whole_bounds_are_exact(count):
    assert bound(math.log(count), whole=True).as_integer() == count
    assert bound(math.log(count), whole=True).value == count


def test_as_integer_of_hundreds_of_digits():
    thesis = prefix_length(0.1, dim=8, theorem=state("thesis-core", jackson_constant=1))
    number = thesis.as_integer()
    assert len(str(number)) == 668
    assert abs(Fraction(number, 10**667) - Fraction(str(10 ** (thesis.log10 - 667)))) < Fraction(1, 10**7)


def test_as_integer_has_thousands_of_digits():
    assert len(str(bound(0.99 * MAX_DIGITS * math.log(10)).as_integer())) > 4000


def test_value_overflows_to_inf_and_underflows_to_zero():
    assert bound(1e4).value == math.inf
    assert bound(-1e4, "lower").value == 0.0


def test_settle_gives_the_trivial_value_on_the_right_side():
    fails = (Hypothesis("dim >= 8", False), Hypothesis("eps < 1", True))
    assert settle(bound(5.0, hypotheses=fails)).value == math.inf
    assert settle(bound(5.0, "lower", hypotheses=fails)).value == 1.0
    error = Bound("sup error", 5.0, "lower", "name", "source", fails)
    assert settle(error).value == 0.0
    with pytest.raises(HypothesisError, match="source needs dim >= 8"):
        settle(error).require()
    assert (itself := bound(5.0)).require() is itself


def test_prints_as_one_line():
    text = str(prefix_length(0.1, dim=2, theorem="thesis-core"))
    assert "needs dim >= 8" in text
    assert "inf" in text
    assert "\n" not in text
    assert format_log10(-math.inf) == "0"


def test_a_count_from_below_is_rounded_up():
    # N >= 81.01 leaves N >= 82; N >= 0.3 and N >= 1 leave 1
    assert bound(math.log(81.01), "lower").as_integer() == 82
    assert bound(math.log(81.0), "lower").as_integer() == 81
    assert bound(0.0, "lower").as_integer() == 1
    error = Bound("sup error", math.log(81.01), "lower", "name", "source")
    assert error.as_integer() == 81
