"""The thesis's numbers: printed values, mpmath at 40 digits, and containment of its lemmas."""

import math
from decimal import Decimal

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import concentration, error_bound, prefix_length
from bounds.covering import log_rogers_constant
from bounds.jackson import approximation_error, jackson_constant
from bounds.records import Prefix
from bounds.theorems import state
from bounds.theorems.thesis import convolution as kernel
from bounds.theorems.thesis import lemmas as thesis
from spherapprox.vmf import VonMisesFisher

ONES = {"jackson_constant": 1.0, "harmonic_constant": 1.0}


def agrees(value, printed):
    """Whether a float agrees with a printed decimal to 1e-12 relative or to all printed digits."""
    last_digit = 10.0 ** Decimal(printed).as_tuple().exponent
    return abs(value - float(printed)) <= max(1e-12 * abs(value), 0.501 * last_digit)


@pytest.mark.parametrize(
    ("dim", "eps", "at_half", "printed", "corrected"),
    [(8, 0.5, "47221.534186322", "16623.51662", "18133711.57"),
     (8, 0.1, "22172757.573877", "7198167.571", "8934933824"),
     (16, 0.1, "23222355.56554", "7644565.56", "3.159784025e10")],
)  # fmt: skip
def test_printed_concentrations(dim, eps, at_half, printed, corrected):
    core = prefix_length(eps, dim=dim, theorem=state("thesis-core", **ONES))
    threshold = concentration(eps / 2, dim=dim, theorem=state("thesis", **ONES))
    assert agrees(threshold, at_half)
    assert agrees(core.concentration, at_half)
    for theorem, lam in (("thesis-split", printed), ("thesis-split-corrected", corrected)):
        assert agrees(prefix_length(eps, dim=dim, theorem=state(theorem, **ONES)).concentration, lam)


def truth_concentration(eps, dim, lip, c_r, c_h, digits=200):
    with mp.workdps(digits):
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
    value = concentration(
        eps, dim=dim, lipschitz=lip, theorem=state("thesis", jackson_constant=c_r, harmonic_constant=c_h)
    )
    truth = truth_concentration(eps, dim, lip, c_r, c_h)
    drop = eps**2 / (8 * lip * c_h * c_r + 2 * eps * c_h)
    if drop < 0.99:
        assert value == pytest.approx(float(truth), rel=2e-14)
    else:  # log(1 - drop) is ill-conditioned: one rounding of drop moves it
        assert value == pytest.approx(float(truth), rel=1e-3, abs=1e-3) or drop > 0.999


@settings(max_examples=20)
@given(eps=st.floats(-60, -40).map(lambda e: 10.0**e), dim=st.integers(1, 10**4), lip=positive, c_r=positive)
def test_log_concentration_beyond_the_largest_float(eps, dim, lip, c_r):
    numbers = {"lipschitz": lip, "jackson_constant": c_r, "harmonic_constant": 1e80}
    truth = truth_concentration(eps, dim, lip, c_r, 1e80, digits=420)
    log = kernel.log_concentration_needed(eps, dim, **numbers)
    assert log == pytest.approx(float(mp.log(truth)), rel=1e-14)
    direct = kernel.concentration_needed(eps, dim, **numbers)
    assert direct == math.inf or direct == pytest.approx(float(truth), rel=1e-12)
    assert direct == math.inf or truth < 1e309


@pytest.mark.parametrize("dim", [1, 2, 8])
@pytest.mark.parametrize("lip", [1e-150, 1e-101, 1e-99])
def test_log_concentration_beyond_the_largest_float_where_the_target_is_nearly_constant(dim, lip):
    # 8 L C_R / eps is small beside m + 1 or of its size
    numbers = {"lipschitz": lip, "jackson_constant": 1.0, "harmonic_constant": 1e200}
    truth = truth_concentration(1e-100, dim, lip, 1.0, 1e200, digits=700)
    assert truth > 1e300
    log = kernel.log_concentration_needed(1e-100, dim, **numbers)
    assert log == pytest.approx(float(mp.log(truth)), rel=1e-15)


def test_lemmas_where_nothing_or_everything_is_needed():
    ones = {"lipschitz": 1.0, **ONES}
    assert concentration(10.0, dim=8, theorem=state("thesis", jackson_constant=1.0)) == 0.0
    assert prefix_length(9.0, dim=8, theorem=state("thesis-core", jackson_constant=1.0)).concentration == 0.0
    assert kernel.log_concentration_needed(10.0, 8, **ones) == -math.inf
    assert kernel.convolution_error(0.0, 8, **ones) == math.inf
    assert kernel.concentration_at_degree(0.1, 0, 8, harmonic_constant=1.0) == 0.0
    assert kernel.best_approximation(0, 8, lipschitz=1.0, jackson_constant=1.0) == math.inf
    assert thesis.split_error(6.0, 8, sup_norm=1.0) == math.inf
    assert kernel.concentration_series(1e-200, 8, lipschitz=1e200, **ONES) == math.inf


def test_the_series_of_the_concentration_is_the_concentration():
    numbers = {"lipschitz": 2.0, "jackson_constant": 3.0, "harmonic_constant": 0.5}
    series = kernel.concentration_series(1e-4, 8, **numbers)
    assert series == pytest.approx(kernel.concentration_needed(1e-4, 8, **numbers), rel=1e-9)
    gap = series - kernel.concentration_series(1e-4, 8, **numbers, printed=True)
    assert gap == pytest.approx(16.0 * 2.0**2 * 6.0 * 0.5 * 3.0**2 / 1e-4**3, rel=1e-3)


@given(degree=st.integers(1, 10**6), dim=st.integers(1, 10**4), log_eps=st.floats(-12, 0), harmonic=positive)
def test_concentration_at_a_degree_makes_b24_half_of_eps(degree, dim, log_eps, harmonic):
    eps = 10.0**log_eps
    lam = kernel.concentration_at_degree(eps, degree, dim, harmonic_constant=harmonic)
    if lam == 0.0:
        assert harmonic * degree <= 0.5 * eps * (1 + 1e-12)
    else:
        error = kernel.projection_error(degree, lam, dim, harmonic_constant=harmonic)
        assert error == pytest.approx(0.5 * eps, rel=1e-9)


def test_best_approximation_scales_with_the_lipschitz_constant():
    assert kernel.best_approximation(20, 8, lipschitz=3.0) == 3.0 * approximation_error(20, 8)
    assert kernel.best_approximation(20, 8, lipschitz=3.0, jackson_constant=2.0) == pytest.approx(0.3)


def test_projection_error_contains_a_harmonic():
    # W_q = one harmonic Y_q with sup 1 moves by exactly 1 - a_q, C_H = 1
    for dim, degree, lam in ((2, 3, 10.0), (8, 5, 300.0), (1, 1, 0.5)):
        moved = 1.0 - float(VonMisesFisher(dim, lam).eigenvalue(degree))
        assert moved <= kernel.projection_error(degree, lam, dim, harmonic_constant=1.0)


def test_failed_hypotheses_are_named():
    low = prefix_length(0.1, dim=7, theorem="thesis-core")
    assert (low.value, low.failed) == (math.inf, ("dim >= 8",))
    assert "eps < 2 sup_norm" in prefix_length(1.0, dim=8, sup_norm=0.4, theorem="thesis-split").failed


def test_hypotheses_say_what_is_assumed():
    proven = prefix_length(0.1, dim=8, theorem="thesis-core")
    assumed = prefix_length(0.1, dim=8, theorem=state("thesis-core", jackson_constant=2.0, harmonic_constant=3.0))
    texts = [[h.statement for h in bound.hypotheses] for bound in (proven, assumed)]
    assert not any("C_R" in text for text in texts[0])
    assert any("assumed C_R L/q, C_R = 2" in text for text in texts[1])
    assert any("best approximations of f bounded by the assumed C_H = 3" in text for text in texts[1])
    numbers = dict(assumed.constants)
    assert (numbers["jackson_constant"], numbers["harmonic_constant"]) == (2.0, 3.0)
    assert assumed.log == pytest.approx(log_rogers_constant(8) - 9 * numbers["log_delta"], rel=1e-14)
    assert dict(proven.constants)["jackson_constant"] == jackson_constant(8)
    for theorem in ("thesis-core", "thesis-vector", "thesis-split", "thesis-split-corrected"):
        rough = prefix_length(0.1, dim=8, theorem=theorem, exponent=0.5)
        assert "exponent = 1" in rough.failed
        euclidean = any("eps the Euclidean error" in hypothesis.statement for hypothesis in rough.hypotheses)
        assert euclidean == (theorem != "thesis-core")


def test_concentrations_beyond_the_largest_float():
    far = prefix_length(1e-55, dim=8, theorem=state("thesis-vector", harmonic_constant=1e90))
    assert far.holds
    assert far.concentration == math.inf
    with mp.workdps(200):
        lam = truth_concentration(mp.mpf(1e-55) / 6, 8, 1, jackson_constant(8), 1e90, digits=420)
        # c e^lambda is its leading term
        peak = mp.sqrt(2 * mp.pi) * lam**4 / (mp.mpf(2) ** mp.mpf(3.5) * mp.gamma(mp.mpf(4.5)))
        root = 3 * mp.pi * (1 + lam) * peak * 3 / mp.mpf(1e-55)
        truth = log_rogers_constant(8) + 18 * mp.log(root)
    assert far.log == pytest.approx(float(truth), rel=1e-13)
    assert dict(far.constants)["log_concentration"] == pytest.approx(float(mp.log(lam)), rel=1e-14)


def test_core_error_inverts_the_prefix_length():
    # at lambda = Lambda(eps/2) and the radius of 4.12 the two halves are eps/2 each, up to arccos(1-d) <= pi/2 sqrt(d)
    eps, dim = 0.5, 8
    printed = state("thesis-core", **ONES)
    bound = prefix_length(eps, dim=dim, theorem=printed)
    half_log_delta = 0.5 * thesis.log_delta(bound.concentration, eps, dim, lipschitz=1.0, sup_norm=1.0)
    radius = 2.0 * math.asin(math.exp(half_log_delta) / math.sqrt(2.0))
    achieved = error_bound(
        theorem=printed, dim=dim, lipschitz=1.0, sup_norm=1.0, concentration=bound.concentration,
        points=Prefix(radius=radius),
    ).value  # fmt: skip
    assert eps / 2 < achieved <= eps
    assert kernel.convolution_error(bound.concentration, dim, lipschitz=1.0, **ONES) == pytest.approx(eps / 2, rel=1e-9)
