import math

import mpmath as mp
import numpy as np
import pytest
from processes import run
from sums import wide

from spherapprox import special
from spherapprox._scalars import gauss as quadrature


def test_ratio_over_very_many_steps():
    # I_n(x)/I_0(x) by Debye's expansion of both to the order 1/R^3, at 80 digits; R is so large that this is all.
    with mp.workdps(80):
        for step, x in [(2.0**26, 4e12), (1e7 + 1, 9.9e10), (123456.0, 2e7), (1e9, 1e15), (1e15, 1e28)]:
            n, z = mp.mpf(step), mp.mpf(x)
            r = mp.sqrt(n * n + z * z)
            y = (n / r) ** 2
            sums = (3 - 5 * y) / (24 * r) - mp.mpf(1) / (8 * z) + (1 / r**2 - 1 / z**2) / 16
            log = r - z - n * mp.asinh(n / z) - mp.log(r / z) / 2 + sums
            assert -710 < log < -4
            assert abs(special.iv_ratio(0.0, x, step) / mp.exp(log) - 1) < 2e-15, (step, x)
            assert abs(special.log_iv_ratio(0.0, x, step) / log - 1) < 2e-15, (step, x)


@wide
@pytest.mark.parametrize(
    "corner", [(0.0, 0.3, 1.2, 3.0), (0.0, 2.0, 0.0, 4.0), (0.0, 40.0, 0.0, 40.0), (60.0, 70.0, 55.0, 70.0)]
)
def test_single_ratios_keep_their_digits_where_roundings_are_worst(corner):
    low, high, start, stop = corner  # where the sum of a ratio's roundings is worst, and about the seam at v + x = 128
    rng = np.random.default_rng(0)
    order, x = rng.uniform(low, high, 100_000), rng.uniform(start, stop, 100_000)
    v, z = order.astype(np.longdouble), x.astype(np.longdouble)
    tail = z + v + 70
    for k in range(70, 0, -1):
        tail = (2 * v + k + 2) + 2 * z - (2 * v + 2 * k + 3) * z / tail
    e = 2 * v + 2 - (2 * v + 3) * z / tail
    assert np.max(np.abs(special.iv_ratio(order, x) / (z / (z + e)) - 1)) < 3.4e-16
    assert np.max(np.abs(special.iv_ratio_complement(order, x) / (e / (z + e)) - 1)) < 6e-16


@pytest.mark.parametrize("order", [0.0, 0.5, 1.0, 30.0, 1e4, 1e12])
def test_inverse_of_small_ratios(order):
    ratios = [5e-324, 1e-320, 1e-309, 2.3e-308, 1e-300, 1e-100, 1e-16, 0.9e-8, 1.1e-8, 1e-6, 1e-4]
    with mp.workdps(30):
        for ratio in ratios:
            v, r = mp.mpf(order) + 1, mp.mpf(ratio)  # series of the inverse; its next term is of order r^7
            a, b = v / (v + 1), (v**2 * (v + 3)) / ((v + 1) ** 2 * (v + 2))
            truth = 2 * v * r * (1 + a * r**2 + b * r**4)
            error = abs(special.iv_ratio_inverse(order, ratio) - truth)
            assert error <= max(1e-14 * truth, mp.mpf(5e-324))
    assert special.iv_ratio_inverse(1, 1e-309) == pytest.approx(4e-309, rel=1e-14)
    assert special.iv_ratio_inverse(1, np.full(special.COMPILE_FROM, 1e-309))[-1] == 4 * 1e-309


def test_log_iv_of_subnormal_numbers():
    orders, x = [0.0, 0.5, 1.0, 1.5, 16.0, 40.0, 100.0], 1e-323  # by the series and by Debye
    for order in orders:
        truth = order * (math.log(x) - math.log(2.0)) - math.lgamma(order + 1.0)
        assert special.log_iv(order, x) == pytest.approx(truth, rel=1e-15, abs=1e-15)
    array = special.log_iv(np.resize(orders, special.COMPILE_FROM), x)
    assert array[: len(orders)].tolist() == [special.log_iv(order, x) for order in orders]


def test_bessel_functions_at_zero_and_infinity():
    assert np.max(special.iv_ratio_complement(3.5, np.linspace(1.0, 100.0, 20_000), 30)) == 1.0
    assert special.log_iv(0.0, 0.0) == 0.0
    assert special.log_iv(2.5, 0.0) == -math.inf
    assert special.log_iv(2.5, math.inf) == math.inf
    assert special.iv_ratio(3.0, 0.0) == 0.0
    assert special.iv_ratio(3.0, math.inf) == 1.0
    assert special.iv_ratio_complement(3.0, math.inf) == 0.0
    assert special.iv_ratio(3.0, 2.0, step=0) == 1.0
    assert special.log_iv_ratio(3.0, 0.0) == -math.inf
    assert special.iv_ratio_inverse(1.0, 0.0) == 0.0
    assert special.iv_ratio_inverse(1.0, 1.0) == math.inf
    assert special.iv_ratio_complement(0.5, 1e300) == 1e-300
    assert special.iv_ratio(0.0, 1e-300) == pytest.approx(5e-301, rel=1e-15)
    assert special.log_iv_ratio(10.0, 1e-320, 3) == pytest.approx(3 * math.log(1e-320 / 2) - math.log(11 * 12 * 13))
    assert special.iv_ratio(0.0, 1.0, step=500) == 0.0
    assert special.log_iv_ratio(0.0, 1.0, step=500) == pytest.approx(-500 * math.log(2) - math.lgamma(501), rel=1e-3)
    # I_v at v = x = 1e12: the leading term of Debye's expansion is v (sqrt 2 - arcsinh 1)
    leading = 1e12 * (math.sqrt(2.0) - math.asinh(1.0))
    assert special.log_iv(1e12, 1e12) == pytest.approx(leading, rel=1e-10)


def test_gauss_rules_are_exact():
    with mp.workdps(30):
        nodes, weights = quadrature.gauss_legendre(72)
        exact = [2 / ((1 - x * x) * mp.diff(lambda t: mp.legendre(72, t), x) ** 2) for x in map(mp.mpf, nodes[:3])]
    np.testing.assert_allclose(weights[:3], [float(w) for w in exact], rtol=1e-11)  # the nodes' rounding
    degrees = np.arange(0, 144, 2)
    # half a unit in the last place of a node near 1 is so much times the degree in its power
    away = np.abs(0.5 * (degrees + 1) * (weights @ nodes[:, None] ** degrees) - 1.0)
    assert (away <= 2e-15 + 2.0**-53 * degrees).all()


def test_functions_broadcast_like_ufuncs():
    assert type(special.iv_ratio(1.0, 2.0)) is float
    assert type(special.iv_ratio(np.array(1.0), np.float32(2.0))) is float
    assert type(special.log_cap_measure(np.int64(3), np.array(0.5))) is float
    assert special.log_iv(np.ones((3, 1)), np.ones(4)).shape == (3, 4)
    assert special.log_cap_measure([2, 3], [[0.1], [0.2]]).shape == (2, 2)
    assert special.gegenbauer(3, 2, np.zeros((0,))).shape == (0,)
    assert special.iv_ratio([], []).shape == (0,)
    assert math.isnan(special.log_iv(1.0, math.nan))
    assert math.isnan(special.cap_angle(4, math.nan))
    assert np.isnan(special.gegenbauer(3, 2, [math.nan, 0.0])).tolist() == [True, False]
    two = np.float16(2)
    assert special.log_iv(two, two) == special.log_iv(2, 2)
    assert special.iv_ratio(two, np.float32(2), step=two) == special.iv_ratio(2, 2, step=2)
    assert special.gegenbauer(two, two, np.float16(0.5)) == -0.125
    assert special.gegenbauer_max_zero(two, np.float32(2)) == special.gegenbauer_max_zero(2, 2)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12])
def test_logarithm_of_nearly_all_of_the_sphere_keeps_its_digits(gap):
    angle = math.pi - gap
    with mp.workdps(40):
        rest = mp.pi - mp.mpf(angle)
        shares = rest / mp.pi, mp.sin(rest / 2) ** 2, (rest - mp.sin(rest) * mp.cos(rest)) / mp.pi
        for dim, share in enumerate(shares, 1):
            assert special.log_cap_measure(dim, angle) == pytest.approx(float(mp.log1p(-share)), rel=1e-14, abs=0)


def test_caps_of_angle_zero_and_pi():
    assert special.log_cap_measure(5, 0.0) == -math.inf
    assert special.log_cap_measure(5, math.pi) == 0.0
    assert special.cap_angle(5, -math.inf) == 0.0
    assert special.cap_angle(5, 0.0) == math.pi
    assert special.log_cap_measure(7, math.pi / 2) == pytest.approx(-math.log(2.0), rel=1e-14)
    assert special.cap_angle(1, math.log(0.125)) == pytest.approx(math.pi / 8, rel=1e-15)
    # measure ~ B angle^m / m for small angles; 8-sphere: B = 35/32
    expected = 8 * math.log(1e-150) + math.log(35.0 / 256.0)
    assert special.log_cap_measure(8, 1e-150) == pytest.approx(expected, rel=1e-15)
    least = math.log(5e-324)
    logs = special.log_cap_measure([1, 2], 5e-324).tolist()
    assert logs == pytest.approx([least - math.log(math.pi), 2.0 * (least - math.log(2.0))], rel=1e-15)
    assert special.log_cap_measure(10**6, 5e-324) == pytest.approx(10**6 * math.log(5e-324), rel=1e-4)
    assert special.cap_angle(3, -1e6) == 0.0
    # near pi the complement counts: a cap of radius 1e-3 on S^3 is missing, 2 (a - sin a cos a) / (2 pi)
    a = 1e-3
    missing = (a - math.sin(a) * math.cos(a)) / math.pi
    assert -special.log_cap_measure(3, math.pi - a) == pytest.approx(missing, rel=1e-8)
    assert special.cap_angle(3, -missing) == pytest.approx(math.pi - a, rel=1e-12)


def test_scalar_calls_load_no_compiler():
    code = (
        "import sys; from spherapprox import VonMisesFisher, special as s; "
        "s.log_iv(2.5, 3.0), s.iv_ratio([1.0, 2.0], 3.0), s.cap_angle(8, -20.0), s.log_cap_measure(8, 0.1); "
        "k = VonMisesFisher(8, 2840.0); k.mean_angle(), k.shift_variation(1e-3), k.shifted_mean_angle(1e-3); "
        "print('numba' in sys.modules)"
    )
    assert run(code) == "False"
