"""Searches for concentrations: curves with more than one maximum."""

import math

import pytest

from bounds.theorems._search import best_concentration


@pytest.mark.parametrize("offset", [-14.0, -6.0, 6.0, 14.0])
@pytest.mark.parametrize("depth", [1.9, 2.1])
def test_the_deeper_of_two_minima_is_met_wherever_the_search_begins(offset, depth):
    start = 3.0

    def log_error(concentration):
        x = math.log(concentration) - start if concentration > 0.0 else math.inf
        return -2.0 * math.exp(-0.5 * x**2) - depth * math.exp(-0.5 * (x - offset) ** 2)

    best = math.log(best_concentration(log_error, 2, math.exp(-start)))
    assert best == pytest.approx(start + (offset if depth > 2.0 else 0.0), abs=1e-4)
