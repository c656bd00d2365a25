"""Derivatives of spherical polynomials, against their closed forms."""

import itertools

import numpy as np
import pytest

from spherapprox import sphere
from spherapprox.harmonics import PolynomialDerivatives
from spherapprox.harmonics.forms import directions


def cubic(dim, seed=0):
    """Return a homogeneous cubic polynomial, and its derivatives along geodesics from x in directions u."""
    form = np.random.default_rng(seed).standard_normal((dim + 1,) * 3)
    form = sum(form.transpose(order) for order in itertools.permutations(range(3))) / 6

    def at(*vectors):
        return np.einsum("abc,na,nb,nc->n", form, *vectors, optimize=True)

    def rates(x, u):
        # 6.3: p' - ..., with p'[u] = 3 c(x, x, u), p''[u, v] = 6 c(x, u, v), p'''[u, u, u] = 6 c(u, u, u)
        first, second = 3 * at(x, x, u), 6 * at(x, u, u) - 3 * at(x, x, x)
        return first, second, 6 * at(u, u, u) - 18 * at(x, x, u) - 3 * at(x, x, u)

    return lambda x: at(x, x, x), rates


def along(result, directions):
    """Return the directions as tangent vectors, and the derivatives along them."""
    u = np.einsum("ni,nia->na", directions, result.frame)
    first = np.einsum("npi,ni->np", result.first, directions)
    second = np.einsum("npij,ni,nj->np", result.second, directions, directions)
    third = np.einsum("npijk,ni,nj,nk->np", result.third, *[directions] * 3, optimize=True)
    return u, (first[:, 0], second[:, 0], third[:, 0])


@pytest.mark.parametrize(("dim", "degree"), [*itertools.product((1, 2, 3, 4), (3, 6, 35)), (7, 3)])
def test_derivatives_of_a_cubic_polynomial(dim, degree):
    function, rates = cubic(dim)
    x = np.concatenate([sphere.uniform(dim, 40, rng=1), np.eye(dim + 1), -np.eye(dim + 1)])
    result = PolynomialDerivatives(function, dim, degree)(x)
    tangents = sphere.uniform(dim - 1, len(x), rng=2) if dim > 1 else np.ones((len(x), 1))
    u, derivatives = along(result, tangents)
    size = np.abs(function(x)).max()
    assert np.allclose(result.value[:, 0], function(x), rtol=0, atol=1e-13 * size)
    for order, (slopes, expected) in enumerate(zip(derivatives, rates(x, u), strict=True), 1):
        assert np.abs(slopes - expected).max() <= 1e-14 * size * (degree + 1) ** order


def test_frames_are_orthonormal_and_tangent():
    x = np.concatenate([sphere.uniform(4, 30, rng=0), np.eye(5), -np.eye(5)])
    frame = PolynomialDerivatives(lambda x: x[:, 0], 4, 1)(x, order=2).frame
    assert np.abs(np.einsum("nia,nja->nij", frame, frame) - np.eye(4)).max() < 1e-15 * 4
    assert np.abs(np.einsum("nia,na->ni", frame, x)).max() < 1e-15 * 4


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
@pytest.mark.parametrize("order", [2, 3])
def test_directions_are_as_many_as_a_form_has_components(dim, order):
    u = directions(dim, order)
    assert len(u) == {2: dim * (dim + 1) // 2, 3: dim * (dim + 1) * (dim + 2) // 6}[order]
    powers = np.einsum("ni,nj->nij", u, u) if order == 2 else np.einsum("ni,nj,nk->nijk", u, u, u)
    assert np.linalg.matrix_rank(powers.reshape(len(u), -1)) == len(u)


def test_components_of_a_field_are_taken_one_by_one():
    (f, _), (g, _) = cubic(2), cubic(2, 1)
    x = sphere.uniform(2, 20, rng=0)
    field = PolynomialDerivatives(lambda x: np.stack([f(x), g(x)], axis=1), 2, 3)(x)
    for column, function in enumerate((f, g)):
        alone = PolynomialDerivatives(function, 2, 3)(x)
        assert np.allclose(field.second[:, column], alone.second[:, 0], atol=1e-12)
        assert np.allclose(field.third[:, column], alone.third[:, 0], atol=1e-12)


def test_a_constant_has_no_derivatives():
    result = PolynomialDerivatives(lambda x: np.full(len(x), 3.0), 3, 0)(np.eye(4))
    assert not result.first.any()
    assert not result.third.any()
