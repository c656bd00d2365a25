"""Values of any size, and results beyond the floats."""

import mpmath as mp
import numpy as np
import pytest
from sums import exact, sphere

from spherapprox import evaluate
from spherapprox.summation import evaluate_log, explain_sum


def test_huge_values_do_not_overflow_on_the_way(method):
    b = sphere(8, 2, 17)
    values = np.array([1.5e308] * 7 + [-1.5e308])
    np.testing.assert_allclose(evaluate(b[:1], b, values, 0.0, normalize=True, method=method), [1.125e308], rtol=1e-15)
    values[-1] = 0.0
    np.testing.assert_allclose(
        evaluate(b[:1], b, -values - 1.0, 0.0, normalize=True, method=method), [-1.3125e308], rtol=1e-15
    )
    balanced = np.array([1.5e308, 1.5e308, -1.5e308, -1.5e308, 1e300, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(evaluate(b[:1], b, balanced, 0.0, method=method), [1e300], rtol=1e-6)


@pytest.mark.parametrize("concentration", [0.0, 1e-300, 5.0, 70.0, 1e4])
def test_log_takes_any_range_of_values(method, concentration):
    b, x = sphere(20, 2, 19), sphere(3, 2, 20)
    values = 10.0 ** np.random.default_rng(21).uniform(-300.0, 300.0, 20)
    values[3] = 0.0
    table = np.stack([values, values[::-1], 0.0 * values], axis=1)
    for normalize in (False, True):
        got = evaluate_log(x, b, table, concentration, normalize=normalize, method=method)
        assert (got[:, 2] == -np.inf).all()
        for i, row in enumerate(x):
            for j in (0, 1):
                expected = mp.log(exact(row, b, table[:, j], concentration, normalize))
                assert abs(mp.mpf(float(got[i, j])) - expected) <= 1e-15 * (1000.0 + 2.0 * concentration)


def test_values_over_hundreds_of_decades_are_summed_to_their_last_digits():
    x, b = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [-1.0, 0.0]])
    with mp.workdps(30):
        far = float(mp.mpf(1e300) * mp.exp(-800))
    for near in (0.0, 1e-300, 1e-40, 1.0):
        for method in ("dense", "truncated", "auto", "numpy"):
            got = evaluate(x, b, [near, 1e300], 400.0, method=method)
            np.testing.assert_allclose(got, [near + far], rtol=1e-11)
            table = np.array([[near, 1.0, 0.0], [1e300, 2.0, 1e300]])
            got, plan = explain_sum(x, b, table, 400.0, method=method)
            np.testing.assert_allclose(got, [[near + far, 1.0, far]], rtol=1e-11)
            assert plan.atol < 1e-290
            got, plan = explain_sum(x, b, table, 400.0, method=method, normalize=True)
            np.testing.assert_allclose(got, [[near + far, 1.0, far]], rtol=1e-11)
            assert plan.atol < 1e-90


def test_huge_values_count_where_the_nearest_points_have_none():
    x, b = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [-1.0, 0.0]])
    with mp.workdps(30):
        far = float(mp.mpf(1e100) * mp.exp(-860))
    for method in ("dense", "truncated", "numpy"):
        got = evaluate(x, b, [[0.0, 1.0], [1e100, 1e100]], 430.0, method=method)
        np.testing.assert_allclose(got, [[far, 1.0]], rtol=1e-11)
        got = evaluate(x, b, [[0.0, 1.0], [1e100, 1.0]], 430.0, method=method)
        np.testing.assert_allclose(got, [[far, 1.0]], rtol=1e-11)


@pytest.mark.parametrize("values", [[0.0, 2.0**-600], [1.0, 2.0**-600]])
def test_tiny_values_have_their_share_where_all_points_are_far(method, values):
    along = 1.0 - 470.0 / 700.0  # exponentials of 2^-678, which are no reason to sum again
    b = np.array([[along, np.sqrt(1.0 - along**2)], [along, -np.sqrt(1.0 - along**2)]])
    table = np.array([values, [values[1], values[1]]]).T  # of the second column all values are tiny
    got = evaluate(np.array([[1.0, 0.0]]), b, table, 700.0, normalize=True, method=method)
    np.testing.assert_allclose(got, [[sum(values) / 2.0, values[1]]], rtol=1e-12)


def test_results_beyond_the_floats_are_warned_of(method):
    x, b = np.eye(2)[:1], np.tile(np.eye(2)[:1], (2, 1))
    with pytest.warns(RuntimeWarning, match="results beyond the largest float64 are infinite"):
        assert evaluate(x, b, [1.7e308, 1.7e308], 1.0, method=method) == np.inf
    with pytest.warns(RuntimeWarning, match="results beyond the largest float32 are infinite"):
        assert evaluate_log(x.astype("f4"), -b.astype("f4"), np.ones(2, "f4"), 1e40, method=method) == -np.inf


@pytest.mark.parametrize("concentration", [1e16, 1e20, 1e100])
def test_values_of_different_size_meet_the_nearest_points_at_any_concentration(method, concentration):
    x = sphere(37, 52, 1)
    values = np.array([1e-300, 0.0, 0.0, 0.0, 8.0])
    result = evaluate(x, x[[0, 0, 0, 0, 1]], values, concentration, normalize=True, method=method)
    np.testing.assert_allclose(result[:2], [2.5e-301, 8.0], rtol=1e-14)
    assert np.isfinite(result).all()
