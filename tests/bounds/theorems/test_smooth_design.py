"""The split head on a spherical design for bounded second derivatives (4.I, design), and its concentration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bounds
from bounds.records import Prefix
from bounds.theorems import state
from bounds.theorems.smooth_design import smooth_design_error
from bounds.theorems.smooth_quadrature import smooth_quadrature_error
from spherapprox import CoreHead, SplitHead, Target, points, sphere

DESIGNS = (points.spherical_design(1, 9), points.spherical_design(2, 12), points.spherical_design(2, 20))


def parabola(pole):
    """Return <p, .>^2 / 2, whose second derivatives are at most 1."""
    return Target(lambda x: 0.5 * (x @ pole) ** 2, len(pole) - 1, lipschitz=0.5, sup_norm=0.5, smoothness=1.0)


def achieved(head, target, pole):
    x = np.concatenate([pole[None, :], sphere.uniform(target.dim, 1500, 1)])
    return float(np.abs(head(x) - target(x)).max())


@settings(max_examples=25)
@given(rule=st.sampled_from(DESIGNS), share=st.floats(0.02, 2.0), seed=st.integers(0, 99))
def test_error_bound_contains(rule, share, seed):
    pole, lam = sphere.uniform(rule.dim, 1, seed)[0], share * rule.degree
    target = parabola(pole)
    bound = bounds.error_bound(theorem="sharp-split-smooth", target=target, points=rule, concentration=lam)
    assert achieved(SplitHead.from_target(target, rule, lam), target, pole) <= bound.value


def test_it_is_the_core_head_s_bound_without_the_sup_norm_over_what_the_tail_leaves():
    core, split = smooth_quadrature_error(20.0, 40, 2, 1.0, 0.0, 1.0), smooth_design_error(20.0, 40, 2, 1.0, 1.0)
    assert core < split < core * (1.0 + 1e-6)
    assert smooth_design_error(60.0, 20, 2, 1.0, 1.0) > smooth_quadrature_error(60.0, 20, 2, 1.0, 0.0, 1.0) * 1.1
    assert smooth_design_error(1e3, 20, 2, 1.0, 1.0) == math.inf == smooth_design_error(1.0, 3, 2, 1.0, 1.0)


def test_a_sup_norm_that_is_not_known_bounds_no_slope():
    options = {"dim": 2, "theorem": state("sharp-split-smooth", smoothness=1.0), "concentration": 15.0}
    options["points"] = Prefix(exactness=20)
    steep = bounds.error_bound(lipschitz=50.0, **options).value
    assert steep == bounds.error_bound(lipschitz=0.5 * math.pi * (1.0 + 1e-15), **options).value  # pi H / 2
    assert steep == bounds.error_bound(lipschitz=50.0, sup_norm=9.0, **options).value
    assert steep > bounds.error_bound(lipschitz=50.0, sup_norm=0.02, **options).value
    assert (
        steep > bounds.error_bound(lipschitz=0.3, **options).value > bounds.error_bound(lipschitz=0.1, **options).value
    )


def test_hoelder_targets_have_no_bound():
    refused = bounds.error_bound(
        theorem=state("sharp-split-smooth", smoothness=1.0), dim=2, lipschitz=1.0, exponent=0.5, concentration=5.0,
        points=Prefix(exactness=8),
    )  # fmt: skip
    assert refused.value == math.inf
    assert refused.failed


@pytest.mark.parametrize(
    ("theorem", "family", "rule"),
    [("sharp-split-smooth", SplitHead, DESIGNS[2]), ("sharp-core-smooth", CoreHead, points.gauss_product(2, 30))],
)
def test_the_least_bound_is_nearly_the_error_there_and_that_at_most_thrice_the_least_error(theorem, family, rule):
    pole = rule.points[3]
    target = parabola(pole)
    best = bounds.best_concentration(theorem=theorem, target=target, points=rule)
    errors = [
        achieved(family.from_target(target, rule, lam), target, pole)
        for lam in best.concentration * np.geomspace(0.25, 2.9, 16)
    ]
    mine = achieved(family.from_target(target, rule, best.concentration), target, pole)
    assert mine <= best.value <= 1.25 * mine
    assert mine <= 3.0 * min(errors)
    for factor in (0.97, 1.03):
        lam = factor * best.concentration
        assert bounds.error_bound(theorem=theorem, target=target, points=rule, concentration=lam).value > best.value


def test_a_degree_takes_the_place_of_points():
    options = {"dim": 3, "lipschitz": 1.0, "sup_norm": 1.0, "theorem": state("sharp-core-smooth", smoothness=1.0)}
    errors = [
        bounds.best_concentration(points=Prefix(exactness=degree), **options).value
        for degree in (20, 100, 10**4, 10**7)
    ]
    assert all(a > 5.0 * b for a, b in itertools.pairwise(errors))
