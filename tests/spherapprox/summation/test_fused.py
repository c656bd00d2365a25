"""The fused kernel, as it is compiled here, and both kernels as they are compiled without AVX-512."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.registry import cpu_target

from spherapprox import evaluate
from spherapprox.summation import all_pairs, dense

wide = pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="longdouble is no wider than float64 here")
LIMIT = {np.float64: 2e-15, np.float32: 5e-7}


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setattr(dense, "COMPILE_WORTH", -1.0)


def sphere(n, d, seed=0, spread=None):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    if spread is not None:  # around one point
        x = np.eye(1, d) + spread * x / np.sqrt(d)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def truth(x, b, w, concentration, normalize):
    x, b, w = (np.asarray(a, dtype=np.longdouble) for a in (x, b, w))
    t = np.stack([((row - b) ** 2).sum(axis=1) for row in x])
    e = np.exp(-np.longdouble(concentration) / 2 * (t - (t.min(axis=1, keepdims=True) if normalize else 0.0)))
    return e @ w / (e.sum(axis=1, keepdims=True) if normalize else 1.0)


def near(b, concentration, dtype):
    """Points within an exponent or so of the first control points."""
    shift = np.random.default_rng(5).standard_normal((30, b.shape[1])) / np.sqrt(2 * max(concentration, 4) * b.shape[1])
    x = b[:30] + shift
    return (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(dtype)


def worst(got, wanted):
    return float(np.max(np.abs(got - wanted) / np.abs(wanted)))


def deviation(dtype, d, p, concentration, normalize, spread=None):
    b = sphere(230, d, 1, spread).astype(dtype)
    x = near(b, concentration, dtype)
    w = (np.random.default_rng(3).random((len(b), p)) + 0.1).astype(dtype)
    got = evaluate(x, b, w, concentration, normalize=normalize, method="dense")
    assert got.dtype == dtype
    return worst(got, truth(x, b, w, concentration, normalize))


CASES = [(d, p) for d in (2, 3, 11, 12, 13, 25, 49, 130) for p in (1, 2, 3, 4, 9)]


@wide
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("concentration", [0.0, 1e-3, 1.0, 20.0, 1e3, 1e8])
def test_near_pairs_keep_their_digits(dtype, normalize, concentration):
    for d, p in CASES:
        assert deviation(dtype, d, p, concentration, normalize) <= LIMIT[dtype], (d, p)


@wide
@pytest.mark.parametrize("spread", [1e-6, 1e-3, 0.1, 0.7, 1.0])
def test_clusters_keep_their_digits_in_high_dimension(spread):
    for d in (12, 65):
        assert deviation(np.float64, d, 1, 30.0 / spread**2, False, spread) <= 3e-15


@wide
@pytest.mark.parametrize("d", [3, 20])
def test_rows_that_are_not_quite_of_unit_length(d):
    b = sphere(100, d, 1) * (1.0 + 9e-7 * np.random.default_rng(1).uniform(-1, 1, (100, 1)))
    x = sphere(50, d, 2) * (1.0 + 9e-7 * np.random.default_rng(2).uniform(-1, 1, (50, 1)))
    w = np.ones((100, 1))
    assert worst(evaluate(x, b, w, 50.0, method="dense"), truth(x, b, w, 50.0, False)) <= 3e-14


def test_underflow_of_some_rows_only():
    b = sphere(40, 3, 1)
    x = np.concatenate([b[:5], -b[:5], sphere(30, 3, 2)])
    w = np.random.default_rng(4).random((40, 2))
    got = evaluate(x, b, w, 3e4, normalize=True, method="dense")
    np.testing.assert_allclose(got, truth(x, b, w, 3e4, True).astype(float), rtol=1e-11)


def test_many_parts(monkeypatch):
    monkeypatch.setattr(all_pairs, "PACKED", 400)
    for d in (3, 14):
        assert deviation(np.float64, d, 3, 10.0, True) <= 2e-15


def test_accuracy_does_not_depend_on_the_number_of_parts(monkeypatch):
    monkeypatch.setattr(all_pairs, "PACKED", 1)  # 64 control points in each of 2000
    x, b = sphere(3, 3), sphere(128_000, 3, 1)
    w = np.random.default_rng(2).random(len(b))
    assert worst(evaluate(x, b, w, 2.0, method="dense"), truth(x, b, w, 2.0, False)) <= 3e-16


PORTABLE = """
import sys
sys.path.insert(0, sys.argv[1])
from test_fused import *
import test_shifted as shifted
from spherapprox._kernels.simd.registers import has_avx512
assert not has_avx512()
dense.COMPILE_WORTH = -1.0
for concentration in (1.0, 1e3, 1e8):
    for d, p in ((3, 1), (20, 1), (14, 6)):
        for normalize in (False, True):
            assert deviation(np.float64, d, p, concentration, normalize) <= 2e-15, (d, p)
for rate in (0.0, 1.0, 1e8, 1e30):
    for shape in ((3, 131, 1), (25, 64, 6)):
        assert shifted.deviation(np.float64, *shape, rate) <= 2e-15, (rate, shape)
shifted.test_exponentials_below_the_normal_range_are_zero(np.float64)
shifted.test_only_the_nearest_count_at_the_largest_rates(5e299)
shifted.test_mean_angles(50.0)
"""


@wide
def test_portable_form():
    triple, name, features = cpu_target.target_context.codegen().magic_tuple()
    kept = [f"-{feature[1:]}" if "avx512" in feature else feature for feature in features.split(",")]
    name = "x86-64-v3" if "x86" in triple else name
    settings = os.environ | {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ",".join(kept)}
    here = os.path.dirname(__file__)
    subprocess.run([sys.executable, "-c", PORTABLE, here], env=settings, check=True)
