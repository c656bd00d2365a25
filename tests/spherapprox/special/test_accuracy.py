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


NAMES = [pytest.param(name, marks=[pytest.mark.once] * (name.removeprefix("log ") in SLOW)) for name in TABLES]


@pytest.mark.parametrize("name", NAMES)
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


# What the tables are held against, by the functions of mpmath ---------------------------------------------------------


def close(first, second, digits=29):
    """Tell whether two numbers agree to so many digits."""
    with mp.workdps(60):
        return abs(first - second) <= mp.mpf(10) ** -digits * max(abs(first), abs(second))


@pytest.mark.parametrize("order", [0.0, 0.5, 7.3, 68.0, 2000.0])
@pytest.mark.parametrize("x", [1e-8, 0.3, 40.0, 900.0])
def test_references_of_bessel_functions(order, x):
    with mp.workdps(60):
        bottom, top = (mp.besseli(mp.mpf(order) + k, mp.mpf(x), maxterms=10**6) for k in (0, 3))
        assert close(truth.log_iv(order, x), mp.log(bottom))
        assert close(truth.iv_ratio(order, x, 3), top / bottom)
        assert close(truth.iv_ratio_complement(order, x, 3), 1 - top / bottom)
    inverse = truth.iv_ratio_inverse(order, 0.3)
    assert close(truth.iv_ratio(order, inverse), mp.mpf(0.3))


@pytest.mark.parametrize("dim", [1, 2, 9, 200])
@pytest.mark.parametrize("angle", [0.01, 1.5, 1.6, 3.1])
def test_references_of_caps(dim, angle):
    with mp.workdps(70):
        half = mp.betainc(mp.mpf(dim) / 2, 0.5, 0, mp.sin(mp.mpf(angle)) ** 2, regularized=True) / 2
        assert close(truth.log_cap_measure(dim, angle), mp.log(half) if angle <= math.pi / 2 else mp.log1p(-half))


@pytest.mark.parametrize(("degree", "dim", "t"), [(1, 1, 0.3), (7, 2, -0.9), (40, 3, 0.999), (55, 29, 0.1)])
def test_references_of_gegenbauer_polynomials(degree, dim, t):
    def series(s):
        return mp.hyp2f1(-degree, degree + dim - 1, mp.mpf(dim) / 2, (1 - s) / 2)

    with mp.workdps(80):
        assert abs(truth.gegenbauer(degree, dim, t) - series(mp.mpf(t))) < 1e-34
        slope, unit = mp.diff(series, mp.mpf(t)), truth.gegenbauer_derivative_bound(degree, dim, 1)
        assert abs(truth.gegenbauer_derivative(degree, dim, t, 1) - slope) <= 1e-15 * unit


def test_references_of_integrals():
    for lam in (1e-4, 2.5, 300.0):  # closed on S^2
        with mp.workdps(60):
            z = mp.mpf(lam)
            assert close(truth.mean_angle(2, lam), mp.pi * (mp.besseli(0, z) - mp.exp(-z)) / (2 * mp.sinh(z)))
