"""Norms of values of any size, against exact ones."""

import numpy as np
import pytest

from spherapprox._norms import directions, lengths, unit_of


@pytest.mark.parametrize("size", [5e-324, 3e-310, 1e-170, 1.0, 3.0, 1e170, 1.7e308])
def test_units_are_powers_of_2_near_the_largest_size(size):
    unit = unit_of([[0.5 * size, -size], [0.0, 0.0]])
    assert np.frexp(unit)[0] == 0.5
    assert 1.0 <= size / unit < 2.0


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1.0, 1e170, 3e307])
def test_lengths_of_any_size(size):
    np.testing.assert_allclose(lengths(size * np.array([[3.0, 4.0], [0.0, 0.0]])), [5.0 * size, 0.0], rtol=1e-15)


def test_lengths_and_directions_of_rows_of_many_sizes():
    sizes = np.array([1e-300, 1e-170, 1.0, 1e170, 3e307])
    rows = sizes[:, None] * np.array([[3.0, 4.0]])
    np.testing.assert_allclose(lengths(rows), 5.0 * sizes, rtol=1e-15)
    np.testing.assert_allclose(directions(rows), np.tile([0.6, 0.8], (5, 1)), rtol=1e-15)


def test_zeros_and_nothing_have_the_unit_1():
    assert unit_of(np.zeros((3, 2))) == unit_of(np.empty((0, 2))) == 1.0
    assert not lengths(np.zeros((3, 2))).any()
