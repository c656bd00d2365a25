"""The tables of tests/reference/accuracy.py at a smaller size, the seams of the formulas, and the reference values."""

import math

import accuracy
import mpmath as mp
import numpy as np
import pytest
import truth

from spherapprox import VonMisesFisher, special

EPS = 2.0**-52
TABLES = {table.name: table for table in accuracy.tables()}
SLOW = {"mean_angle", "shift_variation", "shifted_mean_angle"}  # a reference value takes up to 0.3 s


@pytest.mark.parametrize("name", TABLES)
def test_error_is_below_the_stated_limit_in_every_region(name):
    table = TABLES[name]
    share = 0.2 if name.removeprefix("log ") in SLOW else 1.0
    points = 30 if name in {"gegenbauer", "gegenbauer_derivative"} else 5 if table.weight == 1.0 else 4
    results = accuracy.measure(table, points=points, cells=share)
    assert len(results) >= 0.75 * share * len(table.rows) * len(table.columns)
    broken = [
        f"{name} near {result.column} of {result.row or 'the seams'}: {result.error:.2e} at {result.at}"
        for result in results
        if not result.error <= table.limit
    ]
    assert not broken, f"the limit is {table.limit:g} ({table.unit})\n" + "\n".join(broken)


def test_log_iv_where_its_power_series_has_the_largest_factors():
    # v log(x/2) and log Gamma(v+1) are some 3 times hypot(v, x) here
    rng = np.random.default_rng(5)
    order, x = rng.uniform(40.0, 60.0, 600), rng.uniform(5.0, 25.0, 600)
    for point, value in zip(zip(order.tolist(), x.tolist(), strict=True), special.log_iv(order, x), strict=True):
        exact = truth.log_iv(*point)
        assert accuracy.error_of(value, exact, accuracy.of_log_iv(exact, point)) <= 4.0, point


def test_the_command_prints_a_table_and_tells_of_a_broken_limit(capsys, monkeypatch):
    assert accuracy.main(["--points", "1", "--function", "log_surface_area"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("python tests/reference/accuracy.py --points 1 --function log_surface_area")
    assert "1e6..1e12" in text
    assert "within the limit, at (dim) = (" in text
    monkeypatch.setattr(special, "log_surface_area", lambda dim: np.float64(math.nan) * dim)
    assert accuracy.main(["--points", "1", "--function", "log_surface_area"]) == 1
    assert "BEYOND" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        accuracy.main(["--function", "no such"])
    assert "there are log_iv" in capsys.readouterr().err


def test_a_wrong_last_digit_is_seen():
    assert accuracy.error_of(1.0, mp.mpf(1), 1.0) == 0.0
    assert accuracy.error_of(1.0 + EPS, mp.mpf(1), 1.0) == EPS
    assert accuracy.error_of(math.nan, mp.mpf(1), 1.0) == math.inf
    assert accuracy.error_of(math.inf, mp.mpf(1), 1.0) == math.inf
    assert accuracy.error_of(math.inf, mp.mpf(10) ** 400, 1.0) == 0.0
    assert accuracy.error_of(1.0 - EPS, mp.mpf(1), 1.0, upper=True) == math.inf


# Seams ---------------------------------------------------------------------------------------------------------------


def seam_points():
    """Pairs (order, x) of doubles on both sides of every seam, a few units in the last place apart."""
    rng = np.random.default_rng(3)
    curves = {
        "hypot = 64": lambda u: (64.0 * math.sin(u), 64.0 * math.cos(u)),
        "hypot = 96": lambda u: (96.0 * math.sin(u), 96.0 * math.cos(u)),
        "hypot = 1e4": lambda u: (1e4 * math.sin(u), 1e4 * math.cos(u)),
        "x^2 = 4 (order + 1)": lambda u: (10.0 ** (4 * u), 2.0 * math.sqrt(10.0 ** (4 * u) + 1.0)),
        "order = 16": lambda u: (16.0, 10.0 ** (5.0 * u)),
        "order + x = 128": lambda u: (80.0 * u, 128.0 - 80.0 * u),
        "x = 1e-8 order": lambda u: (10.0 ** (6.0 * u), 1e-8 * 10.0 ** (6.0 * u)),
        "x = 1e17 (order + 1)": lambda u: (10.0**u, 1e17 * (10.0**u + 1.0)),
    }
    for name, curve in curves.items():
        for _ in range(6):
            v, x = curve(rng.uniform(0.02, 1.5))
            d = float(rng.choice([1, 2, 8, 64])) * EPS
            yield name, (v * (1.0 - d), x * (1.0 - d)), (v * (1.0 + d), x * (1.0 + d))


SEAMS = [pytest.param(*seam[1:], id=f"{seam[0]} at {seam[1][0]:.3g}") for seam in seam_points()]


@pytest.mark.parametrize(("below", "above"), SEAMS)
def test_no_jump_across_a_seam(below, above):
    def jump(function, exact):
        with mp.workdps(60):
            return abs((mp.mpf(function(*above)) - function(*below)) - (exact(*above) - exact(*below)))

    unit = 4 * EPS * max(1.0, abs(special.log_iv(*above)), math.hypot(*above))
    assert jump(special.log_iv, truth.log_iv) <= unit
    assert jump(special.iv_ratio, truth.iv_ratio) <= 4e-16 * special.iv_ratio(*above)
    for name in ("iv_ratio_complement", "log_iv_ratio"):
        function = getattr(special, name)
        assert jump(function, getattr(truth, name)) <= 1e-14 * abs(function(*above)), name


@pytest.mark.parametrize("dim", [1, 2, 3, 32, 33, 34, 129, 1000, 10**6])
def test_log_normalizer_and_its_slope_are_continuous(dim):
    order = 0.5 * (dim - 1)
    seams = [1.0, dim + 1.0, 2.0 * math.sqrt(order + 1.0), 128.0 - order]
    seams += [math.sqrt(r * r - order * order) for r in (64.0, 1e4) if r > order]
    for seam in (x for x in seams if x > 0.0):
        below, above = seam * (1.0 - 4 * EPS), seam * (1.0 + 4 * EPS)
        logs = [VonMisesFisher(dim, x).log_normalizer for x in (below, above)]
        with mp.workdps(60):
            rise = truth.log_0f1(order, below) - truth.log_0f1(order, above)
            assert abs((mp.mpf(logs[1]) - logs[0]) - rise) <= 2e-15 * abs(logs[0])
        for start, end in ((seam * 0.998, below), (above, seam * 1.002)):
            fall = VonMisesFisher(dim, end).log_normalizer - VonMisesFisher(dim, start).log_normalizer
            middle = VonMisesFisher(dim, 0.5 * (start + end))
            noise = 4e-15 * abs(logs[0]) / (end - start)
            assert -fall / (end - start) == pytest.approx(middle.eigenvalue(1), rel=1e-6, abs=noise)


# Reference values ----------------------------------------------------------------------------------------------------


def close(first, second, digits=30):
    """Tell whether two numbers agree to so many digits."""
    with mp.workdps(60):
        return abs(first - second) <= mp.mpf(10) ** -digits * max(abs(first), abs(second))


def test_debye_and_the_power_series_agree():
    rng = np.random.default_rng(0)
    for _ in range(60):
        angle, r = rng.uniform(0.0, math.pi / 2), math.exp(rng.uniform(math.log(160.0), math.log(1500.0)))
        with mp.workdps(50):
            v, x = mp.mpf(r * math.sin(angle)), mp.mpf(r * math.cos(angle))
            assert close(truth.log_iv_by_series(v, x), truth.log_iv_by_debye(v, x), 44), (v, x)


def test_bessel_references_agree_with_mpmath_and_with_gauss_fraction():
    rng = np.random.default_rng(1)
    for i in range(40):
        order = float(rng.choice([0.0, 0.5, rng.uniform(0.0, 70.0), 10.0 ** rng.uniform(0.0, 4.0)]))
        x = float(10.0 ** rng.uniform(-8.0, 3.0))
        assert close(truth.iv_ratio(order, x), truth.iv_ratio_by_fraction(order, x)), (order, x)
        if i % 4 == 0:
            with mp.workdps(60):
                bottom, top = (mp.besseli(mp.mpf(order) + k, mp.mpf(x), maxterms=10**6) for k in (0, 3))
                ratio = top / bottom
                assert close(truth.log_iv(order, x), mp.log(bottom), 29)
                assert close(truth.log_iv_ratio(order, x, 3), mp.log(ratio))
                assert close(truth.iv_ratio_complement(order, x, 3), 1 - ratio)
                sum_ = mp.hyp0f1(mp.mpf(order) + 1, mp.mpf(x) ** 2 / 4, maxterms=10**6)
                if x > 1e-3:
                    assert close(truth.log_0f1(order, x), mp.log(sum_))
                    assert close(truth.log_peak(order, x), x - mp.log(sum_))


def test_bessel_references_satisfy_the_recurrence_where_only_debye_reaches():
    for order, x in [(3.5, 1e9), (1e6, 1e15), (1e12, 1e-3), (1e12, 1e12), (0.0, 1e200), (7e7, 3e5)]:
        with mp.workdps(60):  # 1/r_v - r_{v+1} = 2 (v+1)/x
            below, above = truth.iv_ratio(order, x), truth.iv_ratio(order + 1.0, x)
            assert close(1 / below, above + 2 * (mp.mpf(order) + 1) / x)
            assert close(truth.iv_ratio(order, x, 2), below * above)
            parts = truth.log_iv_ratio(order, x, 10**6) + truth.log_iv_ratio(order + 1e6, x)
            assert close(truth.log_iv_ratio(order, x, 10**6 + 1), parts)


@pytest.mark.parametrize("ratio", [1e-310, 1e-9, 0.3, 0.99, 1 - 2.0**-53])
@pytest.mark.parametrize("order", [0.0, 0.5, 70.0, 1e12])
def test_inverse_reference_solves_its_equation(order, ratio):
    x = truth.iv_ratio_inverse(order, ratio)
    with mp.workdps(60):
        assert close(truth.iv_ratio_complement(order, x), 1 - mp.mpf(ratio))
        if ratio < 0.5:
            assert close(truth.iv_ratio(order, x), mp.mpf(ratio))


def test_doubtful_values_raise():
    with mp.workdps(60):
        with pytest.raises(truth.Doubtful, match="does not reach 60 digits"):
            truth.log_iv_by_debye(mp.mpf(1), mp.mpf(30))
        with pytest.raises(truth.Doubtful, match="too long"):
            truth.log_iv_by_series(mp.mpf(0), mp.mpf(10) ** 6)
    with pytest.raises(truth.Doubtful, match="too long"):
        truth.iv_ratio_by_fraction(0.0, 1e6)


def test_references_of_caps_agree_with_the_beta_function():
    rng = np.random.default_rng(2)
    for _ in range(25):
        dim, angle = int(rng.choice([1, 2, 3, 9, 40, 200])), float(rng.uniform(0.01, 3.1))
        with mp.workdps(70):
            t = mp.mpf(angle)
            half = mp.betainc(mp.mpf(dim) / 2, 0.5, 0, mp.sin(t) ** 2, regularized=True) / 2
            expected = mp.log(half) if angle <= math.pi / 2 else mp.log1p(-half)
            assert close(truth.log_cap_measure(dim, angle), expected), (dim, angle)
            if dim <= 2:
                closed = t / mp.pi if dim == 1 else mp.sin(t / 2) ** 2
                assert close(truth.log_cap_measure(dim, angle), mp.log(closed))
    for dim in (1, 2, 3, 50, 10**6):
        for log in (-3e4, -20.0, -0.7, -0.69, -1e-9):
            angle = truth.cap_angle(dim, log)
            with mp.workdps(90):
                flat = angle if log < -0.693 else mp.pi - angle
                measure = mp.exp(truth.log_half_cap(dim, flat))
                assert close(measure, mp.exp(mp.mpf(log)) if log < -0.693 else -mp.expm1(mp.mpf(log)), 20), (dim, log)
    with mp.workdps(50):
        assert close(truth.log_surface_area(2), mp.log(4 * mp.pi))


def test_references_of_gegenbauer_polynomials_agree_with_the_series():
    rng = np.random.default_rng(4)
    for _ in range(20):
        degree, dim, t = int(rng.integers(1, 60)), int(rng.integers(1, 30)), float(rng.uniform(-1.0, 1.0))
        with mp.workdps(80):
            u = (1 - mp.mpf(t)) / 2
            sum_ = mp.hyp2f1(-degree, degree + dim - 1, mp.mpf(dim) / 2, u)
            assert abs(truth.gegenbauer(degree, dim, t) - sum_) < 1e-34
            order = min(degree, 3)
            slope = mp.diff(
                lambda s, k=degree, m=dim: mp.hyp2f1(-k, k + m - 1, mp.mpf(m) / 2, (1 - s) / 2), mp.mpf(t), order
            )
            exact = truth.gegenbauer_derivative(degree, dim, t, order)
            assert abs(exact - slope) <= mp.mpf(10) ** -15 * truth.gegenbauer_derivative_bound(degree, dim, order)
    with mp.workdps(50):
        assert close(truth.gegenbauer(10**5, 1, 0.3), mp.cos(10**5 * mp.acos(mp.mpf(0.3))))
        assert close(truth.gegenbauer_max_zero(9, 1, 0.985), mp.cos(mp.pi / 18))
        assert close(truth.gegenbauer_max_zero(3, 2, 0.77), mp.sqrt(mp.mpf(3) / 5))
        assert close(truth.gegenbauer_lipschitz(2, 2, math.acos(3**-0.5)), mp.mpf(1.5))
        grid = [abs(truth.gegenbauer_slope(7, 5, math.cos(t))) for t in np.linspace(0.02, 3.12, 300).tolist()]
        first = math.acos(special.gegenbauer_max_zero(7, 5))
        assert max(grid) <= truth.gegenbauer_lipschitz(7, 5, first) <= max(grid) * 1.001
    with pytest.raises(truth.Doubtful, match="was not found"):
        truth.gegenbauer_max_zero(9, 1, 0.86)  # the second one


@pytest.mark.parametrize(
    ("dim", "lam"), [(1, 1e-6), (1, 1e12), (2, 3.0), (7, 1e5), (40, 0.5), (1000, 2e4), (10**5, 1e-3), (10**5, 1e12)]
)
def test_quadrature_gives_the_normalizer(dim, lam):
    with mp.workdps(60):
        assert close(truth.kernel_integral(dim, lam), mp.exp(truth.log_kernel_integral(dim, lam)))


def test_mean_angle_references():
    for lam in (1e-4, 2.5, 300.0):  # closed on S^2
        with mp.workdps(60):
            z = mp.mpf(lam)
            assert close(truth.mean_angle(2, lam), mp.pi * (mp.besseli(0, z) - mp.exp(-z)) / (2 * mp.sinh(z)))
    with mp.workdps(40):  # a fractional power: another substitution
        top, total = (
            mp.quad(lambda s, q=q: 4 * s ** (3 + q) * mp.exp(3 * mp.cos(s**4)), [0, mp.pi**0.25]) for q in (1.2, 0)
        )
        assert close(truth.mean_angle(1, 3.0, 0.3), top / total, 15)


@pytest.mark.parametrize(("dim", "lam"), [(1, 1e-6), (1, 1e12), (2, 1.0), (8, 2840.0), (10**5, 1.0), (10**5, 1e12)])
def test_shift_variation_reference_of_a_tiny_radius(dim, lam):
    # D / rho -> lam (w_{m-1} w_{m+1} / w_m^2) c_m / c_{m+1}; the next term is of relative order rho
    with mp.workdps(60):
        areas = [mp.log(2) if m == 0 else truth.log_surface_area(m) for m in (dim - 1, dim, dim + 1)]
        shrink = truth.log_peak(0.5 * (dim - 1), lam) - truth.log_peak(0.5 * dim, lam)
        expected = mp.log(mp.mpf(1e-60)) + mp.log(lam) + areas[0] - 2 * areas[1] + areas[2] + shrink
        assert abs(truth.log_shift_variation(dim, lam, 1e-60) - expected) < 1e-25


@pytest.mark.parametrize(("dim", "lam", "rho"), [(1, 3.0, 0.4), (3, 0.5, 2.0), (8, 100.0, 0.05), (1, 1e10, 3.0)])
def test_shift_references_against_plain_quadrature(dim, lam, rho):
    with mp.workdps(40):
        z, r, pi = mp.mpf(lam), mp.mpf(rho), +mp.pi

        def k(v):
            return mp.exp(z * (mp.cos(v) - 1))

        def larger(t):
            return max(k(max(t - r, 0)) - k(t), k(t) - k(min(t + r, pi)))

        def integral(f, kinks):
            scales = [c + s * j / mp.sqrt(z + dim) for c in kinks for s in (-1, 1) for j in (0, 1, 3, 9, 27)]
            points = sorted({mp.mpf(0), pi, *(p for p in scales if 0 < p < pi)})
            return mp.quad(lambda t: f(t) * mp.sin(t) ** (dim - 1), points, method="gauss-legendre")

        ends = mp.mpf(10) ** -7, pi / 2
        excess = lambda t: k(max(t - r, 0)) + k(min(t + r, pi)) - 2 * k(t)  # noqa: E731
        cross = mp.findroot(excess, ends, solver="bisect", tol=1e-34, verify=False)
        variation = integral(larger, [0, cross, r, pi - r]) / integral(k, [0])
        assert close(mp.exp(truth.log_shift_variation(dim, lam, rho)), variation, 25)
        if lam > 1e6:  # the integrand below falls within 1e-9 of 0
            return
        upper = integral(lambda t: (t + r) * k(max(t - r, 0)), [r, pi - r])
        lower = integral(lambda t: k(min(t + r, pi)), [0, pi - r])
        assert close(mp.exp(truth.log_shifted_mean_angle(dim, lam, rho)), upper / lower, 25)


def test_entropy_reference_is_the_mean_log_density():
    for dim, lam in ((1, 1e-5), (4, 7.0), (30, 1e9)):
        with mp.workdps(60):
            log_c, first = -truth.log_0f1(0.5 * (dim - 1), lam), truth.iv_ratio(0.5 * (dim - 1), lam)
            assert close(truth.entropy(dim, lam), -log_c - lam * first, 22)
