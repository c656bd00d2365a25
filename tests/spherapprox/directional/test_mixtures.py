"""Numerics of mixtures: steps by mpmath, and a likelihood that never falls."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from spherapprox import VonMisesFisher
from spherapprox.directional import mixtures
from spherapprox.directional.mixtures import Parts
from spherapprox.directional.rows import read_rows


def directions(n, p, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p)) * spread + rng.standard_normal((3, p))[rng.integers(3, size=n)]
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def log_density(p, kappa, t):
    """Return the log density by the normalised measure."""
    return kappa * t - mp.log(mp.hyp0f1(mp.mpf(p) / 2, mp.mpf(kappa) ** 2 / 4))


@pytest.mark.parametrize(("p", "kappas"), [(2, [0.0, 3.0, 1e3]), (3, [1e-3, 40.0, 1e7]), (64, [2.0, 80.0, 900.0])])
@pytest.mark.parametrize("noise", [False, True])
def test_a_step_agrees_with_mpmath(p, kappas, noise):
    x, weights = directions(12, p, seed=p), np.linspace(0.5, 2.0, 12)
    means = directions(3, p, seed=p + 1)
    means[2] = x[0]  # so that the narrow part has a row
    shares = np.array([0.3, 0.3, 0.2, 0.2] if noise else [0.3, 0.5, 0.2])
    with mp.workdps(30):
        cosines = [[mp.fdot(row, m) / mp.norm(row) / mp.norm(m) for m in means] for row in x]
        logs = [
            [mp.log(shares[j]) + log_density(p, kappas[j], t) for j, t in enumerate(row)] + [mp.log(shares[-1])] * noise
            for row in cosines
        ]
        totals = [mp.log(mp.fsum(map(mp.exp, row))) for row in logs]
        truth = np.array([[float(mp.exp(a - t)) for a in row] for row, t in zip(logs, totals, strict=True)])
        likelihood = float(mp.fsum(w * t for w, t in zip(weights, totals, strict=True)))
    rows, parts = read_rows(x), Parts.of(shares, means, np.array(kappas))
    sums = mixtures.gather_all(rows, weights, parts, "soft", rng=None)
    found = mixtures.describe(rows, parts, "shares").T
    assert found == pytest.approx(truth, abs=1e-8)
    assert sums.log_likelihood == pytest.approx(likelihood, rel=1e-9)
    assert sums.masses == pytest.approx(weights @ truth, rel=1e-8)
    assert sums.resultants == pytest.approx((weights[:, None] * truth[:, :3]).T @ x, abs=1e-8)
    assert mixtures.describe(rows, parts, "logs") == pytest.approx(np.array(totals, dtype=float), abs=1e-8)


@pytest.mark.parametrize("concentration", ["free", "equal"])
def test_the_next_parts_are_the_best_of_the_expected_likelihood(concentration):
    x, p = directions(200, 5, seed=3), 5
    rows = read_rows(x)
    parts = Parts.of(np.array([0.3, 0.7]), directions(2, p, seed=4), np.array([2.0, 5.0]))
    sums = mixtures.gather_all(rows, np.ones(200), parts, "soft", rng=None)
    best = mixtures.maximize(sums, parts, concentration, dtype=rows.dtype)
    dots = np.sqrt(np.square(sums.resultants).sum(axis=1))

    def loss(logs):
        kappa = np.exp(logs if len(logs) == 2 else np.repeat(logs, 2))
        return -(kappa @ dots + sums.masses @ VonMisesFisher(p - 1, kappa).log_normalizer)

    free = minimize(loss, np.ones(2 if concentration == "free" else 1), method="Nelder-Mead", options={"xatol": 1e-7})
    assert best.concentrations == pytest.approx(np.resize(np.exp(free.x), 2), rel=1e-5)
    assert best.shares == pytest.approx(sums.masses / 200.0)
    assert best.means == pytest.approx(sums.resultants / dots[:, None])


@settings(max_examples=60, deadline=None)
@given(
    p=st.sampled_from([2, 3, 10, 200]), k=st.integers(1, 5), seed=st.integers(0, 10**6), noise=st.booleans(),
    concentration=st.sampled_from(["free", "equal", 7.0]), spread=st.sampled_from([0.0, 1e-3, 0.3, 2.0]),
    single=st.booleans(),
)  # fmt: skip
def test_the_likelihood_never_falls(p, k, seed, noise, concentration, spread, single):
    dtype = np.float32 if single else np.float64
    rng, x = np.random.default_rng(seed), directions(40, p, seed=seed, spread=spread)
    x = x[rng.integers(40, size=40)]  # some rows more than once
    rows, weights = read_rows(x.astype(dtype)), rng.exponential(size=40) * (rng.random(40) < 0.9)
    shares = rng.dirichlet(np.ones(k + noise))
    sizes = {"free": rng.exponential(10.0, k), "equal": np.full(k, 3.0)}.get(concentration, np.full(k, 7.0))
    parts, bounds = Parts.of(shares, directions(k, p, seed=seed + 1), sizes), []
    for _ in range(12):
        sums = mixtures.gather_all(rows, weights, parts, "soft", rng=None)
        bounds.append(sums.log_likelihood / weights.sum())
        assert np.isfinite(bounds[-1])
        rounding = 4.0 * np.finfo(dtype).eps * (1.0 + p + parts.concentrations.max())
        assert len(bounds) < 2 or bounds[-1] >= bounds[-2] - rounding
        parts = mixtures.maximize(sums, parts, concentration, dtype=rows.dtype)
        assert parts.shares.sum() == pytest.approx(1.0)
