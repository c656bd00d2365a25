"""The thesis's numbers: printed values, mpmath at 40 digits, and containment of its lemmas."""

import itertools
import math
from decimal import Decimal

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds import HypothesisError, concentration, error_bound, prefix_length, thesis
from spherapprox.vmf import VonMisesFisher

ONES = {"ragozin": 1.0, "harmonic": 1.0}

# dim, eps, Lambda(eps/2), log10 N of 4.12, then lambda and log10 N of 4.15 as printed and as corrected
TABLE = [
    (8, 0.5, "47221.534186322", "414.957100276", "16623.51662", "382.7398687", "18133711.57", "659.7276244"),
    (8, 0.1, "22172757.573877", "667.988569422", "7198167.571", "632.6029591", "8934933824", "914.3072189"),
    (16, 0.1, "23222355.56554", "2119.50725921", "7644565.56", "1992.763569", "3.159784025e10", "3105.458717"),
]


def agrees(value, printed):
    """Whether a float agrees with a printed decimal to 1e-12 relative or to all printed digits."""
    last_digit = 10.0 ** Decimal(printed).as_tuple().exponent
    return abs(value - float(printed)) <= max(1e-12 * abs(value), 0.501 * last_digit)


@pytest.mark.parametrize("row", TABLE)
def test_table(row):
    dim, eps, *printed = row
    assert agrees(concentration(eps / 2, dim=dim, theorem="thesis", **ONES), printed[0])
    core = prefix_length(eps, dim=dim, theorem="thesis-core", **ONES)
    assert agrees(core.concentration, printed[0])
    assert agrees(core.log10, printed[1])
    for theorem, (lam, log10) in zip(
        ("thesis-split", "thesis-split-corrected"), (printed[2:4], printed[4:6]), strict=True
    ):
        bound = prefix_length(eps, dim=dim, theorem=theorem, **ONES)
        assert agrees(bound.concentration, lam)
        assert agrees(bound.log10, log10)


def truth_concentration(eps, dim, lip, c_r, c_h):
    with mp.workdps(200):
        eps, lip, c_r, c_h = (mp.mpf(v) for v in (eps, lip, c_r, c_h))
        u = 1 - eps**2 / (8 * lip * c_h * c_r + 2 * eps * c_h)
        if u <= 0:
            return mp.mpf(0)
        s = eps / (4 * lip * c_r + eps)
        return (8 * lip * c_r + dim * eps + eps) * u**s / (eps * (1 - u ** (2 * s)))


positive = st.floats(-6, 6).map(lambda e: 10.0**e)


@given(
    eps=st.floats(-12, 1).map(lambda e: 10.0**e), dim=st.integers(1, 10**4), lip=positive, c_r=positive, c_h=positive
)
def test_concentration_against_mpmath(eps, dim, lip, c_r, c_h):
    value = concentration(eps, dim=dim, lipschitz=lip, theorem="thesis", ragozin=c_r, harmonic=c_h)
    truth = truth_concentration(eps, dim, lip, c_r, c_h)
    drop = eps**2 / (8 * lip * c_h * c_r + 2 * eps * c_h)
    if drop < 0.99:
        assert value == pytest.approx(float(truth), rel=2e-14)
    else:  # log(1 - drop) is ill-conditioned: one rounding of drop moves it
        assert value == pytest.approx(float(truth), rel=1e-3, abs=1e-3) or drop > 0.999


def test_concentration_is_zero_where_nothing_is_needed():
    assert concentration(10.0, dim=8, theorem="thesis", ragozin=1.0) == 0.0
    assert prefix_length(9.0, dim=8, theorem="thesis-core", ragozin=1.0).concentration == 0.0


def test_series_has_m_plus_5():
    # erratum 8: the second coefficient; (Lambda - first term) eps^3 / 16 -> m + 5
    for dim, expected in ((2, 7.0), (8, 13.0)):
        with mp.workdps(60):
            eps = mp.mpf("1e-9")
            rest = (truth_concentration(eps, dim, 1, 1, 1) - 128 / eps**4) * eps**3 / 16
        assert float(rest) == pytest.approx(expected, abs=1e-6)
    series = thesis.concentration_series(1e-4, 8, lipschitz=2.0, ragozin=3.0, harmonic=0.5)
    exact = thesis.concentration_needed(1e-4, 8, lipschitz=2.0, ragozin=3.0, harmonic=0.5)
    assert series == pytest.approx(exact, rel=1e-9)


@given(degree=st.integers(0, 60), dim=st.integers(1, 200), lam=st.floats(-2, 5).map(lambda e: 10.0**e))
def test_eigenvalues_are_above_lemma_b23(degree, dim, lam):
    truth = float(VonMisesFisher(dim, lam).eigenvalues(max(degree, 1), log=True)[degree])
    assert thesis.eigenvalue_lower(degree, lam, dim) <= truth + 1e-12


def test_projection_error_contains_a_harmonic():
    # W_q = one harmonic Y_q with sup 1 moves by exactly 1 - a_q, C_H = 1
    for dim, degree, lam in ((2, 3, 10.0), (8, 5, 300.0), (1, 1, 0.5)):
        moved = 1.0 - float(VonMisesFisher(dim, lam).eigenvalue(degree))
        assert moved <= thesis.projection_error(degree, lam, dim, harmonic=1.0)


def test_count_against_mpmath():
    with mp.workdps(40):
        dim, lip, sup, eps, lam = 8, mp.mpf(2), mp.mpf(3), mp.mpf("0.25"), mp.mpf(1000)
        nu = mp.mpf(dim - 1) / 2
        area = 2 * mp.pi ** (nu + 1) / mp.gamma(nu + 1)
        c = area * lam**nu / ((2 * mp.pi) ** (nu + 1) * mp.besseli(nu, lam, maxterms=10**6))
        d = dim + 1
        phi = mp.e * (d * mp.log(d) + d * mp.log(mp.log(d)) + 5 * d)
        truth = mp.log(phi * (3 * mp.pi * (lip + lam * sup) * c * mp.exp(lam) / eps) ** (2 * d))
    assert thesis.log_count(1000.0, 0.25, 8, lipschitz=2.0, sup_norm=3.0) == pytest.approx(float(truth), rel=1e-13)


def test_ragozin_limit_is_a_bessel_zero():
    for dim in (1, 2, 3, 8, 16, 101, 1000, 10_000):
        with mp.workdps(30):
            zero = mp.mpf(thesis.ragozin_limit(dim)) / mp.pi
            order = mp.mpf(dim) / 2 - 1
            assert abs(mp.besselj(order, zero) / (zero * mp.besselj(order + 1, zero))) < 1e-13
            # the first zero: no sign change before it
            grid = [zero * k / 40 for k in range(1, 40)]
            assert all(mp.besselj(order, x) > 0 for x in grid)


def test_hypotheses():
    low = prefix_length(0.1, dim=7, theorem="thesis-core")
    assert (low.value, low.failed) == (math.inf, ("dim >= 8",))
    with pytest.raises(HypothesisError, match=r"Theorem 4\.12 needs dim >= 8"):
        prefix_length(0.1, dim=2, theorem="thesis-core", strict=True)
    assert "eps < 2 sup_norm" in prefix_length(1.0, dim=8, sup_norm=0.4, theorem="thesis-split").failed
    small = prefix_length(0.1, dim=8, theorem="thesis-core", concentration=10.0)
    assert small.value == math.inf
    assert any("concentration >=" in reason for reason in small.failed)


def test_core_error_inverts_the_prefix_length():
    # at lambda = Lambda(eps/2) and the radius of 4.12 the two halves are eps/2 each, up to arccos(1-d) <= pi/2 sqrt(d)
    eps, dim = 0.5, 8
    bound = prefix_length(eps, dim=dim, theorem="thesis-core", **ONES)
    half_log_delta = 0.5 * thesis.log_delta(bound.concentration, eps, dim, lipschitz=1.0, sup_norm=1.0)
    radius = 2.0 * math.asin(math.exp(half_log_delta) / math.sqrt(2.0))
    achieved = error_bound(
        dim=dim, theorem="thesis-core", lipschitz=1.0, sup_norm=1.0, concentration=bound.concentration, radius=radius,
        **ONES,
    ).value  # fmt: skip
    assert eps / 2 < achieved <= eps
    assert thesis.convolution_error(bound.concentration, dim, lipschitz=1.0, **ONES) == pytest.approx(eps / 2, rel=1e-9)


def test_prefix_length_grows_as_eps_falls():
    logs = [b.log for b in prefix_length(np.logspace(-6, 0.2, 40), dim=8, theorem="thesis-core")]
    assert all(a > b for a, b in itertools.pairwise(logs))
    assert np.isfinite(logs).all()
