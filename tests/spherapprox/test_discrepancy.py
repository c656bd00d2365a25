from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import PointSet, points, special, sphere
from spherapprox._kernels.quality import caps
from spherapprox.quality import discrepancy

cap_measure = np.vectorize(caps.measure)
fixed = settings(derandomize=True, deadline=None, max_examples=30)


def signed_rule(dim, n, seed):
    """Return points and weights of any sign with sum 1."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=n)
    return PointSet(sphere.uniform(dim, n, rng), weights + (1.0 - weights.sum()) / n)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 9, 50, 1001, 10**4])
def test_constants_against_gamma_functions(dim):
    with mpmath.workdps(30):
        m, half = mpmath.mpf(dim), mpmath.mpf(dim + 1) / 2
        logs = m * mpmath.log(2) + 2 * mpmath.loggamma(half) - mpmath.loggamma(m + 0.5) - mpmath.log(mpmath.pi) / 2
        chord = float(mpmath.exp(logs))
        height = float(mpmath.exp(mpmath.loggamma(half) - mpmath.loggamma(m / 2 + 1)) / (2 * mpmath.sqrt(mpmath.pi)))
    assert discrepancy.mean_chord(dim) == pytest.approx(chord, rel=1e-15)
    assert discrepancy.half_mean_height(dim) == pytest.approx(height, rel=2e-15)


@pytest.mark.parametrize("dim", [1, 2, 3, 5, 8, 51])
def test_cap_measure(dim):
    t = np.cos(np.linspace(0.0, np.pi, 101))
    assert np.abs(cap_measure(dim, t) - np.exp(special.log_cap_measure(dim, np.arccos(t)))).max() < 2e-15


@pytest.mark.parametrize(
    ("dim", "n", "heights"), [(1, 1, 4000), (1, 5, 4000), (2, 3, 2000), (2, 9, 2000), (3, 4, 1000)]
)
def test_l2_is_the_integral_over_caps(dim, n, heights):
    """By a product rule over the centres and the middles of equal intervals of heights."""
    rule, centers = signed_rule(dim, n, 1), points.gauss_product(dim, {1: 2000, 2: 60, 3: 16}[dim])
    t = (2.0 * np.arange(heights) + 1.0) / heights - 1.0
    measure = cap_measure(dim, t)
    total = 0.0
    for c, w in zip(centers.points, centers.weights, strict=True):
        order = np.argsort(rule.points @ c)
        share = np.concatenate([[0.0], np.cumsum(rule.weights[order])])
        inside = 1.0 - share[np.searchsorted((rule.points @ c)[order], t)]
        total += w * np.mean((inside - measure) ** 2) * 2.0
    assert rule.cap_discrepancy() == pytest.approx(math.sqrt(total), rel=2e-3)


def l2_square(rule):
    """Return the square of the discrepancy of the rounded points and weights, in forty digits."""
    with mpmath.workdps(40):
        m, half = mpmath.mpf(rule.dim), mpmath.mpf(rule.dim + 1) / 2
        chord = 2**m * mpmath.gamma(half) ** 2 / (mpmath.sqrt(mpmath.pi) * mpmath.gamma(m + 0.5))
        height = mpmath.gamma(half) / (2 * mpmath.sqrt(mpmath.pi) * mpmath.gamma(m / 2 + 1))
        rows = [[mpmath.mpf(c) for c in row] for row in rule.points.tolist()]
        rows = [[c / mpmath.sqrt(mpmath.fdot(row, row)) for c in row] for row in rows]
        weights = [mpmath.mpf(w) for w in rule.weights.tolist()]
        total = mpmath.mpf(0)
        for (x, w), (y, v) in itertools.combinations(zip(rows, weights, strict=True), 2):
            total += 2 * w * v * mpmath.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))
        mass = mpmath.fsum(weights)
        return float((mass - 1) ** 2 + height * ((2 * mass - 1) * chord - total))


@pytest.mark.parametrize(("dim", "n"), [(1, 1), (1, 70), (2, 2), (2, 60), (3, 30), (40, 20)])
def test_l2_against_forty_digits(dim, n):
    rule = signed_rule(dim, n, 2)
    assert rule.cap_discrepancy() ** 2 == pytest.approx(l2_square(rule), abs=1e-15, rel=1e-14)
    assert points.uniform(dim, n, 0).cap_discrepancy() ** 2 == pytest.approx(
        l2_square(points.uniform(dim, n, 0)), abs=2e-16
    )
    third = PointSet(rule.points, rule.weights * (1.0 + 4e-7))  # a sum of weights that is 1 only nearly
    assert third.cap_discrepancy() ** 2 == pytest.approx(l2_square(third), abs=1e-15, rel=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 3000])
def test_l2_of_equispaced_points_of_the_circle(n):
    square = (4 / mpmath.pi - 2 * mpmath.cot(mpmath.pi / (2 * n)) / n) / mpmath.pi
    assert points.gauss_product(1, n - 1).cap_discrepancy() ** 2 == pytest.approx(float(square), abs=2e-16)


def test_l2_of_coinciding_points_and_of_many():
    x = sphere.uniform(2, 300, 0)
    twice = PointSet(np.vstack([x, x, x[:1]]), np.concatenate([np.full(600, 1 / 600) - 0.0, [0.0]]))
    assert twice.cap_discrepancy() == pytest.approx(PointSet(x).cap_discrepancy(), rel=1e-13)
    assert twice.cap_discrepancy(workers=3) == twice.cap_discrepancy()
    one = PointSet(np.ones((2000, 1)) * x[:1])
    assert one.cap_discrepancy() == pytest.approx(3**-0.5, rel=1e-14)  # C_2 V_2 = 1/3
    values = [points.fibonacci(n).cap_discrepancy() * n**0.75 for n in (50, 500, 2000)]
    assert np.ptp(values) < 0.01  # the best order for the sphere is n^(-3/4)


@fixed
@given(st.integers(1, 7), st.booleans(), st.integers(0, 2**32 - 1))
def test_sup_on_the_circle_is_that_of_all_arcs(n, signed, seed):
    rng = np.random.default_rng(seed)
    turns = rng.integers(0, 12, n) / 12.0 if n % 2 else rng.random(n)  # odd n: points coincide
    weights = rng.normal(size=n) if signed else rng.random(n) + 0.01
    weights /= weights.sum()
    weights = weights if np.abs(weights).max() < 50 else np.full(n, 1 / n)
    rule = PointSet(np.column_stack([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)]), weights)
    best = 0.0
    for u, v in itertools.product(turns, repeat=2):
        for before, after in itertools.product((-1e-9, 1e-9), repeat=2):
            for length in ((v - u) % 1.0, (v - u) % 1.0 + 1.0):
                inside = (turns - u - before) % 1.0 <= length - before + after
                best = max(best, abs(weights[inside].sum() - length) if length <= 1.0 else 0.0)
    found = rule.cap_discrepancy("sup")
    assert found.lower == pytest.approx(best, abs=1e-7 * np.abs(weights).sum())
    assert found.lower <= found.upper <= found.lower + 1e-14 * np.abs(weights).sum()
    assert np.linalg.norm(found.at) == pytest.approx(1.0)


def kuiper(rule):
    """Return the largest difference over the arcs of the rounded points and weights in forty digits."""
    with mpmath.workdps(40):
        turns = [mpmath.atan2(y, x) / (2 * mpmath.pi) for x, y in rule.points.tolist()]
        total = mpmath.fsum(rule.weights.tolist())
        share, top, bottom = mpmath.mpf(0), -mpmath.inf, mpmath.inf
        for turn, weight in sorted(zip(turns, rule.weights.tolist(), strict=True)):
            bottom = min(bottom, share - turn)
            share += weight / total
            top = max(top, share - turn)
        return top - bottom


@fixed
@given(st.integers(1, 200), st.booleans(), st.integers(0, 2**32 - 1))
def test_upper_value_on_the_circle_allows_for_rounding(n, signed, seed):
    rule = signed_rule(1, n, seed) if signed else points.uniform(1, n, seed)
    found = rule.cap_discrepancy("sup")
    truth = kuiper(rule)
    slack = (n + 16) * 2.3e-16 * max(1.0, np.abs(rule.weights).sum())
    assert truth - slack <= found.lower <= truth + slack
    assert truth <= found.upper <= truth + 2 * slack
    assert signed or found.lower <= found.upper <= 1.0


@pytest.mark.parametrize("dim", [2, 3, 8])
def test_upper_value_is_not_below_the_lower_one_nor_above_one(dim):
    for seed in (51, *range(5)):
        rng = np.random.default_rng(seed)
        x = np.eye(dim + 1)[dim] + 1e-9 * rng.standard_normal((40, dim + 1))
        weights = rng.random(40)
        rule = PointSet(x / np.linalg.norm(x, axis=1, keepdims=True), weights / weights.sum())
        found = rule.cap_discrepancy("sup", cells=256)
        assert 0.99 < found.lower <= found.upper <= 1.0


def largest_about(rule, center):
    """Return the largest difference over caps about a centre, closed or open, point by point."""
    t = rule.points @ center
    best = 0.0
    for height in t:
        measure = math.exp(special.log_cap_measure(rule.dim, math.acos(max(-1.0, min(1.0, height)))))
        best = max(best, rule.weights[t >= height].sum() - measure, measure - rule.weights[t > height].sum())
    return best


def through(x):
    """Return the centres of caps whose boundary holds dim + 1 of the points."""
    normals = []
    for some in itertools.combinations(x, x.shape[1]):
        normal = np.linalg.svd(np.diff(some, axis=0))[2][-1]
        normals.append(normal)
    return normals


@pytest.mark.parametrize(
    ("dim", "n", "equal", "cells"),
    [(2, 1, True, 100), (2, 7, True, 3000), (2, 8, False, 1), (2, 8, False, 3000), (3, 6, False, 2000)],
)
def test_sup_encloses_the_caps_through_points(dim, n, equal, cells):
    rng = np.random.default_rng(n)
    weights = rng.random(n) + 0.1
    rule = PointSet(sphere.uniform(dim, n, rng), None if equal else weights / weights.sum())
    found = rule.cap_discrepancy("sup", cells=cells)
    assert 0.0 < found.lower <= found.upper <= 1.0
    assert largest_about(rule, found.at) == pytest.approx(found.lower, abs=1e-13)
    brute = max(largest_about(rule, c) for c in [*through(rule.points), *rule.points, *sphere.uniform(dim, 300, 0)])
    assert brute <= found.upper
    if cells >= 2000:
        assert found.lower > 0.93 * brute
        assert found.upper - found.lower < (0.05 if dim == 2 else 0.25)


def test_sup_of_known_sets():
    poles = PointSet([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]).cap_discrepancy("sup", cells=2**13)
    assert poles.lower <= 0.5 <= poles.upper < 0.52
    assert poles.lower > 0.49
    one = PointSet([[0.6, 0.0, 0.8]]).cap_discrepancy("sup")
    assert one.lower <= 1.0 == one.upper
    assert one.lower > 0.99
    octagon = points.gauss_product(1, 7).cap_discrepancy("sup")
    assert octagon.upper == pytest.approx(0.125, rel=1e-14)


def test_ranges_of_cells_change_nothing(monkeypatch):
    rule = points.uniform(2, 30, 1)
    found = rule.cap_discrepancy("sup", cells=5000)
    monkeypatch.setattr(discrepancy, "_RANGE", 3 * 71)
    again = rule.cap_discrepancy("sup", cells=5000)
    assert (again.lower, again.upper) == (found.lower, found.upper)
    assert np.array_equal(again.at, found.at)


def test_sup_improves_with_cells_and_workers_change_nothing():
    rule = points.sobol(2, 128, 0)
    found = [rule.cap_discrepancy("sup", cells=cells) for cells in (50, 400, 3000)]
    assert found[0].upper > found[1].upper > found[2].upper
    assert max(f.lower for f in found) <= min(f.upper for f in found)
    again = rule.cap_discrepancy("sup", cells=3000, workers=2)
    assert (again.lower, again.upper) == (found[2].lower, found[2].upper)
    assert np.array_equal(again.at, found[2].at)


@pytest.mark.parametrize("dim", [1, 2])
def test_only_the_direction_of_rows_counts(dim):
    x = sphere.uniform(dim, 30, 0)
    longer = PointSet(x * (1.0 + 9e-7 * np.random.default_rng(0).random((30, 1))))
    assert longer.cap_discrepancy() == pytest.approx(PointSet(x).cap_discrepancy(), rel=1e-12)
    here, there = (rule.cap_discrepancy("sup", cells=300) for rule in (longer, PointSet(x)))
    assert here[:2] == pytest.approx(there[:2], rel=1e-10)
    assert PointSet(x.astype(np.float32)).cap_discrepancy("sup", cells=300).lower == pytest.approx(there[0], rel=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rule: rule.cap_discrepancy("l1"), "'norm' must be one of 'l2', 'sup', got 'l1'"),
        (lambda rule: rule.cap_discrepancy("sup", cells=0), "'cells' must be at least 1, got 0"),
        (lambda rule: rule.cap_discrepancy("sup", cells=10**12), r"'cells' = 10{12} .*operations.*lower 'cells'"),
        (
            lambda rule: rule.cap_discrepancy("sup", cells=10**10),
            r"'cells' = 10{10} .* 2.45e\+14 op.* 3e\+11: lower 'cel",
        ),
        (lambda rule: rule.cap_discrepancy("sup", cells=10**400), "'cells' must be at most 1000000000000, got 10000"),
        (lambda rule: rule.cap_discrepancy(workers=0), "'workers' must be at least 1"),
        (
            lambda rule: PointSet(rule.points[:2], [1.5, -0.5]).cap_discrepancy("sup"),
            r"'weights' must not be negative for norm='sup' on S\^2, got -0.5: norm='l2' takes any sign",
        ),
        (
            lambda rule: discrepancy.l2(np.broadcast_to(1.0, (10**7, 2)), np.ones(1)),
            "10000000 points of S.1 would take .*operations",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(points.uniform(2, 40, 0))
