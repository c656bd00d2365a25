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
    values = core_values(first, rows, concentration)
    np.testing.assert_allclose(values, float(peak(dim, concentration)) * rows[:, 0] / 7, rtol=1e-12, atol=1e-300)


def test_the_peak_has_no_cancellation_at_large_concentrations():
    # On S^2 c exp(lambda) = 2 lambda / (1 - exp(-2 lambda)).
    values = core_values(lambda x: np.ones(len(x)), np.eye(3), 1e12)
    np.testing.assert_allclose(values, 2e12 / 3, rtol=1e-13)
    gauss = points.gauss_product(2, 4)  # whose weights enter
    values = core_values(lambda x: x[:, :2], gauss, 0.0)
    np.testing.assert_allclose(values, gauss.points[:, :2] * gauss.weights[:, None], rtol=1e-15, atol=1e-30)


def test_nodes_of_partitions_sets_and_rows():
    partition = EqualMeasurePartition(3, 20)
    for origin, rows, weights in (
        (partition, partition.centers(), None), (np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32), None),
        (PointSet(np.eye(3)), np.eye(3), np.full(3, 1 / 3)),
    ):  # fmt: skip
        result = nodes(origin)
        np.testing.assert_array_equal(result[0], rows)
        assert result[0].dtype == rows.dtype
        assert (result[1] is None) if weights is None else np.array_equal(result[1], weights)


def test_split_values_are_the_targets():
    np.testing.assert_array_equal(split_values(first, np.eye(3), 1.0), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(split_values(first, PointSet(np.eye(3)), 1.0), [1.0, 0.0, 0.0])
    rows = np.eye(3, dtype=np.float32)
    assert split_values(first, rows, 1.0).dtype == core_values(first, rows, 10.0).dtype == np.float32
    assert core_values(first, rows, 1e40).dtype == np.float64  # the peak is beyond float32


@pytest.mark.parametrize("values", [core_values, split_values])
@pytest.mark.parametrize("rule", ["riemann", "interpolation", "least_squares"])
def test_values_are_no_part_of_the_points(values, rule):
    rows = points.fibonacci(60).points.copy()
    result = values(lambda x: x[:, 0], rows, 5.0, rule)
    assert not np.shares_memory(result, rows)
    result[:] = 7.0
    np.testing.assert_array_equal(rows, points.fibonacci(60).points)
