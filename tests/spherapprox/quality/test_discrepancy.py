import itertools
import math

import mpmath
import numpy as np
import pytest
from pointsets import signed_rule

from spherapprox import PointSet, points, special, sphere
from spherapprox.quality import discrepancy


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 9, 50, 1001, 10**4])
def test_constants_against_gamma_functions(dim):
    with mpmath.workdps(30):
        m, half = mpmath.mpf(dim), mpmath.mpf(dim + 1) / 2
        logs = m * mpmath.log(2) + 2 * mpmath.loggamma(half) - mpmath.loggamma(m + 0.5) - mpmath.log(mpmath.pi) / 2
        chord = float(mpmath.exp(logs))
        height = float(mpmath.exp(mpmath.loggamma(half) - mpmath.loggamma(m / 2 + 1)) / (2 * mpmath.sqrt(mpmath.pi)))
    assert discrepancy.mean_chord(dim) == pytest.approx(chord, rel=1e-15)
    assert discrepancy.half_mean_height(dim) == pytest.approx(height, rel=2e-15)


@pytest.mark.parametrize(
    ("dim", "n", "heights"), [(1, 1, 4000), (1, 5, 4000), (2, 3, 2000), (2, 9, 2000), (3, 4, 1000)]
)
def test_l2_is_the_integral_over_caps(dim, n, heights):
    """By a product rule over the centres and the middles of equal intervals of heights."""
    rule, centers = signed_rule(dim, n, 1), points.gauss_product(dim, {1: 2000, 2: 60, 3: 16}[dim])
    t = (2.0 * np.arange(heights) + 1.0) / heights - 1.0
    measure = np.exp(special.log_cap_measure(dim, np.arccos(t)))
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
    even = points.uniform(dim, n, 0)
    assert even.cap_discrepancy() ** 2 == pytest.approx(l2_square(even), abs=2e-16)
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
    point = PointSet(np.ones((2000, 1)) * x[:1])
    assert point.cap_discrepancy() == pytest.approx(3**-0.5, rel=1e-14)  # C_2 V_2 = 1/3
    values = [points.fibonacci(n).cap_discrepancy() * n**0.75 for n in (50, 500, 2000)]
    assert np.ptp(values) < 0.01  # the best order for the sphere is n^(-3/4)


@pytest.mark.parametrize("dim", [1, 2])
def test_only_the_direction_of_rows_counts(dim):
    x = sphere.uniform(dim, 30, 0)
    longer = PointSet(x * (1.0 + 9e-7 * np.random.default_rng(0).random((30, 1))))
    assert longer.cap_discrepancy() == pytest.approx(PointSet(x).cap_discrepancy(), rel=1e-12)
    assert PointSet(x.astype(np.float32)).cap_discrepancy() == pytest.approx(PointSet(x).cap_discrepancy(), rel=1e-5)
