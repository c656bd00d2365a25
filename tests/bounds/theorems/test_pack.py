"""4.A: windows of the excess by brute force, printed values, promises kept, and point sets that must obey."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from bounds.records.problem import Problem
from bounds.theorems._integrals import Excess, log_total
from bounds.theorems.pack import log_excess, log_most_separated, log_pack_error, pack
from spherapprox import sphere
from spherapprox.error import worst_case_error
from spherapprox.special import log_cap_measure


def colatitudes(dim, n=60_001):
    """Midpoints u of [0, pi] and weights of sin(u)^(dim-1) du."""
    u = (np.arange(n) + 0.5) * math.pi / n
    return u, np.sin(u) ** (dim - 1) * math.pi / n


def phi(t, lam, w):
    return (t - w) * np.exp(lam * (np.cos(t) - math.cos(w)))


def window_max(u, r, lam, w):
    """The largest phi within r of each u: ends of the window and every local maximum seen on a fine grid."""
    grid = np.linspace(w, math.pi, 60_001)
    values = phi(grid, lam, w)
    low, high = np.maximum(u - r, 0.0), np.minimum(u + r, math.pi)
    best = np.maximum(phi(low, lam, w), phi(high, lam, w))
    for i in np.flatnonzero((values[1:-1] >= values[:-2]) & (values[1:-1] > values[2:])) + 1:
        result = minimize_scalar(
            lambda t: -phi(t, lam, w), bounds=(grid[i - 1], grid[i + 1]), method="bounded", options={"xatol": 1e-12}
        )
        best = np.where((low <= result.x) & (result.x <= high), np.maximum(best, -result.fun), best)
    return best


@settings(max_examples=20)
@example(dim=1, w=1.5, log_lam=7.0, share=1.0)
@given(dim=st.integers(1, 24), w=st.floats(0.08, math.pi / 2), log_lam=st.floats(-3.0, 7.0), share=st.floats(0.02, 1.3))
def test_integrals_of_the_windows_by_brute_force(dim, w, log_lam, share):
    lam, r = min(math.exp(log_lam), 700.0 / (1.0 - math.cos(w))), share * w  # phi's largest value is a float
    u, weight = colatitudes(dim)
    weight = weight / math.sin(w) ** (dim - 1)
    g = window_max(u, r, lam, w)
    excess = Excess(lam, dim, w)
    positive = log_total(excess.log_integrals(excess.positive(r)))
    # kinks between grid points, and a peak as narrow as t1 - w, limit the brute force
    assert positive == pytest.approx(math.log(np.sum(np.maximum(g, 0.0) * weight)), abs=2e-5)
    if r < 0.9 * w:
        negative = log_total(excess.log_integrals(excess.negative(r)))
        assert negative == pytest.approx(math.log(np.sum(np.maximum(-g, 0.0) * weight)), abs=2e-3)


def test_integrals_where_phi_rises_again_near_the_antipode():
    # lambda so small that the value at pi matters: more than a hump, and no hump at all
    for dim, lam, w, r in (
        (18, 2.4, 1.47, 0.3),
        (3, 0.15, 1.53, 0.84),
        (1, 3.0, 0.4, 1.5),
        (2, 5.0, 0.05, 1.2),
        (1, 0.01, 1.55, 0.01),
        (2, 0.5, 1.2, 0.02),
        (30, 1.2, 1.5, 0.1),
    ):
        u, weight = colatitudes(dim)
        g = window_max(u, r, lam, w)
        brute = math.log(np.sum(np.maximum(g, 0.0) * weight / math.sin(w) ** (dim - 1)))
        excess = Excess(lam, dim, w)
        assert log_total(excess.log_integrals(excess.positive(r))) == pytest.approx(brute, abs=1e-6)


@pytest.mark.parametrize(
    ("dim", "lam", "rho"), [(16, 6400.0, 0.0632), (8, 3200.0, 0.0706), (2, 800.0, 0.082), (3, 600.0, 0.01147)]
)
def test_condition_by_brute_force(dim, lam, rho):
    # just inside and just outside what is allowed at w = 0.1
    w, (u, weight) = 0.1, colatitudes(dim, round(7e3 / rho))
    allowed = pack(Problem.checked(w, dim, concentration=lam)).radius
    assert allowed == pytest.approx(rho, rel=2e-3)
    for radius, holds in ((0.998 * allowed, True), (1.002 * allowed, False)):
        left = np.sum(np.maximum(window_max(u, radius / 2, lam, w), 0) * weight) / np.sum(weight[u <= radius / 2])
        nearest = -phi(radius, lam, w)
        reach = np.minimum(u + radius, math.pi)
        cells = np.sum(np.maximum(-phi(reach, lam, w), 0) * weight) / np.sum(weight[u <= radius])
        assert (left <= max(nearest, cells)) == holds


@settings(max_examples=25)
@given(dim=st.integers(1, 60), eps=st.floats(1e-4, 1.5), factor=st.floats(0.7, 1e4))
def test_keeps_its_promise(dim, eps, factor):
    bound = pack(Problem.checked(eps, dim, concentration=factor * 16 * dim / eps**2))
    assert bound.holds
    promised = math.exp(log_pack_error(bound.concentration, bound.radius, bound.radius, dim))
    assert promised == pytest.approx(eps, rel=1e-9)
    assert log_excess(Excess(bound.concentration, dim, eps), 0.999 * bound.radius, 0.999 * bound.radius) < 0.0


@pytest.mark.parametrize(("dim", "eps"), [(8, 0.1), (8, 0.5), (16, 0.1), (2, 0.1)])
def test_counts_by_volume(dim, eps):
    lam = 16 * dim / eps**2
    by_volume = pack(Problem.checked(eps, dim, concentration=lam, covering="volume"))
    assert by_volume.log == pytest.approx(-log_cap_measure(dim, by_volume.radius / 2), rel=1e-12)
    assert pack(Problem.checked(eps, dim, concentration=lam)).log <= by_volume.log
    free = pack(Problem.checked(eps, dim, covering="volume"))  # it is the concentration taken where none is asked for
    assert (free.log, free.concentration) == (pytest.approx(by_volume.log, rel=1e-12), pytest.approx(lam))


def test_low_concentrations_are_refused():
    for dim, eps in ((1, 0.1), (8, 0.1), (1000, 1e-9)):
        for lam in (0.0, 0.2 * dim / eps**2):
            bound = pack(Problem.checked(eps, dim, concentration=lam))
            assert bound.failed == ("a large enough concentration",)


def test_error_grows_with_the_radius_and_as_points_come_closer():
    for dim, lam in ((1, 100.0), (2, 500.0), (8, 3e3)):
        by_radius = [log_pack_error(lam, rho, 0.05, dim) for rho in np.linspace(0.03, 1.7, 12)]
        assert all(a <= b + 1e-12 for a, b in itertools.pairwise(by_radius))
        by_separation = [log_pack_error(lam, 0.2, s, dim) for s in np.geomspace(1e-4, 1.0, 12)]
        assert all(a >= b - 1e-12 for a, b in itertools.pairwise(by_separation))
        assert by_separation[-1] == by_separation[-2]  # more than 2 rho apart is no help
        assert math.exp(by_separation[-1]) > 0.2
    assert math.exp(log_pack_error(0.0, 0.1, 0.1, 3)) == pytest.approx(math.pi)


def greedy(dim, separation, rng):
    """A set of points farther than `separation` from each other, and how far a dense sample is from it."""
    sample = sphere.uniform(dim, 15_000, rng)
    far = np.full(len(sample), np.inf)
    points = []
    while far.max() > 2.0 * math.sin(separation / 2):
        points.append(sample[far.argmax()])
        far = np.minimum(far, np.linalg.norm(sample - points[-1], axis=1))
    return np.array(points)


@pytest.mark.parametrize(("dim", "rho"), [(1, 0.05), (2, 0.15), (3, 0.4)])
def test_separated_points_obey(dim, rho):
    rng = np.random.default_rng(dim)
    points = greedy(dim, rho, rng)
    assert math.log(len(points)) <= log_most_separated(rho, dim)
    covering = rho * (1.0 + 0.1)  # the sample itself is finer than this, seen below
    for lam in (5.0 / rho, 2.0 * dim / rho**2, 30.0 * dim / rho**2):
        worst = worst_case_error(points, lam, n=1500, refine=4).lower
        assert worst <= math.exp(log_pack_error(lam, covering, rho, dim)) * (1 + 1e-9)


def test_separated_points_are_no_more_than_rankin_allows():
    # 2 m + 2 points at right angles reach the bound's limit; its formula by brute force
    for dim in (2, 8, 24):
        separation = 0.7
        b = math.asin(math.sqrt(2) * math.sin(separation / 2))
        u, weight = colatitudes(dim)
        mean = np.sum(np.maximum(np.cos(u) - math.cos(b), 0.0) * weight) / np.sum(weight)
        rankin = math.log(math.sin(b) ** 2 / (2 * math.cos(b) * mean))
        volume = -log_cap_measure(dim, separation / 2)
        assert log_most_separated(separation, dim) == pytest.approx(min(volume, rankin), rel=1e-7)
        assert log_most_separated(separation, dim, sharp=False) == volume
        cross = log_most_separated(math.pi / 2 - 1e-9, dim)
        assert cross >= math.log(2 * dim + 2)
    # kissing: 240 points at 60 degrees on S^7, 196560 on S^23
    assert math.log(240) <= log_most_separated(math.pi / 3, 7) < math.log(240) + 0.7
    assert math.log(196560) <= log_most_separated(math.pi / 3, 23) < math.log(196560) + 1.5
    tiny = [log_most_separated(s, 8) + 8 * math.log(s) for s in (1e-3, 1e-30, 1e-55)]
    assert tiny == pytest.approx([tiny[0]] * 3, abs=1e-5)


def test_wide_goals_need_two_points_at_every_concentration():
    poles = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    for lam in (0.0, 1.0, 100.0):
        assert worst_case_error(poles, lam, n=2000).lower <= math.pi / 2 + 1e-7
        assert pack(Problem.checked(1.6, 2, concentration=lam)).value == 2.0
    assert pack(Problem.checked(1.6, 2)).concentration == 0.0
