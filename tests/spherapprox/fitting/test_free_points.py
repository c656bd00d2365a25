"""Heads for data whose control points move: fewer of them, weights as rows, any size, the same with any BLAS."""

import numpy as np
import pytest
from noisy_data import noisy, smooth
from noisy_data import root_mean_square as rms
from processes import run

from spherapprox import CoreHead, SplitHead, sphere

both = pytest.mark.parametrize("kind", [CoreHead, SplitHead])
either = pytest.mark.parametrize("kind", [pytest.param(CoreHead, marks=pytest.mark.once), SplitHead])


@either
def test_half_of_the_points_do_better(kind):
    x, y = noisy(400, 0.0)
    at = sphere.uniform(2, 2000, rng=9)
    fixed, free = kind.fit(x, y, n=40, rng=0), kind.fit(x, y, n=20, rng=0, points="free")
    few = kind.fit(x, y, n=20, rng=0)
    errors = [rms(head(at) - smooth(at)) for head in (fixed, free, few)]
    assert len(free) == 20
    assert isinstance(free, kind)
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 0.25 * errors[2]


@either
def test_rows_left_out_choose_a_ridge_that_noise_needs(kind):
    x, y = noisy(120, 0.5)
    at = sphere.uniform(2, 2000, rng=9)
    chosen, loose = (kind.fit(x, y, n=30, rng=0, points="free", regularization=mu) for mu in (None, 1e-12))
    assert rms(chosen(at) - smooth(at)) < 0.4
    assert rms(chosen(at) - smooth(at)) < 0.75 * rms(loose(at) - smooth(at))


@either
def test_points_stay_where_noise_makes_that_better(kind):
    x, y = noisy(400, 0.5, seed=2)
    fixed, free = (kind.fit(x, y, n=30, rng=0, points=points) for points in ("fixed", "free"))
    at = sphere.uniform(2, 2000, rng=9)
    assert rms(free(at) - smooth(at)) <= 1.3 * rms(fixed(at) - smooth(at))


@either
@pytest.mark.parametrize("given", [{"regularization": 1e-2}, {}])
def test_a_weight_counts_as_so_many_rows(kind, given):
    x, y = noisy(30, 0.3)
    w = np.random.default_rng(6).integers(0, 4, size=30)
    options = {"n": 5, "points": "free", "rng": 0, **given}
    short = kind.fit(x, y, weights=w, **options)
    whole = kind.fit(np.repeat(x, w, axis=0), np.repeat(y, w), **options)
    np.testing.assert_allclose(short(x), whole(x), rtol=0, atol=1e-7)
    plain = kind.fit(x, y, **options)
    assert np.abs(short(x) - plain(x)).max() > 2e-2
    if not given:
        scaled = kind.fit(x, y, weights=1e200 * w, **options)
        np.testing.assert_allclose(scaled(x), short(x), rtol=0, atol=1e-5)


@both
def test_what_is_minimised_is_what_the_page_says(kind):
    x, y = noisy(80, 0.3)
    w, mu = np.random.default_rng(5).uniform(0.2, 3.0, 80), 0.7
    head = kind.fit(x, y, n=5, weights=w, regularization=mu, concentration=2.0, points="free", rng=0)
    middle = np.average(y, weights=w) if kind is SplitHead else 0.0

    def objective(b, values, concentration):
        return w @ np.square(kind(b, values, concentration)(x) - y) + mu * np.square(values - middle).sum()

    least, rng = objective(head.control_points, head.values, head.concentration), np.random.default_rng(0)
    for step in (1e-2, 1e-1):
        for _ in range(20):
            b = head.control_points + step * rng.standard_normal((5, 3))
            b /= np.linalg.norm(b, axis=1, keepdims=True)
            lengthened = head.concentration * np.exp(step * rng.standard_normal())
            assert objective(b, head.values, head.concentration) > (1.0 - 1e-4) * least
            assert objective(head.control_points, head.values, lengthened) > (1.0 - 1e-4) * least
            moved = head.values + step * rng.standard_normal(5)
            assert objective(head.control_points, moved, head.concentration) > least
    assert abs(head.concentration - 2.0) > 0.05


@either
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_y_may_have_any_size(kind, size):
    x, y = noisy(40, 0.1)
    one, other = (kind.fit(x, scale * y, n=4, points="free", rng=0) for scale in (1.0, size))
    np.testing.assert_allclose(other(x) / size, one(x), rtol=0, atol=1e-5)


@both
def test_float32_stays_and_vectors_keep_their_shape(kind):
    x, y = noisy(60, 0.1)
    head = kind.fit(x.astype(np.float32), y.astype(np.float32), n=6, points="free", rng=0)
    assert head.control_points.dtype == head.values.dtype == np.float32
    assert rms(head(x.astype(np.float32)) - y) < 0.4
    assert kind.fit(x, y[:, None], n=3, points="free", rng=0).values.shape == (3, 1)
    both_columns = kind.fit(x, np.stack([y, x[:, 0]], axis=1), n=6, points="free", rng=0)
    assert both_columns.values.shape == (6, 2)
    assert rms(both_columns(x)[:, 1] - x[:, 0]) < 0.2


@either
def test_little_data(kind):
    row, five = np.array([[0.6, 0.0, 0.8]]), sphere.uniform(2, 5, rng=0)
    np.testing.assert_allclose(kind.fit(row, [3.0], points="free")(row), [3.0], rtol=1e-4)
    np.testing.assert_allclose(kind.fit(five, five[:, 0], points="free", rng=0)(five), five[:, 0], atol=0.02)
    twice = kind.fit(np.repeat(row, 4, axis=0), [1.0, 2.0, 3.0, 4.0], n=4, points="free")
    np.testing.assert_allclose(twice(row), [2.5], rtol=1e-4)
    x = sphere.uniform(2, 25, rng=0)
    np.testing.assert_allclose(kind.fit(x, np.full(25, 7.0), n=4, points="free", rng=0)(x), 7.0, rtol=1e-3)
    assert np.array_equal(kind.fit(x, np.zeros(25), n=4, points="free", rng=0)(x), np.zeros(25))
    assert rms(kind.fit(x, x[:, 0], points="free", rng=0)(x) - x[:, 0]) < 0.02  # as many points as rows


def test_concentrations_at_the_ends_of_their_range():
    x, y = noisy(40, 0.0)
    for concentration in (0.0, 1e-300, 1e6, 1e300):
        head = SplitHead.fit(x, y, n=4, concentration=concentration, points="free", rng=0)
        assert np.isfinite(head(x)).all(), concentration


@pytest.mark.once
def test_the_same_head_with_every_kernel_of_blas():
    code = (
        "import numpy as np; from spherapprox import *\n"
        "t = np.linspace(-3.0, 3.0, 200); x = sphere.inverse_stereographic(t[:, None] / 1.7)\n"
        "x2 = sphere.uniform(2, 80, rng=0); y2 = np.tanh(4.0 * x2[:, 0]) + 0.3 * np.cos(np.arange(80.0) ** 2)\n"
        "for kind, rows, y, n in ((CoreHead, x, np.sin(2.0 * t), 8), (SplitHead, x2, y2, 9)):\n"
        "    head = kind.fit(rows, y, n=n, points='free', rng=0); print(*head(rows[::10]), head.concentration)"
    )
    kernels = ("Nehalem", "Prescott")
    told = [run(code, OPENBLAS_CORETYPE=kernel, OPENBLAS_NUM_THREADS="1").splitlines() for kernel in kernels]
    assert len(told[0]) == 2
    for one, other in zip(*told, strict=True):
        np.testing.assert_allclose(np.array(one.split(), float), np.array(other.split(), float), rtol=0, atol=1e-6)
