"""The floor for bounded second derivatives (4.J): its bumps, built and differentiated, and its numbers."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bounds
from bounds.records import Prefix
from bounds.records.problem import Problem
from bounds.theorems import state
from bounds.theorems.lower import lower
from bounds.theorems.lower_smooth import bump_height, bump_radius, lower_smooth
from bounds.theorems.smooth_quadrature import smooth_quadrature
from spherapprox import sphere


def problem(eps, dim, **options):
    return Problem.checked(eps, dim, **{"smoothness": 1.0} | options)


def bump(theta, radius, lipschitz, smoothness):
    """Integrate psi' = -H min(theta, s, r - theta) from r inwards, on a grid, exactly but for rounding."""
    s = min(0.5 * radius, lipschitz / smoothness)
    slope = -smoothness * np.clip(np.minimum(np.minimum(theta, s), radius - theta), 0.0, None)
    steps = 0.5 * (slope[1:] + slope[:-1]) * np.diff(theta)  # the slope is piecewise linear
    return np.append(-np.cumsum(steps[::-1])[::-1], 0.0), slope


@pytest.mark.parametrize(
    ("radius", "lipschitz", "smoothness"), [(0.8, 1.0, 1.0), (2.5, 1.0, 1.0), (math.pi, 0.4, 3.0), (math.pi, 9.0, 1.0)]
)
def test_the_bump_has_its_height_slope_and_second_derivatives(radius, lipschitz, smoothness):
    s = min(0.5 * radius, lipschitz / smoothness)
    theta = np.unique([*np.linspace(0.0, math.pi, 20001), s, radius - s, radius])
    psi, slope = bump(theta, radius, lipschitz, smoothness)
    assert psi[0] == pytest.approx(bump_height(radius, lipschitz, smoothness), rel=1e-12)
    assert np.abs(psi[theta >= radius]).max() == 0.0
    assert np.abs(slope).max() <= lipschitz * (1.0 + 1e-14)
    # the second derivatives along geodesics are means of psi'' and psi' cot(theta)
    along = np.diff(slope) / np.diff(theta)
    across = slope[1:-1] / np.tan(theta[1:-1])
    assert np.abs(along).max() == pytest.approx(smoothness, rel=1e-6)
    assert np.abs(across).max() <= smoothness * (1.0 + 1e-12)


@settings(max_examples=15)
@given(radius=st.floats(0.2, math.pi), lipschitz=st.floats(0.1, 3.0), dim=st.integers(1, 4), seed=st.integers(0, 99))
def test_second_differences_of_the_bump_along_geodesics(radius, lipschitz, dim, seed):
    rng, step = np.random.default_rng(seed), 0.01
    x, tangent = sphere.uniform(dim, 800, rng).reshape(2, 400, dim + 1)
    tangent -= (tangent * x).sum(axis=1, keepdims=True) * x
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    theta = np.linspace(0.0, math.pi, 200_001)
    psi, _ = bump(theta, radius, lipschitz, 1.0)
    heights = [(math.cos(t) * x + math.sin(t) * tangent)[:, -1] for t in (-step, 0.0, step)]
    values = [np.interp(np.arccos(np.clip(height, -1.0, 1.0)), theta, psi) for height in heights]
    assert np.abs(values[0] - 2.0 * values[1] + values[2]).max() <= step * step + 1e-8
    assert np.abs(values[2] - values[0]).max() <= 2.0 * step * lipschitz + 1e-9


@settings(max_examples=60)
@given(st.floats(-9.0, 9.0), st.floats(-9.0, 9.0), st.floats(-9.0, 9.0))
def test_height_and_radius_are_inverse_and_rise_together(log_eps, log_lipschitz, log_smoothness):
    eps, lipschitz, smoothness = (10.0**x for x in (log_eps, log_lipschitz, log_smoothness))
    radius = bump_radius(eps, lipschitz, smoothness)
    assert bump_height(radius, lipschitz, smoothness) == pytest.approx(eps, rel=1e-12)
    assert radius >= max(2.0 * math.sqrt(eps / smoothness), eps / lipschitz) * (1.0 - 1e-15)
    assert bump_radius(1.01 * eps, lipschitz, smoothness) > radius


@pytest.mark.parametrize("dim", [1, 2, 8, 300])
@pytest.mark.parametrize("eps", [1e-6, 0.01, 0.3])
def test_the_floor_lies_between_1_and_what_suffices_and_tends_to_that_of_lipschitz_targets(dim, eps):
    floor = [lower_smooth(problem(eps, dim, smoothness=bend)).log for bend in (1e-3, 0.1, 1.0, 10.0, 1e9)]
    assert all(0.0 <= a <= b for a, b in itertools.pairwise(floor))
    assert floor[-1] <= lower(Problem(eps, dim)).log
    assert floor[-1] == pytest.approx(lower(Problem(eps, dim)).log, rel=1e-2)
    assert floor[2] <= smooth_quadrature(problem(eps, dim)).log
    assert floor[2] == lower(Problem(2.0 * math.sqrt(eps), dim, sup_norm=9.0)).log
    assert lower_smooth(problem(eps, dim)).radius == 2.0 * math.sqrt(eps)


@pytest.mark.parametrize(
    ("eps", "dim", "bend"), [(1e-60, 1, 1.0), (1e-60, 8, 1e-60), (1e-60, 10**6, 1e60), (0.5, 3, 1e-60), (1e60, 2, 1.0)]
)
def test_extreme_arguments_have_finite_floors(eps, dim, bend):
    bound = lower_smooth(problem(eps, dim, smoothness=bend, sup_norm=1e61))
    assert bound.holds
    assert 0.0 <= bound.log < math.inf


def test_what_the_floor_needs():
    assert lower_smooth(problem(1.0, 3)).failed == ("eps < sup_norm",)
    assert lower_smooth(problem(0.1, 3, smoothness=None)).failed[0].startswith("a bound of second derivatives")


def test_the_error_form_is_the_inverse_of_the_count():
    options = {"lipschitz": 1.0, "theorem": state("lower-smooth", smoothness=1.0)}
    for dim, eps in ((1, 0.01), (2, 0.05), (8, 0.003), (8, 2.0)):
        n = bounds.prefix_length(eps, dim=dim, sup_norm=9.0, **options).as_integer()
        assert bounds.error_bound(dim=dim, points=Prefix(n=n), **options).value <= eps
        if n > 2:
            assert bounds.error_bound(dim=dim, points=Prefix(n=n - 1), **options).value > eps * (1.0 - 1e-6)
    assert bounds.error_bound(dim=2, sup_norm=0.01, points=Prefix(n=3), **options).value == pytest.approx(
        0.01, rel=1e-14
    )
