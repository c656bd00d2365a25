"""Core heads whose kernels are too narrow for their control points: which are warned of, and that good ones are not."""

import itertools
import re
import warnings

import numpy as np
import pytest

from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, Target, points, sphere, sup_error


def height(x):
    return x[:, 2]


def warned(points, concentration, rule="riemann", function=height, kind=CoreHead):
    """Return the head, and the warnings in making it with the files that they point to."""
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        head = kind.from_target(function, points, concentration, rule)
    assert all(record.category is RuntimeWarning and record.filename == __file__ for record in records)
    return head, [str(record.message) for record in records]


def largest(message):
    return float(re.search(r"they carry up to ([^:, ]+)[^:]*: take that or less, or more points", message)[1])


def test_a_useless_head_is_warned_of_by_the_concentration_that_its_points_carry():
    partition = EqualMeasurePartition(2, 1000)
    assert not warned(partition, 1e8, kind=SplitHead)[1]  # which do not depend on the sum of kernels
    assert not warned(partition, 0.0)[1]
    named = []
    for concentration, error in ((100.0, 0.041), (1e3, 1.01), (1e4, 19.0), (1e5, 199.0), (1e300, None)):
        head, messages = warned(partition, concentration)
        if error is not None:
            assert sup_error(head, height, n=2000).lower == pytest.approx(error, rel=0.02)
        assert len(messages) == (concentration > 100.0)
        named += map(largest, messages)
        assert all("is too large for these 1000 control points" in message for message in messages)
    assert np.ptp(named) < 0.02 * named[0]
    assert all("where that sum is within 5% of 1" in message for message in messages)
    for function in (height, lambda x: np.ones(len(x))):
        head, messages = warned(partition, min(named), function=function)
        assert not messages
        assert 0.02 < sup_error(head, function, n=2000).lower < 0.06


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_good_heads_are_not_and_bad_ones_are(dim):
    sets = [EqualMeasurePartition(dim, 800), points.gauss_product(dim, 9)] + [points.fibonacci(800)] * (dim == 2)
    for nodes, concentration in itertools.product(sets, 2.0 ** np.arange(0, 18, 2)):
        head, messages = warned(nodes, concentration, function=lambda x: np.ones(len(x)))
        error = sup_error(head, Target(lambda x: np.ones(len(x)), dim), n=2000, refine=0).lower
        assert not (messages and error < 0.5)
        assert messages or error < 0.7


def test_points_that_miss_a_half_of_the_sphere_are_warned_of():
    rows = sphere.uniform(2, 2000, rng=0)
    rows[:, 2] = np.abs(rows[:, 2])
    (message,) = warned(rows, 30.0)[1]
    assert 0.1 < largest(message) < 3.0


def test_interpolation_by_kernels_that_do_not_overlap_is_warned_of():
    partition = EqualMeasurePartition(2, 1000)
    head, messages = warned(partition, 1e4, "interpolation")
    assert len(messages) == 1
    assert "the head falls to 0 between them" in messages[0]
    assert sup_error(head, height, n=2000).lower > 0.9
    assert not warned(partition, 0.99 * largest(messages[0]), "interpolation")[1]
    clusters = np.concatenate([partition.centers()[:50], sphere.uniform(2, 50, rng=0)])
    assert not warned(clusters, 30.0, "interpolation")[1]


def test_interpolation_that_falls_between_scattered_points_is_warned_of():
    x, t = sphere.uniform(2, 1000, rng=1), sphere.uniform(2, 500, rng=9)
    for concentration in (20.0, 300.0, 1000.0):
        head, messages = warned(x, concentration, "interpolation", lambda x: np.ones(len(x)))
        error = np.sqrt(np.mean(np.square(head(t) - 1.0)))
        assert len(messages) == (concentration > 100.0)
        assert error < 1e-3 if not messages else error > 0.1
    assert not warned(x, 0.99 * largest(messages[0]), "interpolation")[1]
    assert not warned([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], 5.0, "interpolation")[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lengths_that_pass_for_1_do_not_hide_it(dtype):
    rows = (sphere.uniform(2, 500, rng=0) * (1.0 - 4e-7)).astype(dtype)
    (message,) = warned(rows, 1e9)[1]
    assert re.search(r"add up to 4e\+06 at one", message)
