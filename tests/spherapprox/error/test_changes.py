"""6.6: the bounds of the change of derivatives over cells, from their definitions, and where they are needed."""

import math

import numpy as np
import pytest

from spherapprox import SplitHead, sphere
from spherapprox.error.certified.changes import curvature_bound, slope_bound
from spherapprox.error.certified.derivatives import Derivative


def by_definition(b, values, rate, c, delta):
    """The bounds (slope) and (curvature) of 6.6 of what is added in a cell, term by term."""
    weights = np.exp(rate * (b @ c - (b @ c).max()))
    weights /= weights.sum()
    b, v = b - weights @ b, values - weights @ values
    q, s, g = 2.0 * math.sin(0.5 * delta), math.sin(delta), 1.0 - math.cos(delta)
    y = rate * q * np.linalg.norm(b, axis=1)
    sizes = {"1": np.ones(len(b)), "b": np.linalg.norm(b, axis=1), "v": np.linalg.norm(v, axis=1)}
    sizes |= {name: np.prod([sizes[letter] for letter in name], axis=0) for name in ("vb", "bb", "vbb")}
    e = {name: weights @ ((np.expm1(y) - y) * size) for name, size in sizes.items()}
    grown = {name: weights @ (np.expm1(y) * size) for name, size in sizes.items()}
    first = np.einsum("k,kp,ki->pi", weights, v, b)
    pairs = np.einsum("k,ki,kj->ij", weights, b, b)
    third = np.einsum("k,kp,ki,kj->pij", weights, v, b, b)
    fourth = np.einsum("k,kp,ki,kj,kl->pijl", weights, v, b, b, b)
    tangent = np.eye(len(c)) - np.outer(c, c)
    phi = fourth - sum(
        np.einsum(f"p{i},{jk}->pijl", first, pairs) for i, jk in (("i", "jl"), ("j", "il"), ("l", "ij"))
    )  # fmt: skip
    phi, flat = np.einsum("pijl,ia,jb,lc->pabc", phi, *3 * [tangent]), tangent @ third @ tangent
    kappa = weights @ (sizes["vbb"] * np.abs(b @ c))
    size = np.linalg.norm
    first_c, pairs_c, third_c = size(first @ c), size(pairs @ c), size(third @ c)
    first, pairs, n_v, n_b = size(first), size(pairs), rate * q * size(first) + e["v"], rate * q * size(pairs) + e["b"]
    slope = rate * (s * first_c + rate * s * size(flat) + rate * (g + q * s) * third_c + e["vb"] + n_v * n_b)
    linear = rate**3 * s * size(phi) + rate**2 * (3 * s + g + s**2) * third_c + rate * (s**2 * first_c + q * first)
    linear += rate**3 * (g + 2 * q * s) * (kappa + first_c * pairs + 2 * first * pairs_c)
    rest = rate**2 * (e["v"] * pairs + n_v * grown["bb"] + 2 * first * e["b"] + 2 * grown["vb"] * n_b)
    rest += rate * n_v * n_b
    more = rate**2 * (e["vbb"] + q**2 * size(third)) + rate * e["vb"] + 2 * rate**2 * n_v * n_b**2
    return slope, linear + rest + e["1"] * (3 * rate**3 * q * first * pairs + rest) + more


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("rate", [0.3, 3.0, 12.0])
def test_bounds_are_those_of_the_page(dim, rate):
    rng = np.random.default_rng(dim)
    head = SplitHead(sphere.uniform(dim, 5, rng), rng.standard_normal((5, 2)), rate)
    x, radii = sphere.uniform(dim, 6, rng), np.array([1e-3, 0.01, 0.05, 0.2, 0.5, 1.0]) / math.sqrt(1.0 + rate)
    for order, bound in ((1, slope_bound), (2, curvature_bound)):
        problem = Derivative.of(head, order)
        got = bound(problem.local(x, radii, order + 1)) * problem.unit
        expected = [
            by_definition(head.control_points, head.values, rate, *cell)[order - 1]
            for cell in zip(x, radii, strict=True)
        ]
        assert (got >= np.array(expected) * (1.0 - 1e-9)).all()
        np.testing.assert_allclose(got, expected, rtol=1e-4)
