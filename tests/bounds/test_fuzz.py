"""Every public function with edge values of its arguments: a sample of tests/reference/fuzz_bounds.py."""

import fuzz_bounds
import pytest

CASES = {"prefix_length": 120, "error_bound": 200, "best_concentration": 40, "ladder": 6}
SLOW = [name for name in fuzz_bounds.CALLABLES if name.startswith("certify.")]


@pytest.mark.parametrize("name", [name for name in fuzz_bounds.CALLABLES if name not in SLOW])
def test_a_call_ends_with_numbers_or_with_an_error_that_names_an_argument(name):
    assert not fuzz_bounds.fuzz([name], CASES.get(name, 50), seed=1, seconds=0)[name]


@pytest.mark.parametrize("name", SLOW)
def test_ball_arithmetic_ends_likewise(name):
    assert not fuzz_bounds.fuzz([name], 5, seed=1, seconds=0)[name]
