"""Sums and quotients with a concentration for each control point."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sums import exact_keyed, sphere

from spherapprox import evaluate
from spherapprox.summation import explain_sum

property_test = settings(derandomize=True, deadline=None, max_examples=40)
KINDS = {
    "ordinary": lambda rng, n: rng.uniform(2.0, 9.3, n),
    "large": lambda rng, n: 10.0 ** rng.uniform(0, 4, n),
    "huge": lambda rng, n: 10.0 ** rng.uniform(0, 12, n),
    "tiny": lambda rng, n: 10.0 ** rng.uniform(-300, -1, n),
    "mixed": lambda rng, n: rng.choice([0.0, 1e-5, 1.0, 30.0, 1e3, 1e8, 1e300], n),
}


def share_of_bound(x, b, values, concentrations, normalize, method="auto"):
    """The largest error over its bound: of the sums, and of the logarithms of those of absolute values."""
    result, record = explain_sum(x, b, values, concentrations, normalize=normalize, method=method)
    logs, of_logs = explain_sum(x, b, abs(values), concentrations, normalize=normalize, log=True, method=method)
    assert record.method in ("dense", method)
    worst = 0.0
    for row, h, log in zip(x, result, logs, strict=True):
        expected, scale = exact_keyed(row, b, values, concentrations, normalize)
        excess = max(mp.mpf(0), abs(expected - mp.mpf(float(h))) - mp.mpf(record.atol) - mp.mpf(5e-324))
        off = abs(mp.log(scale) - mp.mpf(float(log)))
        worst = max(worst, float(excess / (record.rtol * scale)), float(off / of_logs.rtol))
    return worst


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_errors_are_within_their_bound(method, kind, normalize):
    rng = np.random.default_rng(0)
    for d in (2, 3, 13):
        b = sphere(30, d - 1, rng)
        x = np.concatenate([sphere(2, d - 1, rng), b[:1]])
        for values in (rng.standard_normal(30), 10.0 ** rng.uniform(-300, 300, 30) * rng.choice([-1, 1], 30)):
            assert share_of_bound(x, b, values, KINDS[kind](rng, 30), normalize, method) <= 1.0


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kind", ["ordinary", "large", "tiny"])
def test_sums_keep_their_digits(method, kind, normalize):
    rng = np.random.default_rng(1)
    concentrations, b = KINDS[kind](rng, 60), sphere(60, 2, rng)
    x, values = b[:6], rng.random(60) + 0.1
    result = evaluate(x, b, values, concentrations, normalize=normalize, method=method)
    expected = [float(exact_keyed(row, b, values, concentrations, normalize)[0]) for row in x]
    np.testing.assert_allclose(result, expected, rtol=1e-12 if kind == "large" else 2e-15)


def test_a_huge_key_far_off_takes_no_digits_of_the_others(method):
    """Opposite to keys of 1e300 and 1e8 those of moderate length share the weight as if alone."""
    rng = np.random.default_rng(2)
    b = np.concatenate([[[0.0, 0.0, 1.0], [0.0, 0.6, 0.8]], sphere(20, 2, rng)])
    concentrations, values = np.concatenate([[1e300, 1e8], rng.uniform(0, 9, 20)]), rng.random(22)
    x = np.array([[0.0, 0.0, -1.0], [0.0, -0.6, -0.8]])
    for log in (False, True):
        result = explain_sum(x, b, values, concentrations, normalize=True, log=log, method=method)[0]
        alone = explain_sum(x, b[2:], values[2:], concentrations[2:], normalize=True, log=log, method=method)[0]
        np.testing.assert_allclose(result, alone, rtol=1e-15)
    assert share_of_bound(x, b, values, concentrations, True) <= 1.0
    np.testing.assert_array_equal(evaluate(b[:1], b, values, concentrations, normalize=True, method=method), values[:1])


def test_a_light_band_with_large_values_has_a_share_in_the_bound(method):
    """Beside a key of length 1, one of 1e10 whose weight is about e^-60 and whose value is 1e60."""
    x, sine = np.array([[1.0, 0.0]]), np.sqrt(1.0 - 36e-18)
    for tilt in np.linspace(0.0, 1e-10, 9):
        b = np.array([[1.0, 0.0], [-6e-9 - tilt, sine]])
        b[1] /= np.linalg.norm(b[1])
        assert share_of_bound(x, b, np.array([1.0, 1e60]), np.array([1.0, 1e10]), True, method) <= 1.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("concentration", [0.0, 3.0, 1e5, 1e30])
def test_equal_concentrations_are_one(dtype, concentration):
    x, b = sphere(20, 2, 3).astype(dtype), sphere(50, 2, 4).astype(dtype)
    values = np.random.default_rng(5).random((50, 2)).astype(dtype)
    for options in ({}, {"normalize": True}, {"log": True}):
        result = explain_sum(x, b, values, np.full(50, concentration), **options)[0]
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, explain_sum(x, b, values, concentration, **options)[0])


def test_bands_meet_where_neighbouring_keys_do(method):
    """Nearly equal concentrations on both sides of a band's end give nearly the function of one."""
    x, b = sphere(30, 2, 6), sphere(80, 2, 7)
    values = np.random.default_rng(8).standard_normal(80)
    near = np.where(np.arange(80) % 2, np.nextafter(128.0, 0.0), 128.0)
    for normalize in (False, True):
        single_rate = evaluate(x, b, values, 128.0, normalize=normalize, method=method)
        np.testing.assert_allclose(
            evaluate(x, b, values, near, normalize=normalize, method=method), single_rate, atol=2e-13
        )


@property_test
@given(seed=st.integers(0, 999), dim=st.integers(1, 4), top=st.floats(-5, 6), normalize=st.booleans())
def test_linear_in_values_and_blind_to_order(seed, dim, top, normalize):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    x, b, c = sphere(5, dim, rng), sphere(n, dim, rng), 10.0 ** (top * rng.random(n))
    single_rate, two, order = rng.standard_normal(n), rng.standard_normal(n), rng.permutation(n)
    scale = evaluate(x, b, 2.0 * abs(single_rate) + abs(two), c, normalize=normalize)
    total = evaluate(x, b, 2.0 * single_rate + two, c, normalize=normalize)
    parts = 2.0 * evaluate(x, b, single_rate, c, normalize=normalize) + evaluate(x, b, two, c, normalize=normalize)
    shuffled = evaluate(x, b[order], (2.0 * single_rate + two)[order], c[order], normalize=normalize)
    limit = 1e-14 * (1.0 + c.max()) * (scale + 1e-300)
    assert (abs(total - parts) <= limit).all()
    assert (abs(total - shuffled) <= limit).all()


def test_workers_change_no_bit_and_single_precision_is_returned(method):
    rng = np.random.default_rng(9)
    x, b, c = sphere(300, 2, rng), sphere(500, 2, rng), 10.0 ** rng.uniform(0, 4, 500)
    values = rng.standard_normal((500, 3))
    for options in ({}, {"normalize": True}):
        single_rate, two = (evaluate(x, b, values, c, workers=k, **options, method=method) for k in (1, 2))
        np.testing.assert_array_equal(single_rate, two)
        single = evaluate(*(a.astype(np.float32) for a in (x, b, values)), c, **options, method=method)
        assert single.dtype == np.float32
    wide = evaluate(*(a.astype(np.float32).astype(float) for a in (x, b, values)), c, **options, method=method)
    np.testing.assert_array_equal(single, wide.astype(np.float32))  # of quotients with huge concentrations


@pytest.mark.parametrize(("normalize", "top"), [(True, 64.0), (False, 4e4)])
@pytest.mark.parametrize("dim", [2, 8, 64])
def test_single_precision_is_computed_where_it_reaches(dim, normalize, top):
    rng = np.random.default_rng(10)
    arrays = [a.astype(np.float32) for a in (sphere(40, dim, rng), sphere(300, dim, rng), 0.1 + rng.random((300, 2)))]
    arrays[0][:20] = arrays[1][:20]  # near pairs
    c = np.append(rng.uniform(0.5, top, 299), top)
    result, record = explain_sum(*arrays, c, normalize=normalize)
    expected = evaluate(*(a.astype(float) for a in arrays), c, normalize=normalize)
    error = np.maximum(np.abs(result - expected) - record.atol, 0.0) / expected  # but for underflow
    assert error.max() <= record.rtol
    assert record.rtol > 1e-6  # of single precision
    limit = 6e-8 * top * (1.0 + dim / 24.0) if normalize else 5e-7
    assert (error if normalize else error[:20]).max() <= limit
    c[-1] = 1.001 * top if normalize else 5e4
    wide = evaluate(*(a.astype(float) for a in arrays), c, normalize=normalize)
    np.testing.assert_array_equal(evaluate(*arrays, c, normalize=normalize), wide.astype(np.float32))
