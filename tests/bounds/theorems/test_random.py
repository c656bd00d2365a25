"""4.F: E e^(s g) by brute force, the counts from it, draws that must obey, and the fill carried out on the circle."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.covering import covering_bound
from bounds.records.problem import Problem
from bounds.theorems._integrals import Excess
from bounds.theorems._window import Window, log_net
from bounds.theorems.convolution import concentration_needed
from bounds.theorems.nearest import split_nearest
from bounds.theorems.pack import pack
from bounds.theorems.random import bare_points, fill, filled_points, random
from spherapprox import sphere
from spherapprox.error import worst_case_error
from spherapprox.special import log_cap_measure


def phi(t, lam, w):
    return (t - w) * np.exp(lam * (np.cos(t) - math.cos(w)))


def brute_force(window, n=40_001, samples=21):
    """Colatitudes u, their measure dsigma, and g(u) relative to e^(lambda cos w), windows sampled."""
    excess = window.excess
    u = (np.arange(n) + 0.5) * math.pi / n
    measure = np.sin(u) ** (excess.dim - 1)
    low, high = np.maximum(u - window.eta, 0.0), np.minimum(u + window.eta, math.pi)
    t = low + (high - low) * np.linspace(0.0, 1.0, samples)[:, None]
    fine = np.linspace(excess.threshold, 0.5 * (excess.threshold + math.pi), 400_001)
    peak = fine[np.argmax(phi(fine, excess.concentration, excess.threshold))]  # narrower than the sampling
    t = np.concatenate([t, np.clip(peak, low, high)[None]])
    g = phi(t, excess.concentration, excess.threshold).max(axis=0)
    return u, measure / measure.sum(), g


@pytest.mark.parametrize(
    ("dim", "lam", "w", "share"),
    [(1, 20.0, 0.8, 0.2), (2, 40.0, 0.6, 0.1), (3, 400.0, 0.5, 0.05), (8, 200.0, 0.9, 0.02), (5, 6.0, 1.2, 0.01)],
)
def test_rate_by_brute_force(dim, lam, w, share):
    window = Window(Excess(lam, dim, w), share * w)
    _, measure, g = brute_force(window)
    top = window.excess.log_value(window.excess.rise)
    for height in (1e-6, 1e-3, 0.05, 1.0):
        log_s = math.log(height) - top
        rate = window.rate(log_s)
        drop = -np.sum(measure * np.expm1(math.exp(log_s) * g))
        if drop <= 0.0:
            assert rate.log == -math.inf
            continue
        assert rate.log == pytest.approx(
            math.log(-math.log1p(-drop)), abs=3e-3 * math.exp(rate.slope_q - rate.log_d) + 1e-4
        )
        later = window.rate(log_s + 1e-5)
        slope = (math.exp(rate.slope_p) - math.exp(rate.slope_q)) / math.exp(rate.log_d)
        assert (later.log_d - rate.log_d) / 1e-5 == pytest.approx(slope, rel=1e-4, abs=1e-6)


@given(dim=st.integers(1, 400), log_eta=st.floats(-40.0, -0.5))
def test_the_net_is_no_smaller_than_is_known_to_exist(dim, log_eta):
    eta = math.exp(log_eta)
    method = "circle" if dim == 1 else "random"
    log = log_net(eta, dim)
    assert log >= -log_cap_measure(dim, eta)
    assert min(covering_bound(eta, dim, method).log, covering_bound(eta, dim, "volume").log) <= log + 1e-9
    assert log <= covering_bound(eta, dim, method).log + (0.05 if dim > 1 else math.log1p(eta / 3))


@pytest.mark.parametrize(
    ("dim", "w", "sharpness"), [(1, 0.5, 16), (2, 0.6, 4), (3, 0.7, 16), (8, 1.0, 16), (8, 0.9, 2)]
)
def test_bare_count_by_brute_force(dim, w, sharpness):
    lam = sharpness * dim / w**2
    for failure in (1.0, 1e-6):
        result = bare_points(lam, w, dim, failure)
        _, measure, g = brute_force(result.window)
        log_m = math.log1p(np.sum(measure * np.expm1(math.exp(result.log_s) * g)))
        net = log_net(result.window.eta, dim)
        assert result.log == pytest.approx(math.log(1.0 + (net - math.log(failure)) / -log_m), abs=2e-3)


@pytest.mark.parametrize(("dim", "w", "sharpness"), [(1, 0.5, 16), (2, 0.6, 8), (3, 0.7, 16), (8, 1.0, 16)])
def test_filled_count_by_brute_force(dim, w, sharpness):
    lam = sharpness * dim / w**2
    result = filled_points(lam, w, dim)
    eta, s = result.window.eta, math.exp(result.log_s)
    _, measure, g = brute_force(result.window)
    rate = -math.log1p(np.sum(measure * np.expm1(s * g)))
    extra = fill(result.window, result.log_s, math.log(rate))
    half = Window(result.window.excess, extra.delta / 2)
    harm = s * np.sum(measure * np.maximum(brute_force(half)[2], 0.0)) / math.exp(log_cap_measure(dim, extra.delta / 2))
    assert 2 * eta <= extra.delta * (1 + 1e-9) <= w
    assert math.exp(extra.log_harm) == pytest.approx(harm, rel=5e-3)
    # an unmended outcome has a chance of at most 1/1000
    log_q = log_net(eta, dim) + log_cap_measure(dim, eta) - math.log(rate) + s * phi(extra.delta, lam, w)
    assert log_q <= math.log(1.001e-3)
    log_x = harm + math.log(rate / 0.999) - log_cap_measure(dim, eta)
    assert result.log == pytest.approx(math.log(1.0 + (1.0 + max(log_x, 0.0)) / rate), abs=5e-3)


def test_between_the_limit_and_separated_points():
    # the covering limit that no lambda attains < 4.F at a moderate lambda < bare random points < separated points
    for dim, log10 in ((8, 10.62), (16, 19.21), (32, 35.70)):
        bound = random(Problem.checked(0.1, dim))
        limit = split_nearest(Problem.checked(0.1, dim, covering="random", slack=0.0))
        assert limit.log10 < bound.log10 < log10
        assert bound.log < pack(Problem.checked(0.1, dim)).log
        assert bound.concentration == pytest.approx(16 * dim / 0.01)
    assert random(Problem.checked(0.1, 8)).log < bare_points(12800.0, 0.1, 8).log
    far = random(Problem.checked(0.1, 8, concentration=1e12))
    assert far.log10 == pytest.approx(
        split_nearest(Problem.checked(0.1, 8, covering="random", slack=0.0)).log10, abs=0.002
    )


def test_the_search_finds_the_best_window():
    for dim, w, lam in ((2, 0.3, 500.0), (8, 0.1, 12800.0), (8, 0.1, 2000.0), (100, 0.01, 1.6e7)):
        result = bare_points(lam, w, dim)
        for share in np.geomspace(1e-3, 0.45, 12):
            for change in (-1.0, 0.0, 1.0):
                window = Window(result.window.excess, share * w)
                rate = window.rate(result.log_s + change).log
                assert result.log <= math.log(window.log_net) - rate + 1e-2


@pytest.mark.parametrize(("dim", "w"), [(1, 0.4), (2, 0.6)])
def test_random_points_obey(dim, w):
    # allowed to fail once in 100 draws; the bound has room to spare, so none of 12 does
    lam = 16 * dim / w**2
    n = math.ceil(math.exp(bare_points(lam, w, dim, failure=0.01).log))
    rng = np.random.default_rng(5)
    for _ in range(12):
        points = sphere.uniform(dim, n, rng)
        assert worst_case_error(points, lam, n=1000, refine=4).lower <= w
    subset = points[: n // 12]
    assert worst_case_error(subset, lam, n=1000, refine=4).lower > w


def test_the_fill_carried_out_on_the_circle():
    w, rng = 0.3, np.random.default_rng(0)
    lam = 16 / w**2
    result = filled_points(lam, w, 1)
    log_rate = result.window.rate(result.log_s).log
    extra = fill(result.window, result.log_s, log_rate)
    n_drawn = math.ceil(max(extra.log_x, 0.0) / math.exp(log_rate))
    allowance = math.exp(extra.log_harm - result.log_s)  # H
    x = np.arange(3000) * 2 * math.pi / 3000
    total = []
    for _ in range(30):
        points = rng.uniform(0.0, 2 * math.pi, n_drawn)
        excess = phi(angle(x[:, None], points), lam, w).sum(axis=1)
        fills = []
        while len(
            open_ := x[(excess > -allowance) & (angle(x[:, None], np.array(fills)).min(1, initial=9) > extra.delta)]
        ):
            fills.append(open_[0])
        excess = excess + phi(angle(x[:, None], np.array(fills)), lam, w).sum(axis=1)
        assert excess.max() <= 0.0
        total.append(n_drawn + len(fills))
    assert np.mean(total) <= math.exp(result.log)


def angle(x, y):
    return np.abs((x - y + math.pi) % (2 * math.pi) - math.pi)


def test_low_concentrations():
    for dim in (1, 8, 300):
        needed = concentration_needed(0.1, dim, 1.0)
        refused = random(Problem.checked(0.1, dim, concentration=0.999 * needed))
        assert (refused.log, refused.failed[0]) == (math.inf, f"concentration > {needed:.6g}")
        logs = [random(Problem.checked(0.1, dim, concentration=f * needed)).log for f in (1.01, 1.1, 2.0, 10.0)]
        assert np.isfinite(logs).all()
        assert all(a > b for a, b in itertools.pairwise(logs))


@settings(max_examples=20)
@given(dim=st.integers(1, 40), eps=st.floats(1e-3, 1.5), step=st.floats(1e-6, 1e-2))
def test_no_noise_of_the_search_shows(dim, eps, step):
    wide, narrow = random(Problem.checked(eps * (1 + step), dim)), random(Problem.checked(eps, dim))
    assert wide.log <= narrow.log + 1e-9
