"""Gradients of heads, against 40 digits, central differences and the gradients of spherical polynomials."""

import numpy as np
import pytest
import truth
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spherapprox import CoreHead, SplitHead, VonMisesFisher, harmonics, points, sphere

both = pytest.mark.parametrize("kind", [CoreHead, SplitHead])


def cluster(dim, concentration, n, seed):
    """Return n control points and 3 points, all about 1/sqrt(concentration) from each other."""
    rng = np.random.default_rng(seed)
    centre = sphere.uniform(dim, 1, rng=rng)
    size = min(1.0, concentration**-0.5)
    rows = centre + size * rng.standard_normal((n + 3, dim + 1)) / np.sqrt(dim + 1.0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows[:n], rows[n:]


def scale(head, x):
    """Return the natural size of a gradient's error, beside the unit roundoff."""
    root = np.sqrt(head.concentration)
    if isinstance(head, SplitHead):
        return root * np.ptp(head.values)
    return root * CoreHead(head.control_points, np.abs(head.values), head.concentration)(x)


@both
@pytest.mark.parametrize("dim", [1, 2, 8])
@pytest.mark.parametrize("concentration", [1.0, 100.0, 1e4, 1e8])
def test_it_keeps_all_digits(kind, dim, concentration):
    b, x = cluster(dim, concentration, 12, seed=dim)
    head = kind(b, 1.0 + 0.5 * np.cos(np.arange(12.0)), concentration)
    wanted = truth.gradient(head, x)
    error = np.linalg.norm(head.gradient(x) - wanted, axis=1) / scale(head, x)
    assert error.max() < (1e-15 if concentration > 64 * (dim + 1) else 4e-15)
    exact = np.linalg.norm(head.gradient(x, method="differences", rtol=None) - wanted, axis=1) / scale(head, x)
    assert exact.max() < 1e-15
    by_sums = np.linalg.norm(head.gradient(x, method="dense") - wanted, axis=1) / scale(head, x)
    assert by_sums.max() < 2e-15 * max(1.0, concentration) ** 0.5


@both
@pytest.mark.parametrize("concentration", [2.0, 250.0])
def test_the_ways_agree(kind, concentration):
    b, x = sphere.uniform(2, 200, rng=0), sphere.uniform(2, 80, rng=1)
    head = kind(b, np.random.default_rng(2).standard_normal((200, 2)), concentration)
    wanted = head.gradient(x, method="differences", rtol=None)
    assert wanted.shape == (80, 2, 3)
    methods = ["auto", "dense", "truncated", "harmonic", "differences"] + ["lowrank"] * (concentration < 10)
    for method in methods:
        g = head.gradient(x, method=method, rtol=1e-12)
        np.testing.assert_allclose(g, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())
        np.testing.assert_array_equal(head.gradient(x, method=method, rtol=1e-12, workers=2), g)
    for j in range(2):
        column = kind(b, head.values[:, j], concentration).gradient(x)
        np.testing.assert_allclose(column, wanted[:, j], rtol=0, atol=1e-12 * np.abs(wanted).max())


@both
@pytest.mark.parametrize("concentration", [300.0, 3e4])
def test_near_control_points_are_all_that_matter(kind, concentration):
    b, x = sphere.uniform(2, 1500, rng=3), sphere.uniform(2, 150, rng=4)
    values = np.exp(3.0 * np.random.default_rng(5).standard_normal(1500))
    values[::7] = 0.0
    head = kind(b, values, concentration)
    wanted = head.gradient(x, rtol=None)
    size = np.sqrt(concentration) * (values.max() if kind is SplitHead else CoreHead(b, values, concentration)(x))
    error = np.linalg.norm(head.gradient(x) - wanted, axis=1) / size
    exponents = 0.5 * concentration * np.square(x[:, None] - b[values > 0.0]).sum(axis=2).min(axis=1)
    assert (error < 1e-15 * (10.0 + exponents) * (1.0 + exponents) ** 0.5).all()  # exponents are rounded
    coarse = np.linalg.norm(head.gradient(x, rtol=1e-3) - wanted, axis=1) / size
    assert coarse.max() < 1e-3
    assert concentration > 300.0 or coarse.any()
    assert np.isfinite(head.gradient(x, rtol=1e99)).all()


@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    dim=st.integers(1, 5),
    log_concentration=st.floats(-2.0, 4.0),
    kind=st.sampled_from([CoreHead, SplitHead]),
)
@example(seed=0, dim=1, log_concentration=2.0, kind=CoreHead)
def test_gradients_are_tangent_and_agree_with_central_differences(seed, dim, log_concentration, kind):
    rng = np.random.default_rng(seed)
    b, x = cluster(dim, 10.0**log_concentration, 15, seed)
    head = kind(b, rng.standard_normal(15), 10.0**log_concentration)
    g = head.gradient(x)
    size = np.sqrt(head.concentration) * np.abs(head.values).sum()
    assert np.abs((g * x).sum(axis=1)).max() <= 1e-15 * np.abs(g).max() * (dim + 1)
    t = rng.standard_normal(x.shape)
    t -= (t * x).sum(axis=1, keepdims=True) * x
    t /= np.linalg.norm(t, axis=1, keepdims=True)
    step = 1e-4 / max(1.0, np.sqrt(head.concentration))
    slope = (head(np.cos(step) * x + np.sin(step) * t) - head(np.cos(step) * x - np.sin(step) * t)) / (2.0 * step)
    np.testing.assert_allclose((g * t).sum(axis=1), slope, rtol=0, atol=2e-7 * max(size, 1e-3))


def test_the_gradient_on_a_quadrature_is_that_of_the_damped_harmonics():
    rng = np.random.default_rng(6)
    coefficients, kernel = rng.standard_normal(16), VonMisesFisher(2, 5.0)
    head = CoreHead.from_target(lambda y: harmonics.synthesize(coefficients, y), points.gauss_product(2, 40), 5.0)
    x = sphere.uniform(2, 50, rng=7)
    damped = coefficients * np.repeat(kernel.eigenvalues(3), [1, 3, 5, 7])
    np.testing.assert_allclose(head.gradient(x), harmonics.gradient(damped, x), rtol=0, atol=1e-12)


@both
def test_the_gradient_of_one_control_point_vanishes_at_its_poles(kind):
    pole = np.eye(3)[2:]
    one = kind(pole, [2.0], 50.0)
    for method in ("auto", "dense"):
        np.testing.assert_array_equal(one.gradient(pole, method=method), np.zeros((1, 3)))
        np.testing.assert_allclose(one.gradient(-pole, method=method), np.zeros((1, 3)), atol=1e-30)
        np.testing.assert_array_equal(kind(np.eye(3), np.ones(3), 0.0).gradient(pole, method=method), np.zeros((1, 3)))
    np.testing.assert_array_equal(kind(np.eye(3), np.zeros(3), 50.0).gradient(pole), np.zeros((1, 3)))
    far = kind(np.eye(3), np.arange(3.0), 1e300).gradient(sphere.uniform(2, 20, rng=0))
    np.testing.assert_array_equal(far, np.zeros((20, 3)))


def test_huge_values_meet_tiny_kernels():
    b = np.array([[1.0, 0.0]])
    x = np.array([[0.0, 1.0]])
    g = CoreHead(b, [1e300], 1000.0).gradient(x)  # 1e303 exp(-1000) b: exp(-1000) alone underflows
    np.testing.assert_allclose(g, [[1e3 * np.exp(300 * np.log(10.0) - 1000.0), 0.0]], rtol=1e-12)


def test_a_constant_has_no_gradient():
    b, x = sphere.uniform(3, 50, rng=8), sphere.uniform(3, 10, rng=9)
    for concentration in (2.0, 1e5):
        g = SplitHead(b, np.full(50, 1e9), concentration).gradient(x)
        np.testing.assert_array_equal(g, np.zeros((10, 4)))
        shifted = SplitHead(b, 1e6 + b[:, 0], concentration).gradient(x)
        np.testing.assert_allclose(shifted, SplitHead(b, b[:, 0], concentration).gradient(x), rtol=1e-7, atol=1e-7)


@both
def test_float32_stays(kind):
    b, x = (sphere.uniform(2, n, rng=n).astype(np.float32) for n in (40, 10))
    head = kind(b, b[:, 0], 300.0)
    g = head.gradient(x)
    assert g.dtype == np.float32
    wanted = kind(b.astype(float), b[:, 0].astype(float), 300.0).gradient(x.astype(float))
    np.testing.assert_allclose(g, wanted, rtol=1e-7)
    assert head.gradient(x.astype(float)).dtype == np.float64


@both
@pytest.mark.parametrize("method", ["dense", "differences"])
def test_huge_numbers_do_not_overflow(kind, method):
    rows, values = sphere.uniform(2, 30, rng=0), np.random.default_rng(0).uniform(0.5, 1.0, 30)
    x = sphere.uniform(2, 5, rng=1)
    wanted = kind(rows, values, 2.0).gradient(x, method=method)
    found = kind(rows, values * 2.0**1018, 2.0).gradient(x, method=method)
    np.testing.assert_allclose(found * 2.0**-1018, wanted, rtol=1e-13)
    steep = kind(rows, values * 1e10, 1e300).gradient(rows[:3], method=method)
    assert np.isfinite(steep).all()
