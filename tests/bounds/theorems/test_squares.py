"""Point sets with integer coordinates up to scale, against enumeration: docs/theorems/4.E-lower-without-sampling.md."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from bounds.covering.lattice import log_ball
from bounds.theorems._squares import (
    averaged_spheres,
    integer_spheres,
    log_arcs,
    log_close_pairs,
    log_power_gap,
    representations,
    rotation_trees,
)


def lattice_points(d, radius):
    """Return all integer points of R^d within the radius, and their squared norms."""
    side = range(-int(radius), int(radius) + 1)
    points = np.array(list(itertools.product(side, repeat=d)))
    norms = (points**2).sum(axis=1)
    inside = norms <= radius**2
    return points[inside], norms[inside]


def separated(points, angle):
    """Return how many of the unit rows a greedy choice keeps with all angles above the given one."""
    kept = np.empty((0, points.shape[1]))
    for point in points:
        if not len(kept) or (kept @ point).max() < math.cos(angle) - 1e-12:
            kept = np.vstack([kept, point])
    return len(kept)


# ----- sums of squares


def test_representations_against_jacobi():
    four, eight = representations(4, 400), representations(8, 400)
    for n in range(1, 401):
        divisors = [e for e in range(1, n + 1) if n % e == 0]
        assert four[n] == 8 * sum(e for e in divisors if e % 4)
        assert eight[n] == 16 * sum((-1) ** (n + e) * e**3 for e in divisors)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_representations_by_enumeration(k):
    _, norms = lattice_points(k, 5.0)
    assert representations(k, 25) == np.bincount(norms, minlength=26).tolist()


@pytest.mark.parametrize("k", [1, 2, 3, 24, 10_001, 1_000_001])
def test_representations_of_small_numbers(k):
    counts = representations(k, 5)
    pairs, triples = k * (k - 1) // 2, math.comb(k, 3)
    quadruples, quintuples = math.comb(k, 4), math.comb(k, 5)
    assert counts[:4] == [1, 2 * k, 4 * pairs, 8 * triples]
    assert counts[4] == 16 * quadruples + 2 * k  # 1+1+1+1 and 4
    assert counts[5] == 32 * quintuples + 8 * pairs  # 1+1+1+1+1 and 4+1


# ----- all integer points of one norm


@pytest.mark.parametrize(("dim", "angle"), [(1, 0.3), (2, 0.35), (3, 0.45)])
def test_integer_spheres_are_counted_and_separated(dim, angle):
    log_points, log_scale = integer_spheres(dim, angle)
    points, norms = lattice_points(dim + 1, math.exp(log_scale[-1]) + 0.01)
    for n, (log_count, log_q) in enumerate(zip(log_points, log_scale, strict=True), start=1):
        shell = points[norms == n] / math.exp(log_q)
        assert len(shell) == round(math.exp(log_count))
        cosines = shell @ shell.T - 2.0 * np.eye(len(shell))
        assert not len(shell) or np.arccos(np.clip(cosines.max(), -1.0, 1.0)) > angle
    assert 1.0 / (len(log_points) + 1) <= (1.0 - math.cos(angle)) * (1.0 + 1e-9)  # the next norm is not allowed


def test_integer_spheres_where_none_is_separated():
    assert len(integer_spheres(3, 0.5 * math.pi)[0]) == 0
    assert len(integer_spheres(3, 0.5 * math.pi - 1e-9)[0]) == 1  # the 8 points +-e_i


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_norms_at_the_angle_itself_are_left_out(dim):
    # points of norm^2 n are separated if n (1 - cos t) < 1, and at these angles that is 1 up to a rounding
    with mpmath.workdps(40):
        for n in range(1, 200):
            angle = 2.0 * math.asin(math.sqrt(0.5 / n))
            allowed = mpmath.ceil(1 / (1 - mpmath.cos(mpmath.mpf(angle)))) - 1
            assert n - 1 <= len(integer_spheres(dim, angle)[0]) <= allowed


# ----- the average over spheres


def close_pairs(points, norms, chord, outer):
    """Return the number of ordered pairs of equal norm and at most chord * outer apart, norm by norm."""
    counts = {}
    for n in np.unique(norms):
        shell = points[norms == n].astype(float)
        gaps = 2.0 * n - 2.0 * shell @ shell.T
        counts[int(n)] = int((gaps <= (chord * outer) ** 2 + 1e-9).sum()) - len(shell)
    return counts


@pytest.mark.parametrize(
    ("d", "outer", "inner", "chord"),
    [(3, 20.3, 10.0, 0.1), (3, 20.3, 17.0, 0.2), (3, 14.2, 7.1, 0.35), (4, 7.2, 4.0, 0.5)],
)
def test_shell_and_pair_counts(d, outer, inner, chord):
    points, norms = lattice_points(d, outer)
    shell = norms > inner**2
    pairs = sum(close_pairs(points[shell], norms[shell], chord, outer).values())
    bound = math.exp(float(log_close_pairs(d, np.array([outer]), np.array([inner]), chord)[0]))
    assert 0 < pairs <= bound <= 3000 * pairs
    half = 0.5 * math.sqrt(d)
    volume = log_ball(d) + log_power_gap(np.array(outer - half), np.array(inner + half), d)
    assert math.exp(volume) <= shell.sum() <= 8.0 * math.exp(volume)


def test_no_pairs_below_the_shortest_even_difference():
    outer = math.sqrt(2.0) / 0.1 * np.array([0.999, 1.001])
    assert log_close_pairs(4, outer, 0.5 * outer, 0.1)[0] == -math.inf
    assert log_close_pairs(4, outer, 0.5 * outer, 0.1)[1] > 0.0


def test_pair_bound_is_of_the_right_size():
    # volumes alone: slices of the shell, times the integral of 1/|v| over the even half of the lattice
    d, outer, chord = 9, 1e12, 1e-6
    inner = 0.999 * outer
    bound = float(log_close_pairs(d, np.array([outer]), np.array([inner]), chord)[0])
    slices = log_ball(d - 1) + (d - 1) * math.log(outer) + math.log1p(-(0.999 ** (d - 1)))
    differences = log_ball(d) + math.log(d / (d - 1) / 2.0) + (d - 1) * math.log(chord * outer)
    assert slices + differences < bound < slices + differences + 0.02


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("angle", [0.02, 0.15])
def test_some_sphere_is_as_good_as_the_average(dim, angle):
    log_points, log_scale = averaged_spheres(dim, angle)
    outer = 20.0 if dim == 2 else 7.0
    points, norms = lattice_points(dim + 1, outer)
    chord = 2.0 * math.sin(0.5 * angle)
    best = 0.0
    for n, pairs in close_pairs(points, norms, chord, outer).items():
        count = (norms == n).sum()
        best = max(best, count**2 / (count + pairs))
    promised = math.exp(log_points[np.exp(log_scale) <= outer].max())
    assert 1.0 < promised <= best


@pytest.mark.parametrize(("dim", "angle"), [(2, 0.15), (2, 0.5), (3, 0.5)])
def test_the_average_counts_all_points_and_all_pairs(dim, angle):
    # B^2 / (number of norms (B + S H)), without logarithms
    d, (log_points, log_scale) = dim + 1, averaged_spheres(dim, angle)
    half = 0.5 * math.sqrt(d)
    for log_outer in np.unique(log_scale):
        outer, best = math.exp(log_outer), 0.0
        for inner in outer * np.exp(-(2.0 ** (0.5 * np.arange(-14, 6))) / d):
            if outer - half > (inner + half) * (1.0 + 1e-9):
                points = math.exp(log_ball(d)) * ((outer - half) ** d - (inner + half) ** d)
                bound, second = np.array([outer]), np.array([inner])
                pairs = math.exp(log_close_pairs(d, bound, second, 2.0 * math.sin(0.5 * angle))[0])
                best = max(best, points**2 / ((outer**2 - inner**2 + 1.0) * (points + pairs)))
        assert math.exp(log_points[log_scale == log_outer].max()) == pytest.approx(best, rel=1e-8)
        if outer > 1e4:
            break


def test_average_keeps_most_of_a_packing():
    # 4.E: a fixed share of 1/sigma(C(angle)) once the radius is a large multiple of 1/angle
    from spherapprox.special import log_cap_measure

    log_points, log_scale = averaged_spheres(8, 2e-6)
    share = log_points + log_cap_measure(8, 2e-6)
    assert -0.25 < share.max() < 0.0
    assert log_scale[np.argmax(share > -0.3)] < math.log(1e5 / 2e-6)


def test_average_needs_more_than_a_circle():
    assert len(averaged_spheres(1, 0.1)[0]) == 0


# ----- rotations by sums of arctan 2^-j


def rotations(last):
    """Return the complex integers i^k prod_j (2^j +- i) and their common squared norm, exactly."""
    points = {(1, 0)}
    for j in range(1, last + 1):
        points = {(2**j * a - e * b, 2**j * b + e * a) for a, b in points for e in (1, -1)}
    for _ in range(3):
        points |= {(-b, a) for a, b in points}
    return sorted(points), math.prod(4**j + 1 for j in range(1, last + 1))


@pytest.mark.parametrize("last", [0, 1, 3, 7])
def test_rotations_leave_small_gaps(last):
    points, norm = rotations(last)
    assert all(a * a + b * b == norm for a, b in points)
    angles = np.sort([math.atan2(b, a) for a, b in points])
    gaps = np.diff(np.append(angles, angles[0] + 2.0 * math.pi))
    assert gaps.max() <= 2.0 * math.atan(2.0**-last) + 1e-12
    _, log_scale = rotation_trees(1, 2.0 ** -(last + 2.5))  # the entries begin at s = last
    assert log_scale[0] == pytest.approx(0.5 * math.log(norm), abs=1e-13)


def tree_points(dim, last):
    """Return all points of S^2 or S^3 whose angles along a binary tree are rotations."""
    points, norm = rotations(last)
    circle = np.array(points) / math.sqrt(norm)
    if dim == 2:
        rows = [(*(root[0] * left), root[1]) for root in circle for left in circle]
    else:
        rows = [(*(root[0] * left), *(root[1] * right)) for root in circle for left in circle for right in circle]
    return np.unique(np.round(rows, 12), axis=0)


@pytest.mark.parametrize(("dim", "last"), [(2, 2), (2, 4), (3, 2)])
def test_trees_cover_and_hold_the_points_promised(dim, last):
    points = tree_points(dim, last)
    norm = math.prod(4**j + 1 for j in range(1, last + 1))
    assert np.allclose(points[:, :2] * norm, (points[:, :2] * norm).round(), atol=1e-6)  # leaves of depth 2
    rng = np.random.default_rng(5)
    x = rng.standard_normal((400, dim + 1))
    x /= np.linalg.norm(x, axis=1)[:, None]
    nearest = np.arccos(np.minimum((x @ points.T).max(axis=1), 1.0)).max()
    cover = math.sqrt(2.0) * math.atan(2.0**-last)
    assert 0.2 * cover < nearest <= cover
    angle = 2.0 ** -(last + 0.5) if last == 2 else 2.0**-2.5
    log_points, log_scale = rotation_trees(dim, angle)
    entry = last - max(0, math.floor(-math.log2(angle)) - 2)
    assert log_scale[entry] == pytest.approx(math.log(norm), abs=1e-12)
    assert 2.0 < math.exp(log_points[entry]) <= separated(rng.permutation(points), angle)


@pytest.mark.parametrize("angle", [0.05, 0.3, 2.0 * math.pi / 7.0])
def test_arcs_of_rotations(angle):
    log_points, _ = rotation_trees(1, angle)
    points, _ = rotations(9)
    at = np.sort(np.mod([math.atan2(b, a) for a, b in points], 2.0 * math.pi))
    choice = [at[0]]
    for value in at:
        if value > choice[-1] + angle and value < choice[0] + 2.0 * math.pi - angle:
            choice.append(value)
    entry = 9 - max(0, math.floor(-math.log2(angle)) - 2)
    assert 0.9 * len(choice) <= round(math.exp(log_points[entry])) <= len(choice)


def test_arcs_are_strictly_apart():
    assert np.exp(log_arcs(np.array([2.0 * math.pi / 5.0, 1.25, 1.26, 3.2, 6.0]))).round(9).tolist() == [4, 5, 4, 1, 1]


@pytest.mark.parametrize(
    ("last", "n"), [(18, 696_201), (18, 721_548), (21, 5_693_785), (21, 5_542_831), (24, 44_431_864)]
)
def test_arcs_at_the_angle_itself_are_left_out(last, n):
    # n angles t + 2 gamma are 2 pi and less than a rounding more
    with mpmath.workdps(40):
        exact = 2 * mpmath.pi / n - 2 * mpmath.atan(mpmath.mpf(2) ** -last)
        angle = float(exact)
        angle = angle if angle >= exact else math.nextafter(angle, 1.0)
    log_points, _ = rotation_trees(1, angle)
    entry = last - max(0, math.floor(-math.log2(angle)) - 2)
    assert round(math.exp(log_points[entry])) == n - 1


@pytest.mark.parametrize("dim", [1, 2, 8, 1000, 1_000_000])
@pytest.mark.parametrize("angle", [1e-100, 1e-12, 1e-3, 0.4, 1.5, 3.1])
def test_families_are_finite(dim, angle):
    for family in (averaged_spheres, rotation_trees):
        log_points, log_scale = family(dim, angle)
        assert np.isfinite(log_points).all()
        assert np.isfinite(log_scale).all()
        assert len(log_points) or dim == 1
    assert not np.isnan(integer_spheres(min(dim, 1000), max(angle, 0.05))[0]).any()
