"""`prefix_floor` against closed forms, grids and prefixes at random."""

import math
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spherapprox.prompts.prefix import prefix_floor

PAIR = [[0.2, 0.1], [0.3, 0.3]], [[0.1, 0.1], [0.2, 0.35]], [0.5, 1.0]
CORNERS = [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.5, 0.5]], [0.0, math.log(2.0)]


def sizes(rows, norm):
    return np.abs(rows).max(-1) if norm == "max" else np.linalg.norm(rows, axis=-1)


def error(targets, means, log_masses, log_psi, value, norm="max"):
    """The error of a prefix by its log mass and mean value."""
    share = 1.0 / (1.0 + np.exp(np.asarray(log_masses) - log_psi))[:, None]
    return sizes(share * value + (1.0 - share) * means - targets, norm).max()


def case(seed, most=6, spread=3.0):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, most + 1)), int(rng.integers(1, 5))
    return rng, rng.standard_normal((n, p)), rng.standard_normal((n, p)), spread * rng.standard_normal(n)


@pytest.mark.parametrize(
    ("problem", "options", "expected"),
    [
        (CORNERS, {}, 0.5),
        (CORNERS, {"norm": "euclidean"}, 0.5**0.5),
        (PAIR, {}, 0.0255717730633691),
        (PAIR, {"norm": "euclidean"}, 0.029984304773723353),
        (PAIR, {"log_psi": (0.0, math.log(2.0)), "value_bound": 0.4}, 0.034165115107227445),
    ],
)
def test_known_floors(problem, options, expected):
    floor = prefix_floor(*problem, **options)
    assert floor.error == pytest.approx(expected, rel=1e-14)
    assert floor.attained == (problem is PAIR)


def test_known_mass_within_limits():
    floor = prefix_floor(*PAIR, log_psi=(0.0, math.log(2.0)), value_bound=0.4)
    assert math.exp(floor.log_psi) == pytest.approx(1.3338621678197793, rel=1e-12)
    assert set(floor.worst_pair) == {0, 1}
    assert np.abs(floor.value).max() <= 0.4
    assert "error=0.0342" in repr(floor)


def test_a_floor_in_the_limit_of_small_masses_has_a_witness_beside_the_smallest():
    problem = [[0, 0], [1, 0], [-1, 0]], [[0.2, 0], [1.3, 0], [-0.7, 0]], [0.0, -30.0, -30.0]
    floor = prefix_floor(*problem)
    assert floor.error == pytest.approx(0.2, rel=1e-14)
    assert not floor.attained
    assert floor.log_psi == pytest.approx(-30.0 - math.log(1e9))
    assert error(*map(np.array, problem), floor.log_psi, floor.value) == pytest.approx(0.2, rel=1e-9)
    large = prefix_floor(*CORNERS[:2], [-7.0, 3.0])  # and in the limit of large ones beside the largest
    assert large.log_psi == pytest.approx(3.0 + math.log(1e9))
    assert not large.attained


@settings(max_examples=20)
@given(st.integers(0, 2**32))
@example(1180)
def test_no_prefix_beats_the_floor_and_its_own_attains_it(seed):
    rng, targets, means, masses = case(seed, spread=float(np.random.default_rng(seed).choice([0.1, 3.0, 20.0])))
    targets = targets * 10.0 ** rng.integers(-3, 3)
    bound = None if rng.random() < 0.5 else float(10.0 ** rng.uniform(-1, 1))
    low, high = (-math.inf, math.inf) if rng.random() < 0.5 else sorted(map(float, 2 * rng.standard_normal(2)))
    size = np.abs(targets).max() + np.abs(means).max()
    for norm in ("max", "euclidean"):
        floor = prefix_floor(targets, means, masses, norm=norm, log_psi=(low, high), value_bound=bound)
        near = sizes(means - targets, norm).max()
        if floor.log_psi > -math.inf:
            near = error(targets, means, masses, floor.log_psi, floor.value, norm)
            assert low - 1e-12 <= floor.log_psi <= high + 1e-12
            assert bound is None or sizes(floor.value, norm) <= bound * (1 + 1e-12)
        assert near >= floor.error - 1e-13 * size
        if norm == "max" or len(targets) < (3 if bound is None else 2):
            assert near <= floor.error + (1e-12 if floor.attained else 1e-7) * size
        elif bound is None:
            d = min(targets.shape[1], len(targets) - 1)
            assert near <= 1.001 * math.sqrt(2 * d / (d + 1)) * floor.error + 1e-12 * size
        middle = 0.0 if floor.log_psi == -math.inf else floor.log_psi
        for _ in range(20):
            log_psi = min(max(middle + 3 * rng.standard_normal() * rng.random(), low), high)
            value = floor.value + rng.standard_normal(len(floor.value)) * 10.0 ** rng.uniform(-4, 1)
            value *= 1.0 if bound is None else min(1.0, bound / sizes(value, norm))
            assert error(targets, means, masses, log_psi, value, norm) >= floor.error - 1e-13 * size


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_two_contexts_against_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    (t, s, a, b), masses = rng.standard_normal((4, 3)), 2 * rng.standard_normal(2)
    psi, (one, two) = np.exp(np.linspace(-20.0, 20.0, 8001)), np.exp(masses)
    apart = psi[:, None] * (t - s) + one * (t - a) - two * (s - b)
    for norm in ("max", "euclidean"):
        floor = prefix_floor([t, s], [a, b], masses, norm=norm).error
        grid = (sizes(apart, norm) / (2 * psi + one + two)).min()
        assert floor <= grid * (1 + 1e-13)
        assert grid <= floor + 5e-3 * np.abs([t, s, a, b]).max()


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_many_contexts_against_a_search_over_masses_and_intervals(seed):
    _rng, targets, means, masses = case(seed, most=9)
    floor = prefix_floor(targets, means, masses).error
    for log_psi in [*np.linspace(-12, 12, 200), prefix_floor(targets, means, masses).log_psi]:
        share = 1.0 / (1.0 + np.exp(masses - log_psi))[:, None]
        expected, best = targets - (1 - share) * means, 0.0
        for i in range(len(targets)):  # the means of values that suit row i, and the others
            apart = np.abs(share[i] * expected - share * expected[i]) / (share + share[i])
            best = max(best, apart.max())
        assert best >= floor * (1 - 1e-12) - 1e-14


@settings(max_examples=6)
@given(st.integers(0, 2**32))
def test_floors_are_the_same_in_other_units_and_places(seed):
    rng, targets, means, masses = case(seed)
    bound = None if seed % 2 else 0.7
    for norm in ("max", "euclidean"):
        floor = prefix_floor(targets, means, masses, norm=norm, value_bound=bound).error
        size = np.abs(targets).max() + np.abs(means).max()

        def same(other, unit=1.0, floor=floor, size=size):
            return other.error == pytest.approx(floor * unit, rel=1e-12, abs=1e-14 * size * unit)

        for unit in (1e-200, 1e200):
            limit = None if bound is None else unit * bound
            assert same(prefix_floor(unit * targets, unit * means, masses, norm=norm, value_bound=limit), unit)
        order = rng.permutation(len(masses))
        shuffled = targets[order], means[order], masses[order]
        assert same(prefix_floor(*shuffled, norm=norm, value_bound=bound))
        shifted = np.round(masses * 2**20) / 2**20
        floor = prefix_floor(targets, means, shifted, norm=norm, value_bound=bound).error
        moved = prefix_floor(targets, means, shifted + 2.0**14, norm=norm, value_bound=bound)
        assert moved.error == floor
        if bound is None:
            place = np.round(3 * rng.standard_normal(targets.shape[1]))
            assert prefix_floor(targets + place, means + place, shifted, norm=norm).error == pytest.approx(
                floor, rel=1e-11, abs=1e-14 * size
            )


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_log_masses_far_apart(seed):
    # where one context outweighs all others, a pair is worth what the heavier one wants changed
    rng, targets, means, _ = case(seed)
    masses = 3000.0 * rng.permutation(len(targets))
    for norm in ("max", "euclidean"):
        floor = prefix_floor(targets, means, masses, norm=norm)
        changes = sizes(targets - means, norm)
        # a prefix beside context k overwrites those below it and leaves those above; it is free at k alone
        order = np.argsort(masses)
        candidates = []
        for place in range(len(order) + 1):
            above = changes[order[place + 1 :]].max(initial=0.0)
            below = targets[order[:place]]
            inner = (below.max(0) - below.min(0)).max() / 2 if norm == "max" and place > 0 else 0.0
            candidates.append(max(above, inner))
        assert floor.error <= changes.max() * (1 + 1e-12)
        if norm == "max":
            assert floor.error >= min(candidates) * (1 - 1e-12)
        assert math.isfinite(floor.error)


def test_a_context_that_outweighs_all_others_hides_no_pair_of_them():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        targets, means, masses = 30 * rng.standard_normal((5, 1)), rng.standard_normal((5, 1)), rng.uniform(-15, 10, 5)
        masses[1] = 41.0
        share = 1.0 / (1.0 + np.exp(masses - 1.78))
        expected = (targets - (1.0 - share)[:, None] * means)[:, 0]
        apart = np.abs(np.outer(share, expected) - np.outer(expected, share)) / np.add.outer(share, share)
        floor = prefix_floor(targets, means, masses, log_psi=(1.78, 1.78))
        assert floor.error == pytest.approx(apart.max(), rel=1e-12)


def test_what_is_as_wanted_needs_the_empty_prefix():
    floor = prefix_floor([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]], [0.0, 5.0])
    assert (floor.error, floor.log_psi, floor.attained, floor.worst_pair) == (0.0, -math.inf, True, ())
    assert not floor.value.any()


def test_values_of_no_length_can_only_damp():
    # with F = 0 the output is (1 - share) times the mean
    floor = prefix_floor([[0.5]], [[1.0]], [0.3], value_bound=0.0)
    assert floor.error < 1e-15
    assert floor.log_psi == pytest.approx(0.3)
    assert prefix_floor([[2.0]], [[1.0]], [0.3], value_bound=0.0).error == 1.0


def test_short_values_are_best_where_they_weigh_most():
    # the output 0.5 is to be 2: the prefix brings it to 1, its bound, in the limit of large masses
    floor = prefix_floor([[2.0]], [[0.5]], [0.3], value_bound=1.0)
    assert floor.error == pytest.approx(1.0, rel=1e-14)
    assert floor.value.tolist() == [1.0]
    assert floor.worst_pair == (0,)
    assert not floor.attained


@given(st.integers(0, 2**31))
@settings(max_examples=20)
def test_values_within_a_bound_are_as_good_as_any_in_the_euclidean_norm(seed):
    # two contexts and a bound are three balls, which may meet in pairs only
    rng, targets, means, log_masses = case(seed)
    targets, means, log_masses = (np.concatenate([part, part[::-1] + 1.0])[:2] for part in (targets, means, log_masses))
    known = targets, means, log_masses
    floor = prefix_floor(*known, norm="euclidean", log_psi=(0.0, 1.0), value_bound=0.3)
    result = error(*known, floor.log_psi, floor.value, "euclidean")
    assert np.linalg.norm(floor.value) <= 0.3 * (1.0 + 1e-15)
    if floor.attained:
        assert result <= floor.error * (1.0 + 1e-8)
    for step in (0.1, 1e-2, 1e-3):
        for value in floor.value + step * rng.standard_normal((30, targets.shape[1])):
            inside = value * min(1.0, 0.3 / np.linalg.norm(value))
            assert error(*known, floor.log_psi, inside, "euclidean") >= result * (1.0 - 1e-3)


def test_prefixes_too_small_for_floats_do_nothing():
    rng, euclidean = np.random.default_rng(0), {"norm": "euclidean", "log_psi": (-5000.0, -4000.0)}
    known = targets, means, _ = *rng.standard_normal((2, 3, 2)), np.zeros(3)
    nothing = np.linalg.norm(targets - means, axis=1).max()
    bounded, free = prefix_floor(*known, **euclidean, value_bound=1.0), prefix_floor(*known, **euclidean)
    assert bounded.error == pytest.approx(nothing, rel=1e-12)
    assert bounded.attained
    assert np.linalg.norm(bounded.value) <= 1.0
    assert not free.attained or np.isfinite(free.value).all()


def test_two_contexts_that_meet_in_pairs_only_attain_nothing():
    # balls about (1, 1) and (1, -1) meet in (1, 0), and both the ball of values, elsewhere
    floor = prefix_floor(
        [[1.0, 1.0], [1.0, -1.0]], np.zeros((2, 2)), [-40.0, -40.0],
        norm="euclidean", log_psi=(0.0, 0.0), value_bound=0.2,
    )  # fmt: skip
    assert floor.error == pytest.approx(math.sqrt(2.0) - 0.2, rel=1e-12)
    assert not floor.attained
    assert floor.value == pytest.approx([0.2, 0.0], abs=1e-9)  # at a distance of sqrt(0.64 + 1) = 1.2806


def test_three_points_of_a_triangle_need_more_than_their_pairs():
    angles = 2 * np.pi * np.arange(3) / 3
    targets = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    floor = prefix_floor(targets, np.zeros((3, 2)), np.full(3, -40.0), norm="euclidean", log_psi=(0.0, 1.0))
    assert floor.error == pytest.approx(math.sqrt(3) / 2, rel=1e-12)
    assert not floor.attained
    near = error(targets, np.zeros((3, 2)), np.full(3, -40.0), floor.log_psi, floor.value, "euclidean")
    assert near == pytest.approx(1.0, rel=1e-6)  # the largest ratio for d = 2: 2 / sqrt(3)


def test_bounds_are_fast_for_many_contexts():
    rng = np.random.default_rng(0)
    targets, means = rng.standard_normal((2, 64, 64))
    begin = time.process_time()
    floor = prefix_floor(targets, means, rng.standard_normal(64))
    assert time.process_time() - begin < 0.3
    assert floor.error > 1.0
