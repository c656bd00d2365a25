"""Cones of confidence: the numbers of the books, their levels, and what they warn of."""

import math

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

from spherapprox import VonMisesFisher, sphere
from spherapprox.directional import confidence_cone


def rows_of_length(n, length, columns):
    """Return n unit rows whose sum has a length, in opposite pairs about the last axis."""
    angle, turns = math.acos(length / n), np.pi * np.arange(n // 2) / (n // 2)
    x = np.zeros((n, columns))
    x[::2, :2] = math.sin(angle) * np.column_stack([np.cos(turns), np.sin(turns)])
    x[1::2, :2] = -x[::2, :2]
    x[:, -1] = math.cos(angle)
    return x


@pytest.mark.parametrize(("n", "length", "columns", "degrees"), [
    (26, 26 - 25 / 109, 3, 2.7276866325780826), (40, 36.0, 5, 6.745350697024693),
])  # fmt: skip
def test_cones_of_the_specification(n, length, columns, degrees):
    mean, angle = confidence_cone(rows_of_length(n, length, columns))
    assert np.degrees(angle) == pytest.approx(degrees, rel=1e-13)
    np.testing.assert_allclose(mean, np.eye(columns)[-1], atol=1e-15)
    if columns == 3:  # Fisher's closed form
        closed = 1.0 - (n - length) / length * (0.05 ** (-1.0 / (n - 1)) - 1.0)
        assert angle == pytest.approx(math.acos(closed), rel=1e-12)
        conditional = confidence_cone(rows_of_length(n, length, columns), method="conditional")[1]
        assert conditional == pytest.approx(angle, rel=1e-12)


def test_angles_of_other_levels_follow_the_f_law():
    x = rows_of_length(30, 29.0, 4)
    for level in (0.5, 0.9, 0.999):
        ratio = scipy.stats.f(3, 87).ppf(level)
        assert confidence_cone(x, level)[1] == pytest.approx(math.acos(1.0 - ratio / 29.0 / 29.0), rel=1e-12)


def test_narrow_samples_keep_their_digits():
    angles = []
    for kappa in (1e10, 1e14):
        x = VonMisesFisher([0.0, 0.6, 0.8], kappa).rvs(50, rng=3)
        angles.append(
            [confidence_cone(x, method=m, rng=0)[1] * math.sqrt(kappa) for m in ("F", "conditional", "bootstrap")]
        )
    np.testing.assert_allclose(*angles, rtol=1e-4)


@pytest.mark.parametrize(("columns", "kappa", "n", "method", "trials"), [
    (3, 20.0, 10, "F", 600), (3, 1.0, 20, "conditional", 400), (64, 40.0, 20, "conditional", 300),
    (3, 10.0, 40, "bootstrap", 300), (2, 3.0, 60, "bootstrap", 300),
])  # fmt: skip
def test_cones_hold_the_true_mean_as_often_as_they_say(columns, kappa, n, method, trials):
    rng, distribution = np.random.default_rng(columns + n), VonMisesFisher(np.eye(columns)[0], kappa)
    count = 0
    for _ in range(trials):
        mean, angle = confidence_cone(distribution.rvs(n, rng=rng), 0.9, method, n_resamples=199, rng=rng)
        count += mean[0] >= math.cos(angle)
    assert abs(count / trials - 0.9) < 4 * math.sqrt(0.09 / trials)


def test_the_f_law_warns_where_rows_are_too_wide_for_it():
    x = VonMisesFisher(np.eye(768)[0], 500.0).rvs(100, rng=0)
    with pytest.warns(RuntimeWarning, match="too wide for the F law .* 1.5 times too large.*'conditional'"):
        wrong = confidence_cone(x)[1]
    mean, angle = confidence_cone(x, method="conditional")
    assert wrong < math.acos(mean[0]) < angle


def test_bootstrap_takes_the_quantile_of_pivots():
    n, count = 25, 199
    x = VonMisesFisher([0.0, 0.6, 0.8], 4.0).rvs(n, rng=2)

    def parts(weights):
        """Return the mean direction, and what 1 - cos is multiplied by in the pivot."""
        mean = weights @ x / n
        direction = mean / np.linalg.norm(mean)
        return direction, mean @ mean / (1.0 - weights @ (x @ direction) ** 2 / n)

    center, factor = parts(np.ones(n))
    samples = [parts(weights) for weights in np.random.default_rng(7).multinomial(n, np.full(n, 1 / n), size=count)]
    pivots = sorted(scale * (1.0 - direction @ center) for direction, scale in samples)
    mean, angle = confidence_cone(x, 0.9, "bootstrap", n_resamples=count, rng=7)
    np.testing.assert_allclose(mean, center, atol=1e-15)
    assert 1.0 - math.cos(angle) == pytest.approx(pivots[179] / factor, rel=1e-12)  # the 180th of 200


def test_bootstrap_depends_on_its_seed_alone_and_widens_where_clusters_do():
    x = VonMisesFisher([0.0, 0.0, 1.0], 10.0).rvs(60, rng=1)
    first = confidence_cone(x, method="bootstrap", rng=5)[1]
    assert first == confidence_cone(x, method="bootstrap", rng=np.random.default_rng(5))[1]
    assert first != confidence_cone(x, method="bootstrap", rng=6)[1]
    side = np.where(np.arange(60) % 2, 0.6, -0.6)  # two directions, told from each other
    two = np.column_stack([side, 0.01 * np.sin(np.arange(60.0)), np.full(60, 0.8)])
    two /= np.linalg.norm(two, axis=1)[:, None]
    assert confidence_cone(two, method="bootstrap", rng=0)[1] > confidence_cone(two)[1]


def test_kinds_of_rows_and_ends():
    x = sphere.uniform(30, 40, rng=0) * (np.random.default_rng(1).random((40, 31)) < 0.3) + np.eye(31)[0]
    x /= np.linalg.norm(x, axis=1)[:, None]
    for method in ("F", "conditional"):
        mean, angle = confidence_cone(x, method=method)
        sparse_mean, sparse_angle = confidence_cone(scipy.sparse.csr_array(x), method=method)
        np.testing.assert_allclose(sparse_mean, mean, atol=1e-15)
        assert sparse_angle == pytest.approx(angle, rel=1e-12)
    balanced = np.concatenate([np.eye(3), -np.eye(3)])
    for method in ("F", "conditional", "bootstrap"):
        assert confidence_cone(balanced, method=method, rng=0)[1] == math.pi
    assert confidence_cone(np.eye(2), method="conditional")[1] > 1.5  # n R^2 = 1: it might be uniform
