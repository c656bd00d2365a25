"""Enclosures: known digits, other ways to the truth, float64 inside, and what must not be provable."""

import importlib
import math
import sys
from decimal import Decimal
from fractions import Fraction

import enclosures as quantities
import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import jackson, prefix_length
from bounds.certify import CertificationError, Enclosure, _formulas
from bounds.covering import METHODS, TABLE, covering_bound
from spherapprox import special
from spherapprox.vmf import VonMisesFisher


def agrees(enclosed, printed):
    """Whether every number of the enclosure rounds to the printed one."""
    half = Decimal(1).scaleb(Decimal(printed).as_tuple().exponent) / 2
    return Enclosure(mp.mpf(-1e99), enclosed.lower).contains(Fraction(Decimal(printed) - half)) and Enclosure(
        enclosed.upper, mp.mpf(1e99)
    ).contains(Fraction(Decimal(printed) + half))


def close(enclosed, truth, rel):
    return mp.fabs(enclosed.midpoint - truth) <= rel * mp.fabs(truth) and enclosed.width <= 2 * rel * mp.fabs(truth)


# dim, lambda, log c, a_1, a_10, Theta
KERNELS = [
    (2, 10, "-7.004267724384855382", "0.90000000412230725337", "0.0049617961552255793958", "0.4016002672689492"),
    (8, 100, "-85.479835562609999639", "0.96060590450193046092", "0.42618380311962098857", "0.2730979970432126"),
    (8, 2840, "-2812.1524627971013992", "0.99859229345759247264", "0.97050881976346509331", "0.05143886889955852"),
    (128, 10000, "-9656.5193190582672015", "0.99362016181301244686", "0.9337907645554325084", "0.11279882959228043526"),
]


@pytest.mark.parametrize(("dim", "lam", "log_c", "a_1", "a_10", "theta"), KERNELS)
def test_the_kernel_to_all_printed_digits(dim, lam, log_c, a_1, a_10, theta):
    assert agrees(quantities.log_normalizer(dim, lam), log_c)
    assert agrees(quantities.eigenvalue(dim, lam, 1), a_1)
    assert agrees(quantities.eigenvalue(dim, lam, 10), a_10)
    assert agrees(quantities.mean_angle(dim, lam), theta)
    kernel, remainder = VonMisesFisher(dim, float(lam)), quantities.eigenvalue_complement(dim, lam, 10)
    assert kernel.eigenvalue_complement(10) == pytest.approx(float(remainder.midpoint), rel=1e-14)


@pytest.mark.parametrize(
    ("dim", "limit", "sharper"), [(2, "7.55", "4.81"), (8, "20.0", "12.76"), (16, "34.8", "22.17")]
)
def test_bessel_zeros_to_all_printed_digits(dim, limit, sharper):
    zero = quantities.bessel_zero(Fraction(dim - 2, 2), digits=25)
    with mp.workdps(30):
        truth = mp.besseljzero(mp.mpf(dim - 2) / 2, 1)
        assert close(zero, truth, mp.mpf(10) ** -24)
        pi = mp.pi
        # as fractions, the enclosures of pi j and of 2 j
        assert agrees(
            Enclosure(zero.lower * pi * (1 - mp.mpf(10) ** -25), zero.upper * pi * (1 + mp.mpf(10) ** -25)), limit
        )
        assert agrees(Enclosure(2 * zero.lower, 2 * zero.upper), sharper)


def test_constants_of_the_printed_theorem():
    assert agrees(quantities.printed_concentration(0.25, dim=8, jackson_constant=1.0), "47221.534186322")
    assert agrees(quantities.printed_concentration(0.05, dim=8, jackson_constant=1.0), "22172757.573877")
    assert agrees(quantities.printed_concentration(0.05, dim=16, jackson_constant=1.0), "23222355.56554")
    assert agrees(quantities.concentration(0.05, dim=8), "3005.85")
    for dim in (1, 2, 3, 8, 100, 3000):
        exact = float(quantities.jackson_constant(dim, digits=18).midpoint)
        assert jackson.jackson_constant(dim) == pytest.approx(exact)


def direct(dim, lam, function, points):
    """E of a function of theta under the kernel, by tanh-sinh between kinks."""

    def weight(theta):
        return mp.exp(lam * (mp.cos(theta) - 1)) * mp.sin(theta) ** (dim - 1)

    return mp.quad(lambda t: function(t) * weight(t), points) / mp.quad(weight, points)


@pytest.mark.parametrize(("dim", "lam", "rho"), [(1, 3.0, 0.25), (2, 30.0, 0.125), (5, 20.0, 1.75)])
def test_shift_integrals_against_direct_quadrature(dim, lam, rho):
    with mp.workdps(25):

        def k(theta):
            return mp.exp(lam * (mp.cos(theta) - 1))

        def variation(t):
            return max(k(max(t - rho, 0)) - k(t), k(t) - k(min(t + rho, mp.pi))) / k(t)

        kinks = mp.mpf(rho), mp.pi - rho
        low, high = mp.mpf(0), mp.pi / 2  # the second difference is the larger one at first, and only there
        while high - low > mp.mpf(10) ** -22:
            t = (low + high) / 2
            low, high = (low, t) if k(max(t - rho, 0)) + k(min(t + rho, mp.pi)) > 2 * k(t) else (t, high)
        points = sorted({mp.mpf(0), low, *kinks, mp.pi})
        truth = direct(dim, lam, variation, points)
        assert close(quantities.log_shift_variation(dim, lam, rho, digits=18), mp.log(truth), mp.mpf(10) ** -16)
        top = direct(dim, lam, lambda t: (t + rho) * k(max(t - rho, 0)) / k(t), points)
        bottom = direct(dim, lam, lambda t: k(min(t + rho, mp.pi)) / k(t), points)
        mean = quantities.log_shifted_mean_angle(dim, lam, rho, digits=18)
        assert close(mean, mp.log(top / bottom), mp.mpf(10) ** -15)


def test_the_strip_that_no_piece_of_a_shift_integral_covers_is_in_the_enclosure():
    # the crossing of its two branches is known to half of the digits
    for dim, lam, rho in ((1, 3.0, 0.25), (2, 30.0, 0.125), (5, 20.0, 1.75)):
        coarse, fine = (quantities.log_shift_variation(dim, lam, rho, digits=digits) for digits in (20, 60))
        assert coarse.contains(fine)


def test_a_count_below_the_mean_number_of_lattice_points_is_not_proved(monkeypatch):
    for less, proved in ((0.0, True), (1.0, False)):
        monkeypatch.setattr(_formulas, "float64_slab", lambda *_, less=less: (math.log(212.0 - less), True))
        if proved:
            assert float(quantities.log_covering_number(0.7, dim=4, method="slab").midpoint) == pytest.approx(
                math.log(212)
            )
        else:
            with pytest.raises(CertificationError):
                quantities.log_covering_number(0.7, dim=4, method="slab")


def test_centroid_variation_against_direct_quadrature():
    dim, lam, rho = 3, 40.0, 0.0625
    with mp.workdps(25):
        q = lam * (1 - mp.cos(rho))
        half = (lam * mp.sin(rho)) ** 2 / 2

        def beta(t):
            p = half * mp.sin(min(t + rho, mp.pi / 2)) ** 2 + (q if t > mp.pi / 2 - 2 * rho else 0)
            return max(mp.expm1(q), -mp.expm1(-p))

        turn = mp.asin(mp.sqrt(-mp.log(1 - mp.expm1(q)) / half)) - rho
        truth = direct(dim, lam, beta, [0, turn, mp.pi / 2 - 2 * rho, mp.pi / 2 - rho, mp.pi])
        assert close(quantities.log_centroid_variation(dim, lam, rho, digits=18), mp.log(truth), mp.mpf(10) ** -16)


def test_tails_of_the_expansion_against_a_plain_sum():
    with mp.workdps(40):
        terms = [(2 * k + 1) * mp.besseli(k + 0.5, 10) / mp.besseli(0.5, 10) for k in range(31, 90)]
        assert close(quantities.log_tail(2, 10, 30, digits=20), mp.log(mp.fsum(terms)), mp.mpf(10) ** -19)


def test_best_approximation_is_half_the_error_of_a_gauss_rule():
    # dim 2: the weight (1-t^2)^(1/2), whose nodes are cos(k pi/(n+1))
    n = 7
    with mp.workdps(30):
        nodes = [mp.pi * k / (n + 1) for k in range(1, n + 1)]
        rule = mp.fsum(mp.pi / (n + 1) * mp.sin(t) ** 2 / mp.sin(t) ** 2 for t in nodes)
        assert close(quantities.best_approximation(2 * n, 2, digits=20), (mp.pi - rule) / 2, mp.mpf(10) ** -19)
    for degree, dim in ((5, 3), (130, 8), (10**6, 8), (64, 500)):
        truth = float(quantities.best_approximation(degree, dim, digits=15).midpoint)
        assert jackson.approximation_error(degree, dim) == pytest.approx(truth, rel=1e-12)


powers = st.floats(-3, 6).map(lambda e: 10.0**e)


@settings(max_examples=25)
@given(dim=st.integers(1, 300), lam=powers, rho=st.floats(1e-6, 3.1), power=st.sampled_from([1.0, 0.5, 0.3]))
def test_float64_functions_lie_near(dim, lam, rho, power):
    kernel = VonMisesFisher(dim, lam)
    for value, enclosed in (
        (kernel.log_normalizer, quantities.log_normalizer(dim, lam, digits=15)),
        (kernel.mean_angle(power), quantities.mean_angle(dim, lam, power, digits=15)),
        (float(special.log_cap_measure(dim, rho)), quantities.log_cap_measure(dim, rho, digits=15)),
        (kernel.shift_variation(rho, log=True), quantities.log_shift_variation(dim, lam, rho, digits=15)),
    ):
        assert value == pytest.approx(float(enclosed.midpoint), rel=1e-13, abs=1e-13)


@settings(max_examples=30)
@given(dim=st.integers(1, 70), radius=st.floats(1e-9, 1.57), method=st.sampled_from(METHODS))
def test_float64_covering_numbers_lie_near(dim, radius, method):
    bound = covering_bound(radius, dim, method)
    if bound.holds:
        enclosed = quantities.log_covering_number(radius, dim=dim, method=method, digits=16)
        assert bound.log == pytest.approx(float(enclosed.midpoint), rel=1e-13, abs=1e-13)
    else:
        with pytest.raises(CertificationError, match="needs"):
            quantities.log_covering_number(radius, dim=dim, method=method)


@pytest.mark.parametrize("method", TABLE)
def test_every_covering_method_has_its_proof(method):
    dim, radius = {"circle": (1, 0.7), "fejes-toth": (2, 0.7), "rogers": (4, 0.1), "polytope": (4, 1.0)}.get(
        method, (4, 0.7)
    )
    enclosed = quantities.log_covering_number(radius, dim=dim, method=method, digits=16)
    assert covering_bound(radius, dim, method).log == pytest.approx(float(enclosed.midpoint), rel=1e-13)


def test_enclosures_hold_exact_numbers():
    third = Enclosure(mp.mpf(0.25), mp.mpf(0.375))
    for inside in (0.25, Fraction(1, 3), "0.3333333333333333333333333", Decimal("0.375"), mp.mpf(0.3)):
        assert inside in third
    for outside in (0.375 + 1e-16, "0.37500000000000000000000000001", Fraction(-1, 3), math.inf, 0):
        assert outside not in third
    assert str(third) == "[0.25, 0.375]"
    assert third.width == mp.mpf(0.125)
    assert third.midpoint == mp.mpf(0.3125)
    assert Enclosure(mp.mpf("inf"), mp.mpf("inf")).contains(math.inf)


def test_ends_are_rounded_outward():
    from flint import arb

    from bounds.certify._balls import enclosure, precision

    with precision(200):
        inner = enclosure(arb(1) / 3)
    low, high = inner.floats
    assert Fraction(low) < Fraction(1, 3) < Fraction(high)
    assert math.nextafter(low, 1.0) == high
    lower, upper = (Fraction(end) for end in str(inner)[1:-1].split(", "))
    assert lower < Fraction(1, 3) < upper


def test_flint_is_left_as_it_was():
    from flint import ctx

    before = ctx.prec
    prefix_length(0.1, dim=8, theorem="sharp-core", certified=True)
    assert ctx.prec == before


def test_the_remedy_for_a_missing_flint(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("bounds.certify")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(ImportError, match=r'pip install "spherapprox\[certify\]"'):
        importlib.import_module("bounds.certify")


def test_two_antipodes_do_not_cover_at_the_float_below_half_pi():
    assert float(quantities.log_covering_number("1.5707963267948967", dim=2).midpoint) == pytest.approx(math.log(2.0))
