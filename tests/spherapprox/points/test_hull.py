"""Convex hulls: their facets, whether these cover the sphere, and their points of least norm."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pointsets import minimal_vectors_d
from scipy.spatial import ConvexHull

from spherapprox import sphere
from spherapprox.points.covering import hull as hulls
from spherapprox.points.covering import refine
from spherapprox.points.covering.least_norm import least_norm
from spherapprox.points.covering.radius import covering_interval
from spherapprox.quality.nearest import unit

fixed = settings(derandomize=True, deadline=None, max_examples=20)
seeds = st.integers(0, 2**32 - 1)


def test_large_facets_are_cut_into_few_simplices_that_fit_together():
    # 6-orthoplex, rectified: 64 simplices, rectified, of 26 units of volume (Eulerian), and 12 cross-polytopes of 16
    x = minimal_vectors_d(6)
    facets = hulls.facets_of(x, np.arange(60), hulls.lift_of(x))
    assert len(facets.radii) <= 64 * 26 + 12 * 16
    assert hulls.covers(x, facets)
    assert hulls.have_pieces(hulls.facets_of(x, np.arange(60)))
    assert not hulls.have_pieces(facets)
    interval = covering_interval(x)
    assert interval.lower == pytest.approx(math.acos(3**-0.5), abs=1e-14)
    assert interval.upper < interval.lower + 1e-6


def test_cover_is_not_certified_with_a_hole_or_a_fold():
    x = sphere.uniform(3, 60, 0)
    facets = hulls.facets_of(x, np.arange(60))
    assert hulls.covers(x, facets)
    torn = hulls.Facets(*(part[1:] for part in facets))
    assert not hulls.covers(x, torn)
    twice = hulls.Facets(*(np.concatenate([part, part]) for part in facets))  # every direction in an even number
    assert not hulls.covers(x, twice)
    north = unit(x * [1, 1, 1, 0.2] + [0, 0, 0, 1.0])
    assert not hulls.covers(north, hulls.facets_of(north, np.arange(60)))


def test_ridges_are_compared_where_their_words_agree(monkeypatch):
    vertices = np.sort(hulls.facets_of(sphere.uniform(3, 30, 0), np.arange(30)).vertices, axis=1)
    assert hulls._pair_ridges(vertices, 30)
    torn = vertices[2:]  # an even number of ridges
    assert not hulls._pair_ridges(torn, 30)

    class SameWords:
        def integers(self, *_, size, **__):
            return np.zeros(size, dtype=np.uint64)

    monkeypatch.setattr(np.random, "default_rng", lambda _: SameWords())
    assert not hulls._pair_ridges(torn, 30)


@pytest.mark.parametrize(("height", "odd"), [(1e-3, True), (1e-9, True), (1e-15, False), (-1e-9, False)])
def test_a_direction_is_inside_a_cone_where_that_is_beyond_rounding(height, odd):
    # one cone over the first octant's part of a plane, and a direction that is higher by so much than its edge
    x = np.eye(3)
    facets = hulls.Facets(np.array([[0, 1, 2]]), unit(np.ones((1, 3))), np.array([1.0]))
    assert hulls._odd(x, facets, unit(np.array([[0.7, 0.6, height]]))[0]) is odd


def test_cones_that_are_flat_up_to_rounding_prove_nothing():
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    x = unit(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 1e-15]]) @ turn)
    facets = hulls.Facets(np.array([[0, 1, 2]]), unit(x.sum(axis=0)[None]), np.array([0.8]))
    assert not hulls._odd(x, facets, unit(x.sum(axis=0)[None])[0])


def test_most_facets_is_that_of_cyclic_polytopes():
    for d, n in ((3, 9), (4, 9), (5, 10), (6, 10)):
        t = np.arange(1.0, n + 1) / n
        assert len(ConvexHull(t[:, None] ** np.arange(1, d + 1)).simplices) == refine.largest_facet_count(n, d)


@fixed
@given(st.integers(2, 8), st.integers(1, 60), seeds, st.floats(-1.0, 1.0))
def test_least_norm_is_optimal(d, n, seed, shift):
    x = sphere.uniform(d - 1, n, seed)
    x[:, -1] += shift
    x = unit(x)
    p, index, weights = least_norm(x)
    length = np.linalg.norm(p)
    assert (x @ p).min() >= length**2 - 1e-14  # p separates the hull from the origin, or is the origin
    assert weights.min() >= 0.0  # and it is a point of the hull
    assert weights.sum() == pytest.approx(1.0, abs=1e-15)
    assert weights @ x[index] == pytest.approx(p, abs=1e-15)
