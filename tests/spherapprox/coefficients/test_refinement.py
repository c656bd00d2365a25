import numpy as np
import pytest
from scipy.spatial.distance import cdist

from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, VonMisesFisher, points, sup_error, targets
from spherapprox.coefficients import core_values, split_values

HEADS = pytest.mark.parametrize("kind", [CoreHead, SplitHead])


def pair(x):
    return np.stack([np.exp(x[:, 0]) * np.cos(2.0 * x[:, 1]), x[:, 0]], axis=1)


@HEADS
@pytest.mark.parametrize(("dim", "n", "concentration"), [(1, 50, 40.0), (2, 800, 40.0), (3, 1000, 15.0)])
def test_the_error_falls_on_smooth_targets(kind, dim, n, concentration):
    head = kind.from_target(pair, EqualMeasurePartition(dim, n), concentration)
    errors = [sup_error(head.refine(pair, k), pair, n=500, refine=1).lower for k in (0, 1, 3)]
    assert errors[1] < 0.5 * errors[0]
    assert errors[2] < errors[1]


def test_each_step_multiplies_the_error_of_a_harmonic():
    # On many equispaced points a head convolves: the error of degree l is 1 - a_l, then its powers.
    harmonic = targets.zonal_harmonic(1, 4)
    eigenvalue = VonMisesFisher(1, 60.0).eigenvalue(4)
    for kind in (CoreHead, SplitHead):
        head = kind.from_target(harmonic, EqualMeasurePartition(1, 200), 60.0)
        for k in (0, 1, 4):
            error = sup_error(head.refine(harmonic, k), harmonic, n=100, refine=1).lower
            assert error == pytest.approx((1.0 - eigenvalue) ** (k + 1), rel=1e-8)


@HEADS
def test_steps_are_those_of_the_matrix(kind):
    x = points.uniform(2, 30, 0).points
    a = np.exp(-4.0 * cdist(x, x, "sqeuclidean"))
    s, f = a / a.sum(axis=1, keepdims=True), pair(x)
    values = f.copy() if kind is SplitHead else np.zeros_like(f)
    refined = kind(x, values, 8.0).refine(pair, 3)
    for _ in range(3):
        values = values + (f - s @ values if kind is SplitHead else (f - a @ values) / a.sum(axis=1)[:, None])
    np.testing.assert_allclose(refined.values, values, rtol=1e-11, atol=1e-13)


@HEADS
def test_it_converges_to_interpolation_also_where_points_cluster(kind):
    x = points.uniform(2, 25, 0).points
    x = np.vstack([x, x[:15] + 0.1 * np.roll(x[:15], 1, axis=1)])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    head = kind(x, np.zeros((40, 2)), 300.0).refine(pair, 400)
    np.testing.assert_allclose(head(x), pair(x), atol=1e-8)
    values = core_values if kind is CoreHead else split_values  # which do not warn of gaps between 40 points
    np.testing.assert_allclose(head.values, values(pair, x, 300.0, "interpolation"), rtol=1e-5, atol=1e-5)


def test_refinement_keeps_points_and_concentration_in_float64():
    partition = EqualMeasurePartition(2, 50)
    head = SplitHead.from_target(lambda x: x[:, 0], partition, 20.0)
    refined = head.refine(lambda x: x[:, 0])
    assert refined.points is partition
    assert refined.concentration == 20.0
    assert isinstance(refined, SplitHead)
    np.testing.assert_array_equal(head.refine(lambda x: x[:, 0], 0).values, head.values)
    np.testing.assert_array_equal(head.refine(lambda x: x[:, 0], workers=2).values, refined.values)
    small = SplitHead(np.eye(3, dtype=np.float32), np.ones(3, dtype=np.float32), 1.0)
    assert small.refine(lambda x: x[:, 0]).values.dtype == np.float64
