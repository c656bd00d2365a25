"""Finite groups, their invariant harmonics, and Newton's method on their orbits."""

import itertools
import types

import numpy as np
import pytest
from scipy.special import eval_legendre

from spherapprox import points, sphere
from spherapprox.points import designs, newton, symmetry


def test_points_that_coincide_are_no_design(monkeypatch):
    axis = np.eye(3)[2:]
    icosahedral = symmetry.groups()[0]
    images = icosahedral.orbits(axis).round(9) + 0.0
    assert len(np.unique(images, axis=0)) == 30  # an edge's midpoint: every point twice
    monkeypatch.setattr(newton.sphere, "uniform", lambda *_: axis.copy())
    unrelaxed = types.SimpleNamespace(integers=lambda _: 0)
    assert newton.solve(icosahedral, 5, 1, attempts=2, rng=unrelaxed) is None


def test_odd_harmonics_have_mean_0_on_orbits_with_antipodes():
    for group in symmetry.groups():
        has_antipodes = (np.abs(group.elements + np.eye(3)).max((1, 2)) < 1e-12).any()
        assert group.sufficient_degree(5) == (4 if has_antipodes else 5)
        assert group.sufficient_degree(4) == 4


def test_groups_are_closed_and_orthogonal():
    assert [len(g) for g in symmetry.groups()] == [60, 24, 12, 6, 3, 2, 1]
    for group in symmetry.groups():
        elements = group.elements
        assert np.array_equal(elements[0], np.eye(3))
        assert np.abs(elements @ elements.transpose(0, 2, 1) - np.eye(3)).max() < 5e-16
        products = np.einsum("aij,bjk->abik", elements[:: max(1, len(group) // 7)], elements).reshape(-1, 9)
        keys = {tuple(row) for row in elements.reshape(len(group), -1).round(6) + 0.0}
        assert len(keys) == len(group)
        assert {tuple(row) for row in products.round(6) + 0.0} == keys


def test_molien_series_counts_invariants():
    for group in symmetry.groups():
        counts = group.invariants(12)
        poles = group.orbits(sphere.uniform(2, 60, 0)).reshape(60, len(group), -1)
        t = np.einsum("ni,kgi->nkg", poles[:, 0], poles)
        for k in range(1, 13):
            rank = np.linalg.matrix_rank(eval_legendre(k, t).mean(2), tol=1e-10, hermitian=True)
            assert rank == min(60, counts[k])
    assert designs._exact_degree(symmetry.groups()[0], 12) == 14  # the icosahedron's invariants: 6, 10, 12, 15


@pytest.mark.parametrize(("index", "degree"), [(2, 9), (0, 12), (6, 4)])
def test_invariants_are_orthonormal_and_their_slopes_are_right(index, degree):
    group = symmetry.groups()[index]
    functions = newton.Invariants(group, degree)
    rule = points.gauss_product(2, 2 * degree)
    values = functions(rule.points)[0]
    assert len(values) == group.invariants(degree)[1:].sum()
    assert np.abs(values * rule.weights @ values.T - np.eye(len(values))).max() < 1e-12
    x = np.vstack([sphere.uniform(2, 6, 3), np.eye(3), -np.eye(3)])
    values, slopes, tangents = functions(x)
    assert np.abs(np.einsum("qui,qi->qu", tangents, x)).max() < 1e-15
    assert np.abs(tangents @ tangents.transpose(0, 2, 1) - np.eye(2)).max() < 1e-15
    moved = np.einsum("gij,nj->gni", group.elements, x)[-1]
    assert np.abs(functions(moved)[0] - values).max() < 1e-11
    h = 1e-5
    for u in range(2):
        ahead, behind = (np.cos(h) * x + s * np.sin(h) * tangents[:, u] for s in (1.0, -1.0))
        difference = (functions(ahead)[0] - functions(behind)[0]) / (2 * h)
        assert np.abs(difference - slopes[..., u]).max() < 1e-6 * max(1.0, np.abs(slopes).max())


def test_freedom_is_the_dimension_of_the_commuting_rotations():
    for group in symmetry.groups():
        generators = []
        for i, j in itertools.combinations(range(3), 2):
            skew = np.zeros((3, 3))
            skew[i, j], skew[j, i] = 1.0, -1.0
            generators.append((group.elements @ skew - skew @ group.elements).ravel())
        assert group.freedom == len(generators) - np.linalg.matrix_rank(np.array(generators))


def test_no_solution_is_no_design():
    icosahedral = symmetry.groups()[0]
    rng = np.random.default_rng(0)
    assert newton.solve(icosahedral, 12, 1, attempts=2, rng=rng) is None  # three equations, two unknowns
    x = points.spherical_design(2, 8).points
    with pytest.raises(RuntimeError, match=r"no design of degree 9: a mean is .*'rng'"):
        designs._check_design(x, 9)
    with pytest.raises(RuntimeError, match=r"no design of degree 8: a mean is .*'rng'"):
        designs._check_design(sphere.from_polar(sphere.to_polar(x) * (1 + 1e-12)), 8)


def test_certificate_rejects_a_singular_jacobian():
    group = symmetry.groups()[2]
    functions = newton.Invariants(group, 8)
    x = points.spherical_design(2, 8).points[:: len(group)]
    values, slopes, _ = functions(x)
    flat = slopes.reshape(len(values), -1) / len(x)
    assert newton._is_certified(group, 8, flat)
    flat[-1] = flat[0]
    assert not newton._is_certified(group, 8, flat)
