"""4.4 (mean): what it promises, against direct quadrature, and its best concentration."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import error_bound
from bounds.records import Prefix
from bounds.records.problem import Problem
from bounds.theorems.mean import log_mean_error, split_mean
from spherapprox.special import log_cap_measure


@settings(max_examples=25)
@given(
    dim=st.integers(1, 10**4), share=st.floats(-12, 0.49).map(lambda e: 10.0**e),
    exponent=st.sampled_from([1.0, 1.0, 0.3]), lip=st.floats(-3, 3).map(lambda e: 10.0**e),
)  # fmt: skip
def test_mean_keeps_its_promise_and_is_best(dim, share, exponent, lip):
    eps = share**exponent * lip
    bound = split_mean(Problem(eps, dim, lip, exponent=exponent))
    assert bound.holds
    log_w = log_mean_error(bound.concentration, bound.radius, dim)
    assert lip * math.exp(exponent * log_w) == pytest.approx(eps, rel=1e-11)
    cells = -log_cap_measure(dim, bound.radius / 6) if dim > 1 else math.log(math.ceil(math.pi / bound.radius))
    assert bound.log == pytest.approx(cells, rel=1e-12)
    for factor in (0.1, 0.9, 0.999, 1.001, 1.1, 10.0, 1e4, 1e60):
        near = split_mean(Problem(eps, dim, lip, exponent=exponent, concentration=factor * bound.concentration))
        assert near.log >= bound.log * (1 - 1e-13) - 1e-11
        assert math.isfinite(near.log) == near.holds
        if near.holds:
            assert log_mean_error(near.concentration, near.radius, dim) == pytest.approx(log_w, rel=1e-11, abs=1e-11)


def test_mean_against_direct_quadrature():
    dim, lam, rho = 2, 30.0, 0.2
    theta = (np.arange(400_000) + 0.5) * math.pi / 400_000

    def kernel(angle):
        return np.exp(lam * np.cos(angle))

    measure = np.sin(theta)
    top = np.sum((theta + rho) * kernel(np.maximum(theta - rho, 0.0)) * measure)
    quotient = top / np.sum(kernel(np.minimum(theta + rho, math.pi)) * measure)
    bound = error_bound(
        dim=dim, theorem="sharp-split-mean", lipschitz=3.0, concentration=lam, points=Prefix(radius=rho)
    ).value
    assert bound == pytest.approx(3.0 * min(quotient, math.pi), rel=1e-8)
