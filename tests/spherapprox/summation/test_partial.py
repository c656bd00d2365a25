"""Sums over parts of the control points are merged in any order."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sums import sphere

from spherapprox.summation import numpy_tiles, partial

property_test = settings(derandomize=True, deadline=None, max_examples=40)


def partials(seed, parts, rate):
    n = 40
    x, b = sphere(5, 2, seed), sphere(n, 2, seed + 1)
    w = np.random.default_rng(seed).random((n, 2))
    cuts = np.sort(np.random.default_rng(seed + 2).choice(np.arange(1, n), parts - 1, replace=False))
    return [
        numpy_tiles.tile_sums(x, b[part], np.zeros(len(part)), w[part], rate) for part in np.split(np.arange(n), cuts)
    ], numpy_tiles.tile_sums(x, b, np.zeros(n), w, rate)


@property_test
@given(seed=st.integers(0, 10**6), log_rate=st.floats(-3.0, 8.0))
def test_merge_is_associative_and_commutative(seed, log_rate):
    rate = 10.0**log_rate
    (a, b, c), total = partials(seed, 3, rate)
    for other in (
        partial.merge(partial.merge(a, b, rate), c, rate),
        partial.merge(a, partial.merge(b, c, rate), rate),
        partial.merge(partial.merge(c, a, rate), b, rate),
    ):
        np.testing.assert_array_equal(other.shift, total.shift)
        np.testing.assert_allclose(other.numerators, total.numerators, rtol=1e-13, atol=1e-300)
        np.testing.assert_allclose(other.denominator, total.denominator, rtol=1e-13)


def test_an_empty_part_leaves_the_other_as_it_is():
    empty, other = (
        partial.Partial(np.array([s]), np.array([[2.0 * d]]), np.array([d])) for s, d in ((0.0, 0.0), (4.0, 1.0))
    )
    for pair in ((empty, other), (other, empty)):
        union = partial.merge(*pair, 750.0)
        assert (union.shift, union.numerators, union.denominator) == (4.0, 2.0, 1.0)
