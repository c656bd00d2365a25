"""Heads for data: least squares by a second way, leaving out rows by refitting, and the best that could be chosen."""

import numpy as np
import pytest
from noisy_data import noisy, root_mean_square, smooth
from scipy.spatial.distance import cdist

from spherapprox import CoreHead, SplitHead, sphere
from spherapprox.fitting import fit_recipe, smoothing
from spherapprox.fitting.fixed_points import Effort, farthest_rows, k_means, select

both = pytest.mark.parametrize("kind", [CoreHead, SplitHead])


def fit(kind, x, y, points="fixed", *, effort=Effort(), n="auto", **options):  # noqa: B008
    """Fit with all the errors, and another effort than usual."""
    return fit_recipe(x, y, points, n=n, normalize=kind is SplitHead, rng=0, effort=effort, **options)


def head_of(kind, recipe):
    return kind(recipe.control_points, recipe.values, recipe.concentration)


def matrix(head, x):
    """Return the head's matrix from values to what it returns at x."""
    return type(head)(head.control_points, np.eye(len(head)), head.concentration)(x)


def least_squares(kind, x, y, b, concentration, mu, w=None):
    """Return the values that minimise what `fit` says, from the normal equations."""
    w = np.ones(len(x)) if w is None else w
    K = matrix(kind(b, np.zeros(len(b)), concentration), x)
    if kind is CoreHead:
        A = matrix(kind(b, np.zeros(len(b)), concentration), b)
        return np.linalg.solve(K.T * w @ K + mu * A, K.T * w @ y)
    W = np.column_stack([K, np.ones(len(x))])  # unknowns v - c and c
    penalty = np.diag([mu] * len(b) + [0.0])
    solution = np.linalg.solve(W.T * w @ W + penalty, W.T * w @ y)
    return solution[:-1] + solution[-1]


@both
@pytest.mark.parametrize("mu", [1e-3, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_regularised_least_squares(kind, mu, weighted):
    x, y = noisy(80, 0.3)
    w = 100.0 * np.random.default_rng(5).uniform(size=80) if weighted else None
    for data in (y, np.stack([y, x[:, 0]], axis=1)):
        head = kind.fit(x, data, n=15, concentration=3.0, regularization=mu, weights=w, rng=0)
        assert head.values.shape == (15, *data.shape[1:])
        wanted = least_squares(kind, x, data, head.control_points, 3.0, mu, w)
        np.testing.assert_allclose(head(x), matrix(head, x) @ wanted, rtol=0, atol=1e-9)


@both
def test_a_weight_counts_as_so_many_rows(kind):
    x, y = noisy(60, 0.3)
    w = np.random.default_rng(6).integers(0, 4, size=60)
    order = np.random.default_rng(7).permutation(w.sum())
    rows, data = np.repeat(x, w, axis=0)[order], np.repeat(y, w)[order]
    whole, short = fit(kind, rows, data, n=20), fit(kind, x, y, n=20, weights=w)
    scaled = fit(kind, x, y, n=20, weights=1e200 * w)
    np.testing.assert_allclose(short.control_points, whole.control_points, rtol=0, atol=1e-12)
    for other in (whole, scaled):
        np.testing.assert_allclose(head_of(kind, other)(x), head_of(kind, short)(x), rtol=0, atol=1e-5)
    assert (short.concentration, short.error) == pytest.approx((whole.concentration, whole.error))
    assert scaled.regularization == pytest.approx(1e200 * short.regularization)


@both
def test_rows_that_are_equal_are_left_out_together(kind):
    x, y = noisy(40, 0.3)
    rows, data = np.concatenate([x, x[:15]]), np.concatenate([y, y[:15] + 1.0])
    found = fit(kind, rows, data, n=40, concentration=4.0, regularization=0.1)
    total = 0.0
    for i in range(40):
        rest, same = ((rows == x[i]).all(axis=1) == wanted for wanted in (False, True))
        values = least_squares(kind, rows[rest], data[rest], found.control_points, 4.0, 0.1)
        total += np.square(kind(found.control_points, values, 4.0)(x[i : i + 1])[0] - data[same]).sum()
    assert found.error == pytest.approx((total / 55) ** 0.5, rel=1e-6)


@both
def test_without_a_number_there_are_300_control_points_at_most(kind):
    x, y = noisy(320, 0.1)
    assert len(kind.fit(x[:40], y[:40], concentration=5.0, regularization=0.1)) == 40
    assert len(kind.fit(x, y, concentration=5.0, regularization=0.1)) == 300


def test_roundings_choose_no_control_points():
    latitudes, longitudes = np.meshgrid(np.arange(-80.0, 81.0, 20.0), np.arange(0.0, 360.0, 20.0))
    x = sphere.from_latitude_longitude(latitudes.ravel(), longitudes.ravel())  # many rows are equally far apart
    chosen = select(x, np.ones(len(x)), 60, np.random.default_rng(0))
    for seed in range(3):
        moved = x + 1e-16 * np.random.default_rng(seed).standard_normal(x.shape)
        rows, others = (farthest_rows(points, 60, np.random.default_rng(0)) for points in (x, moved))
        assert np.array_equal(rows, others)
        assert len(set(rows)) == 60
        other = select(moved, np.ones(len(x)), 60, np.random.default_rng(0))
        np.testing.assert_allclose(other, chosen, rtol=0, atol=1e-12)


@both
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_roundings_choose_no_parameters(kind, noise):
    x, y = noisy(150, noise)
    one = fit(kind, x, y, n=40)
    for seed in range(2):
        moved = y * (1.0 + 1e-15 * np.random.default_rng(seed).standard_normal(150))
        other = fit(kind, x, moved, n=40)
        assert other.concentration == one.concentration
        assert other.regularization == pytest.approx(one.regularization, rel=1e-9)


@both
def test_control_points_are_doubled_while_that_lowers_the_error(kind):
    effort = Effort(points=12)
    (x, y), t = noisy(300, 0.05), sphere.uniform(2, 500, rng=9)
    few, auto = (fit(kind, x, y, n=n, effort=effort) for n in (12, "auto"))
    errors = [root_mean_square(head_of(kind, recipe)(t) - smooth(t)) for recipe in (few, auto)]
    assert len(auto.values) in (48, 96, 192)
    assert errors[1] < 0.2 * errors[0]
    weights = 1.0 * (np.arange(300) < 250)  # rows of weight 0 are none
    weighted, cut = fit(kind, x, y, effort=effort, weights=weights), fit(kind, x[:250], y[:250], effort=effort)
    assert head_of(kind, weighted) == head_of(kind, cut)
    assert fit(kind, x, y, effort=effort, concentration=2.0).concentration == 2.0
    noise = np.random.default_rng(2).standard_normal(300)
    assert [len(fit(kind, x, noise, points, effort=effort).values) for points in ("fixed", "free")] == [12, 12]
    assert len(fit(kind, x[:20], y[:20], effort=effort).values) <= 20
    assert len(fit(kind, x, y, effort=effort._replace(work=20.0 * (300 + 96) * 24**2)).values) == 24


def test_all_rows_are_kernel_ridge_regression():
    x, y = noisy(60, 0.3)
    head = CoreHead.fit(x, y, n=60, concentration=5.0, regularization=0.1, rng=0)
    np.testing.assert_array_equal(np.unique(x, axis=0), head.control_points)
    dual = np.linalg.solve(np.exp(-2.5 * cdist(x, x, "sqeuclidean")) + 0.1 * np.eye(60), y)
    t = sphere.uniform(2, 50, rng=7)
    np.testing.assert_allclose(head(t), CoreHead(x, dual, 5.0)(t), rtol=0, atol=1e-9)


@both
def test_tiny_regularisations_are_rounding_errors(kind):
    x, y = noisy(80, 0.3)
    x = np.repeat(x[:40], 2, axis=0)
    heads = [kind.fit(x, y, n=30, concentration=1.0, regularization=mu, rng=0) for mu in (1e-300, 1e-20)]
    np.testing.assert_array_equal(heads[0].values, heads[1].values)
    assert np.abs(heads[0](x)).max() < 2.0 * np.abs(y).max()


@both
def test_leaving_out_in_closed_form_is_leaving_out(kind):
    x, y = noisy(40, 0.3)
    table, b = np.stack([y, x[:, 0]], axis=1), sphere.uniform(2, 10, rng=3)
    squares, between = cdist(x, b, "sqeuclidean"), cdist(b, b, "sqeuclidean")
    w = np.random.default_rng(4).uniform(0.1, 3.0, size=40)
    if kind is CoreHead:
        smoother = smoothing.core_smoother(squares, between, table, w=w, concentration=4.0)
    else:
        smoother = smoothing.split_smoother(squares, table, w, 4.0)
    regularizations = np.array([1e-6, 1e-2, 1.0])
    for mu, error in zip(regularizations, smoother.errors(regularizations), strict=True):
        total = 0.0
        for i in range(40):
            rest = np.arange(40) != i
            values = least_squares(kind, x[rest], table[rest], b, 4.0, mu, w[rest])
            total += w[i] * np.square(kind(b, values, 4.0)(x[i : i + 1])[0] - table[i]).sum()
        np.testing.assert_allclose(error, total / w.sum(), rtol=1e-6)
    mu, error = smoother.best()
    assert error <= smoother.errors(smoothing.GRID * smoother.s.max()).min()
    np.testing.assert_allclose(smoother.errors(np.array([mu])), error, rtol=1e-12)


@both
@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_cross_validation_is_near_the_best_possible(kind, noise):
    x, y = noisy(400, noise)
    t = sphere.uniform(2, 500, rng=9)
    truth = smooth(t)
    head = kind.fit(x, y, n=60, rng=0)
    achieved = root_mean_square(head(t) - truth)
    best = np.inf
    for concentration in 2.0 ** np.arange(-1, 6):
        for mu in 10.0 ** np.arange(-8, 2, 1.5):
            values = least_squares(kind, x, y, head.control_points, concentration, mu)
            best = min(best, root_mean_square(kind(head.control_points, values, concentration)(t) - truth))
    assert achieved < 1.15 * best
    assert achieved < 0.6 * noise


@both
def test_data_without_noise_are_met_between_the_rows(kind):
    x, y = noisy(300, 0.0)
    t = sphere.uniform(2, 300, rng=9)
    head = kind.fit(x, y, n=100, rng=0)
    assert root_mean_square(head(t) - smooth(t)) < 0.03


@both
def test_a_search_with_few_control_points_ends_near_that_with_all(kind):
    x, y = noisy(200, 0.2)
    whole, short = (fit(kind, x, y, n=80, effort=effort) for effort in (Effort(), Effort(coarse_points=40)))
    assert len(short.values) == 80
    assert short.error < 1.1 * whole.error
    assert 0.25 < short.concentration / whole.concentration < 4.0


@both
def test_what_is_given_is_kept_and_the_rest_chosen(kind):
    x, y = noisy(100, 0.2)
    assert kind.fit(x, y, n=10, concentration=7.0, rng=0).concentration == 7.0
    chosen = fit(kind, x, y, n=10, regularization=0.3)
    assert chosen.regularization == 0.3
    assert chosen.error <= fit(kind, x, y, n=10, regularization=0.3, concentration=50.0).error
    assert fit(kind, x, y, n=10).error <= chosen.error * 1.001


@both
def test_it_is_deterministic_and_scales(kind):
    x, y = noisy(100, 0.2)
    head = kind.fit(x, y, n=12, rng=3)
    np.testing.assert_array_equal(kind.fit(x, y, n=12, rng=np.random.default_rng(3)).values, head.values)
    assert head.points is head.control_points
    for factor in (2.0**-600, 2.0**600):
        np.testing.assert_array_equal(kind.fit(x, factor * y, n=12, rng=3).values, factor * head.values)


@both
@pytest.mark.parametrize("dim", [1, 5])
def test_float32_data_on_any_sphere_keep_their_type_and_digits(kind, dim):
    x = sphere.uniform(dim, 120, rng=0).astype(np.float32)
    y = x[:, :2]
    head = kind.fit(x, y, n=40, rng=0)
    assert head.values.dtype == head.control_points.dtype == np.float32
    assert root_mean_square(head(x) - y) < 0.05
    wanted = kind(head.control_points.astype(float), head.values.astype(float), head.concentration)(x.astype(float))
    assert root_mean_square(head(x) - wanted) < 1e-4  # values are not so large that float32 loses them
    assert kind.fit(x, y.astype(float), n=40, rng=0).values.dtype == np.float64


@both
def test_noise_alone_cannot_be_predicted(kind):
    x, y = sphere.uniform(5, 150, rng=0), np.random.default_rng(1).standard_normal(150)
    for concentration in (None, 1e3):  # all rows are control points: residuals vanish without regularisation
        error = fit(kind, x, y, n=150, concentration=concentration).error
        assert 0.9 * y.std() < error < 1.1 * y.std() or error == np.inf
    assert root_mean_square(kind.fit(x, y, n=150, rng=0)(sphere.uniform(5, 200, rng=2))) < 0.5


def test_values_are_not_too_large_for_float32():
    x, y = (array.astype(np.float32) for array in noisy(200, 0.0))
    for mu, most in ((None, 0.2), (1e-8, 0.1)):
        head = CoreHead.fit(x, y, n=100, concentration=0.3, regularization=mu, rng=0)
        assert root_mean_square(head(x) - y) < most
    double = CoreHead.fit(x.astype(float), y, n=100, concentration=0.3, rng=0)
    assert np.abs(double.values).max() > 1e5


@both
def test_the_coarse_grid_is_near_the_best(kind):
    x, y = noisy(200, 0.2)
    error, coarse = (fit(kind, x, y, n=40, effort=effort).error for effort in (Effort(), Effort(steps=0)))
    assert 0.9995 * error < coarse < 1.02 * error


@both
def test_one_row_and_constant_data_are_fitted(kind):
    x, y = noisy(50, 0.0)
    one = kind.fit(x[:1], y[:1], n=1)
    np.testing.assert_allclose(one(x[:1]), y[:1], rtol=1e-5)
    for value in (0.0, 3.0):
        np.testing.assert_allclose(kind.fit(x, np.full(50, value), n=8, rng=0)(x), value, rtol=1e-2)
    single = kind.fit(x, y, n=1, rng=0)
    assert len(single) == 1
    if kind is SplitHead:
        np.testing.assert_allclose(single(x), y.mean(), rtol=1e-12)
    twice = kind.fit(np.repeat(x[:6], 3, axis=0), np.repeat(y[:6], 3), n=10, rng=0)
    assert len(twice) == 6
    np.testing.assert_array_equal(twice.control_points, np.unique(x[:6], axis=0))
    opposite = kind.fit(
        np.repeat(np.array([[1.0, 0.0], [-1.0, 0.0]]), 4, axis=0), np.repeat([1.0, -1.0], 4), n=1, rng=0
    )
    assert np.isfinite(opposite(np.eye(2))).all()
    zero = kind.fit(x, y, n=5, concentration=0.0, rng=0)
    assert np.isfinite(zero.values).all()
    far = kind.fit(x, y, n=50, concentration=1e12, rng=0)
    np.testing.assert_allclose(far(x), y, rtol=0, atol=1e-2 * np.abs(y).max() + 2.0 * np.ptp(y) * (kind is SplitHead))


def test_farthest_points_are_distinct_and_cover():
    x = sphere.uniform(3, 200, rng=0)
    chosen = farthest_rows(x, 20, np.random.default_rng(0))
    distances = cdist(x[chosen], x[chosen])
    assert len(set(chosen)) == 20
    covering = cdist(x, x[chosen]).min(axis=1).max()
    assert distances[np.triu_indices(20, 1)].min() >= covering - 1e-12  # what farthest-first promises
    ones = np.ones(200)
    centres = select(x, ones, 20, np.random.default_rng(0))
    np.testing.assert_allclose(np.linalg.norm(centres, axis=1), 1.0, rtol=1e-15)
    before, after = (np.square(cdist(x, b).min(axis=1)).mean() for b in (x[chosen], centres))
    assert after < 0.9 * before
    np.testing.assert_array_equal(k_means(x, ones, centres * [1, 1, 1, 1]).shape, (20, 4))
    assert select(x, ones, 200, np.random.default_rng(0)) is x
    lone = k_means(np.array([[1.0, 0.0]]), ones[:1], np.array([[1.0, 0.0], [-1.0, 0.0]]))
    np.testing.assert_array_equal(lone, [[1.0, 0.0], [-1.0, 0.0]])
