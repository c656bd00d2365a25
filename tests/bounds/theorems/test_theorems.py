"""The library's own theorems: printed values, what they promise at what they return, and containment."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds import error_bound, prefix_length
from bounds.records import Prefix
from bounds.theorems import LADDER, state
from spherapprox.special import log_cap_measure


def test_sharp_split_is_the_smaller_one():
    names = [theorem.name for theorem in LADDER if theorem.joins == "sharp-split"]
    for lam in (None, 50.0, 1e4):
        parts = [prefix_length(0.5, dim=3, theorem=state(name, concentration=lam)).log for name in names]
        assert prefix_length(0.5, dim=3, theorem=state("sharp-split", concentration=lam)).log == min(parts)


@given(dim=st.integers(1, 50), n=st.integers(1, 10**9))
def test_lower_radius_inverts_the_cap_measure(dim, n):
    radius = error_bound(dim=dim, theorem=state("lower", covering="greedy"), lipschitz=1.0, points=Prefix(n=n)).value
    assert log_cap_measure(dim, radius) == pytest.approx(-math.log(n), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("theorem", ["sharp-core", "sharp-split-mean", "sharp-split-nearest"])
@pytest.mark.parametrize("dim", [1, 2, 100])
def test_prefixes_shorten_where_the_constant_becomes_good_enough(theorem, dim):
    # at eps = pi/2 the needed concentration reaches 0, the best one does not
    eps = [1.5, math.pi / 2 - 1e-9, math.pi / 2, math.pi / 2 + 1e-9, 1.6, 2.0, 3.2]
    logs = [b.log for b in prefix_length(eps, dim=dim, theorem=theorem, sup_norm=10.0)]
    assert all(a >= b - 1e-9 * abs(b) for a, b in itertools.pairwise(logs))
    assert logs[3] == pytest.approx(logs[1], rel=1e-6, abs=1e-6)
