import mpmath as mp
import numpy as np
import pytest

from spherapprox import EqualMeasurePartition, PointSet, points
from spherapprox.coefficients import core_values, split_values
from spherapprox.points import nodes


def first(x):
    return x[:, 0]


def peak(dim, concentration):
    """The kernel at its centre, c exp(lambda), to 40 digits."""
    with mp.workdps(40):
        nu, x = mp.mpf(dim - 1) / 2, mp.mpf(concentration)
        area = 2 * mp.pi ** (nu + 1) / mp.gamma(nu + 1)
        bessel = mp.besseli(nu, x, maxterms=10**6) * mp.exp(-x)
        return area * x**nu / ((2 * mp.pi) ** (nu + 1) * bessel)


@pytest.mark.parametrize("dim", [1, 2, 8, 64])
@pytest.mark.parametrize("concentration", [1e-3, 1.0, 300.0, 2e4])
def test_riemann_is_the_kernels_peak_times_measure_times_value(dim, concentration):
    rows, _ = nodes(EqualMeasurePartition(dim, 7))
    got = core_values(first, rows, concentration)
    wanted = float(peak(dim, concentration)) * rows[:, 0] / 7
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-300)


def test_the_peak_has_no_cancellation_at_large_concentrations():
    # On S^2 c exp(lambda) = 2 lambda / (1 - exp(-2 lambda)).
    got = core_values(lambda x: np.ones(len(x)), np.eye(3), 1e12)
    np.testing.assert_allclose(got, 2e12 / 3, rtol=1e-13)


def test_weights_enter_the_core_head():
    gauss = points.gauss_product(2, 4)
    rows, weights = nodes(gauss)
    np.testing.assert_array_equal(rows, gauss.points)
    got = core_values(lambda x: np.stack([x[:, 0], x[:, 1]], axis=1), gauss, 0.0)
    np.testing.assert_allclose(got, rows[:, :2] * weights[:, None], rtol=1e-15, atol=1e-30)


def test_nodes_of_a_partition_and_of_rows():
    partition = EqualMeasurePartition(3, 20)
    rows, weights = nodes(partition)
    np.testing.assert_array_equal(rows, partition.centers())
    assert weights is None
    rows, weights = nodes(np.eye(3, dtype=np.float32))
    assert rows.dtype == np.float32
    assert weights is None


def test_split_values_are_the_targets():
    np.testing.assert_array_equal(split_values(first, np.eye(3), 1.0), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(split_values(first, PointSet(np.eye(3)), 1.0), [1.0, 0.0, 0.0])


def test_float32_stays_while_it_can():
    rows = np.eye(3, dtype=np.float32)
    assert core_values(first, rows, 10.0).dtype == np.float32
    assert split_values(first, rows, 1.0).dtype == np.float32
    assert core_values(first, rows, 1e40).dtype == np.float64  # the peak is beyond float32


def test_point_sets_of_any_origin():
    rows, weights = nodes(PointSet(np.eye(3)))
    np.testing.assert_array_equal(rows, np.eye(3))
    np.testing.assert_allclose(weights, 1 / 3, rtol=1e-15)


@pytest.mark.parametrize("values", [core_values, split_values])
@pytest.mark.parametrize("rule", ["riemann", "interpolation", "least_squares"])
def test_values_are_no_part_of_the_points(values, rule):
    rows = points.fibonacci(60).points.copy()
    found = values(lambda x: x[:, 0], rows, 5.0, rule)
    assert not np.shares_memory(found, rows)
    found[:] = 7.0
    np.testing.assert_array_equal(rows, points.fibonacci(60).points)
