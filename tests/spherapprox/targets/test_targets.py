import dataclasses
import functools
import inspect
import math
import pickle
from importlib import resources

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special as scipy_special
from scipy.optimize import minimize
from sums import unit

from spherapprox import harmonics, sphere, targets

FEW = settings(derandomize=True, deadline=None, max_examples=40)
SEEDS = st.integers(0, 2**32 - 1)


def shc():
    """Read the data file a second way: {(n, m): (values of all epochs)}."""
    lines = resources.files("spherapprox").joinpath("data/IGRF14.shc").read_text("utf-8").splitlines()
    epochs = np.array(lines[4].split(), dtype=float)
    table = np.loadtxt(lines[5:])
    return epochs, {(int(row[0]), int(row[1])): row[2:] for row in table}


def radial_by_lpmv(coefficients, latitude, longitude):
    """The radial field in microtesla as the textbook writes it, from SciPy's lpmv."""
    z, phi = np.sin(np.radians(latitude)), np.radians(longitude)
    total = np.zeros(len(z))
    for n in range(1, 14):
        for m in range(n + 1):
            norm = math.sqrt((2 - (m == 0)) * math.factorial(n - m) / math.factorial(n + m))
            p = (-1) ** m * norm * scipy_special.lpmv(m, n, z)
            g, h = coefficients[n, m], coefficients.get((n, -m), 0.0) if m else 0.0
            total += (n + 1) * p * (g * np.cos(m * phi) + h * np.sin(m * phi))
    return total / 1000


def test_every_maker_of_targets_is_in_the_catalogue():
    makers = [n for n in targets.__all__ if inspect.signature(getattr(targets, n)).return_annotation == "Target"]
    assert {*makers} == {*targets.names(), "make", "with_constants"}


class TestGeomagneticField:
    @pytest.mark.parametrize(("year", "epoch"), [(1900, 0), (1945, 9), (2020, 24), (2025, 25)])
    def test_the_field_is_that_of_scipys_legendre_functions(self, year, epoch):
        epochs, table = shc()
        assert epochs[epoch] == year
        rng = np.random.default_rng(year)
        latitude, longitude = rng.uniform(-90, 90, 200), rng.uniform(-180, 360, 200)
        expected = radial_by_lpmv({key: value[epoch] for key, value in table.items()}, latitude, longitude)
        values = targets.geomagnetic_field(year)(sphere.from_latitude_longitude(latitude, longitude))
        np.testing.assert_allclose(values, expected, atol=1e-12)

    def test_surface_mean_and_dipole_moment(self):
        c = harmonics.project(targets.geomagnetic_field(2025), 13, normalization="schmidt")
        assert abs(c[0]) < 1e-12  # no magnetic monopole
        np.testing.assert_allclose(c[1:4], [2e-3 * 4545.5, 2e-3 * -29350.0, 2e-3 * -1410.3], atol=1e-12)

    def test_interpolates_linearly_between_epochs(self):
        x = sphere.uniform(2, 50, 0)
        a, b = targets.geomagnetic_field(2015)(x), targets.geomagnetic_field(2020)(x)
        np.testing.assert_allclose(targets.geomagnetic_field(2016.25)(x), 0.75 * a + 0.25 * b, atol=1e-12)
        assert np.abs(a - b).max() > 0.1

    def test_predictive_part_warns(self):
        with pytest.warns(UserWarning, match=r"IGRF-14 predicts the field after 2025 \(year = 2030\)") as record:
            field = targets.geomagnetic_field(2030)
        assert record[0].filename == __file__
        with pytest.warns(UserWarning, match="predicts"):
            middle = targets.geomagnetic_coefficients(2027.5)
        _, table = shc()
        assert middle[2] == pytest.approx((table[1, 0][25] + table[1, 0][26]) / 2, rel=1e-15)
        expected = radial_by_lpmv({key: value[26] for key, value in table.items()}, np.array([45.0]), np.array([9.0]))
        assert field(sphere.from_latitude_longitude([45], [9])) == pytest.approx(expected, abs=1e-12)

    def test_warning_points_at_the_callers_line(self):
        make = functools.partial(targets.make, "geomagnetic_field")
        for call in (targets.geomagnetic_field, targets.geomagnetic_coefficients, make, functools.lru_cache(make)):
            with pytest.warns(UserWarning, match="predicts") as record:
                call(year=2026)
            assert [warning.filename for warning in record] == [__file__]

    def test_constants_are_tight(self):
        field, x = targets.geomagnetic_field(2025), sphere.uniform(2, 20000, 0)
        c = 1e-3 * targets.geomagnetic_coefficients(2025) * (harmonics.degrees(13) + 1)

        def slope(x):
            return np.linalg.norm(harmonics.gradient(c, x, normalization="schmidt"), axis=1)

        for size, bound in ((lambda x: np.abs(field(x)), field.sup_norm), (slope, field.lipschitz)):
            start = x[np.argmax(size(x))]
            search = minimize(lambda v, f=size: -f(unit(v[None]))[0], start, method="Nelder-Mead", tol=1e-12)
            largest = -search.fun
            assert largest <= bound <= 1.002 * largest
        assert 66 < field.sup_norm < 67
        best = x[np.argmax(np.abs(field(x)))]
        assert best[2] < -0.8  # it points outward off Antarctica
        assert field(best[None])[0] > 0

    @FEW
    @given(SEEDS, st.sampled_from([1900, 1962.5, 2025]))
    def test_constants_hold(self, assert_constants_hold, seed, year):
        assert_constants_hold(targets.geomagnetic_field(year), seed)


OTHERS = [
    ("distance", {}), *(("zonal_harmonic", {"degree": degree}) for degree in (0, 1, 5, 30)),
    *(("bump", {"concentration": kappa}) for kappa in (0, 0.3, 50)),
]  # fmt: skip


class TestOthers:
    @pytest.mark.parametrize(("name", "options"), OTHERS)
    @pytest.mark.parametrize("dim", [1, 2, 3, 8])
    @pytest.mark.parametrize("given_pole", [False, True])
    def test_constants_hold(self, assert_constants_hold, name, options, dim, given_pole):
        pole = {"pole": sphere.uniform(dim, 1, 7)[0]} if given_pole else {}
        target = targets.make(name, dim=dim, **options, **pole)
        assert (target.dim, target.exponent) == (dim, 1.0)
        for seed in range(4):
            assert_constants_hold(target, seed)

    @pytest.mark.parametrize(("name", "options"), OTHERS)
    @pytest.mark.parametrize("dim", [1, 2, 3, 8])
    def test_constants_are_attained(self, name, options, dim):
        target = targets.make(name, dim=dim, **options)
        theta = np.linspace(0, np.pi, 20001)
        meridian = np.zeros((len(theta), dim + 1))
        meridian[:, 0], meridian[:, -1] = np.sin(theta), np.cos(theta)
        values = target(meridian)
        assert np.abs(values).max() == pytest.approx(target.sup_norm, rel=1e-14)
        assert np.abs(np.diff(values) / np.diff(theta)).max() == pytest.approx(target.lipschitz, rel=1e-5, abs=1e-15)

    def test_values_at_the_pole_and_opposite(self):
        pole = sphere.uniform(3, 1, 1)[0]
        x = np.stack([pole, -pole])
        assert targets.distance(3, pole=pole)(x) == pytest.approx([0.0, math.pi], abs=1e-15)
        assert targets.zonal_harmonic(3, 3, pole=pole)(x) == pytest.approx([1.0, -1.0], abs=1e-14)
        assert targets.bump(3, 2.0, pole=pole)(x) == pytest.approx([1.0, math.exp(-4.0)], rel=1e-14)

    def test_distance_keeps_small_angles(self):
        x = np.array([[1e-9, 0.0, 1.0], [0.0, 1e-9, -1.0]])
        assert targets.distance(2)(x) == pytest.approx([1e-9, math.pi - 1e-9], rel=1e-14)

    def test_pole_and_coefficients_are_copied(self):
        pole = np.array([0.0, 1.0])
        target = targets.distance(1, pole=pole)
        pole[:] = [1.0, 0.0]
        assert target([[0.0, 1.0]])[0] == 0.0
        targets.geomagnetic_coefficients(2025)[:] = 0.0
        assert targets.geomagnetic_coefficients(2025)[2] == -29350.0

    def test_zonal_harmonic_of_low_degree_in_closed_form(self):
        for dim in (1, 2, 5, 30):
            x = sphere.uniform(dim, 20, 0)
            t = x[:, -1]
            np.testing.assert_allclose(targets.zonal_harmonic(dim, 1)(x), t, atol=1e-15)
            np.testing.assert_allclose(targets.zonal_harmonic(dim, 2)(x), ((dim + 1) * t * t - 1) / dim, atol=1e-14)
            assert targets.zonal_harmonic(dim, 2).lipschitz == pytest.approx((dim + 1) / dim, rel=1e-12)
        for degree in (0, 1, 2, 17, 400):
            assert targets.zonal_harmonic(1, degree).lipschitz == degree

    @pytest.mark.parametrize("kappa", [1e-12, 1e-3, 0.5, 1.0, 7.0, 1e3, 1e8, 1e15])
    def test_bump_lipschitz_against_mpmath(self, kappa):
        with mpmath.workdps(60):
            k = mpmath.mpf(kappa)
            c = (mpmath.sqrt(1 + 4 * k * k) - 1) / (2 * k)
            true = float(k * mpmath.sqrt(1 - c * c) * mpmath.exp(k * (c - 1)))
        assert targets.bump(2, kappa).lipschitz == pytest.approx(true, rel=1e-15)

    def test_bump_at_the_ends(self):
        assert targets.bump(2, 0.0).lipschitz == 0.0
        huge = targets.bump(2, 1e300)
        assert huge.lipschitz == pytest.approx(1e150 * math.exp(-0.5), rel=1e-14)
        assert np.array_equal(huge([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), [1.0, 0.0])

    @pytest.mark.parametrize("make", [targets.bump, targets.zonal_harmonic])
    def test_the_pole_takes_no_more_memory_than_a_point(self, make):
        x = np.zeros((2, 10**6 + 1))
        x[0, -1], x[1, 0] = 1.0, -1.0
        np.testing.assert_allclose(make(10**6)(x), [1.0, 0.0], atol=1e-4)
        assert targets.distance(10**6).dim == 10**6


class TestRegistry:
    @pytest.mark.parametrize("name", targets.names())
    def test_every_name_makes_a_target(self, name):
        target = targets.make(name)
        assert target.dim == (3 if name == "moving_frame" else 2)
        assert target.lipschitz is None if name == "land" else target.lipschitz > 0
        assert target.sup_norm > 0
        assert target.name
        assert target.provenance
        copy = pickle.loads(pickle.dumps(target))
        x = sphere.uniform(target.dim, 20, 0)
        assert np.array_equal(copy(x), target(x))
        single = x.astype(np.float32)
        atol = 1e-4 if name.startswith("geomagnetic") else 1e-5
        np.testing.assert_allclose(target(single), target(unit(single.astype(np.float64))), rtol=1e-7, atol=atol)
        assert dataclasses.replace(target, lipschitz=1.0).lipschitz == 1.0
        constants = [c for c in ("lipschitz", "sup_norm", "degree") if getattr(target, c) is not None]
        assert {target.origin(c) for c in constants} == {"derived"}

    def test_options_are_passed_on(self):
        assert targets.make("geomagnetic_field", year=1950).name == "radial geomagnetic field 1950"
        assert targets.make("geomagnetic_field", dim=2).dim == 2
        assert targets.make("zonal_harmonic", dim=8, degree=1).lipschitz == 1.0
        assert targets.make("bump", dim=3, concentration=2.0).lipschitz == targets.bump(3, 2.0).lipschitz
        assert targets.make("tangent_projection", dim=4).n_outputs == 5
        assert targets.make("geomagnetic_vector", frame="local").lipschitz is None

    @pytest.mark.parametrize("name", targets.names())
    def test_a_polynomial_is_a_trigonometric_one_on_great_circles(self, name):
        target = targets.make(name)
        if target.degree is None:
            return
        frame = np.linalg.qr(np.random.default_rng(3).standard_normal((target.dim + 1, 2)))[0]
        t = np.arange(64) * (np.pi / 32)
        series = np.fft.rfft(target(np.cos(t)[:, None] * frame[:, 0] + np.sin(t)[:, None] * frame[:, 1]), axis=0)
        assert np.abs(series[target.degree + 1 :]).max() <= 1e-12 * np.abs(series).max()
        assert np.abs(series[target.degree]).max() > 1e-6 * np.abs(series).max()
