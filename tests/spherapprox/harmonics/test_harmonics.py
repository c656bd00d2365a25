import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special as scipy_special

from spherapprox import harmonics, sphere
from spherapprox.harmonics import sums

FEW = settings(derandomize=True, deadline=None, max_examples=25)
POLES = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
MANY = [
    np.random.default_rng(0).standard_normal(41**2),
    np.random.default_rng(1).standard_normal((31**2, 3)),
    np.random.default_rng(2).standard_normal((6**2, 70)),
    np.eye(1, 301**2, harmonics.column(300, 40))[0],
    np.eye(1, 201**2, harmonics.column(200, 150))[0],  # near the poles too small for a seed, but not for its sum
]
SEEDS = st.integers(0, 2**32 - 1)


class TestOrder:
    def test_columns_and_degrees_agree(self):
        pairs = [(k, m) for k in range(8) for m in range(-k, k + 1)]
        assert [harmonics.column(k, m) for k, m in pairs] == list(range(64))
        assert harmonics.degrees(7).tolist() == [k for k, _ in pairs]


class TestAssociatedLegendre:
    def test_schmidt_against_scipy_lpmv(self):
        z = np.linspace(-1, 1, 41)
        table = harmonics.associated_legendre(20, z)
        for k in range(21):
            for m in range(k + 1):
                scale = math.sqrt((2 - (m == 0)) * math.factorial(k - m) / math.factorial(k + m))
                expected = (-1) ** m * scale * scipy_special.lpmv(m, k, z)
                np.testing.assert_allclose(table[k, m], expected, atol=2e-14)
            assert not table[k, k + 1 :].any()

    def test_normalisations_differ_by_their_factors(self):
        z = [0.3, -0.8]
        schmidt, ours, surface = (
            harmonics.associated_legendre(5, z, normalization=word) for word in ("schmidt", "orthonormal", "surface")
        )
        k = np.arange(6.0)[:, None, None]
        np.testing.assert_allclose(ours, np.sqrt(2 * k + 1) * schmidt, rtol=1e-15)
        np.testing.assert_allclose(surface, np.sqrt((2 * k + 1) / (4 * np.pi)) * schmidt, rtol=1e-15)

    def test_poles_are_exact(self):
        table = harmonics.associated_legendre(300, [1.0, -1.0])
        k = np.arange(301)
        assert np.array_equal(table[:, 0, 0], np.ones(301))
        assert np.array_equal(table[:, 0, 1], (-1.0) ** k)
        assert not table[:, 1:].any()

    @pytest.mark.parametrize(
        ("degree", "order", "z"), [(200, 0, 0.99999), (200, 1, 0.9999), (200, 150, 0.2), (200, 200, 0.7), (64, 3, -0.6)]
    )
    def test_schmidt_against_mpmath(self, degree, order, z):
        value = harmonics.associated_legendre(degree, z)[degree, order]
        assert value == pytest.approx(float(schmidt_mp(degree, order, z)), rel=1e-11, abs=2e-13)

    def test_no_seed_underflows(self):
        # at z = 0.92 the seed P_m^m is 1e-325 already for m = 800, yet P_2600^850 is of order 0.01
        table = harmonics.associated_legendre(2600, 0.92)
        assert schmidt_mp(2600, 850, 0.92) > 1e-3
        assert table[2600, 850] == pytest.approx(float(schmidt_mp(2600, 850, 0.92)), rel=1e-10)
        np.testing.assert_allclose((table[[500, 1500, 2600]] ** 2).sum(axis=1), 1.0, rtol=1e-12)
        assert harmonics.associated_legendre(400, math.cos(1e-6))[400, 400] == 0.0

    def test_shapes_are_degree_order_and_those_of_z(self):
        assert harmonics.associated_legendre(3, 0.5).shape == (4, 4)
        assert harmonics.associated_legendre(3, np.zeros((2, 5))).shape == (4, 4, 2, 5)
        assert harmonics.associated_legendre(0, 0.5).tolist() == [[1.0]]


def schmidt_mp(degree, order, z, digits=40):
    """Schmidt's function by its own column recurrence at 40 digits."""
    with mpmath.workdps(digits):
        z = mpmath.mpf(z)
        last, now = mpmath.mpf(0), mpmath.sqrt((2 - (order == 0)) / mpmath.factorial(2 * order))
        now *= mpmath.fac2(2 * order - 1) * mpmath.sqrt(1 - z * z) ** order
        for k in range(order + 1, degree + 1):
            before = mpmath.sqrt((k - 1) ** 2 - order**2) * last
            last, now = now, ((2 * k - 1) * z * now - before) / mpmath.sqrt(k**2 - order**2)
        return now


def gradient_mp(degree, order, point):
    """The gradient of a harmonic of Schmidt's normalisation, by differences of its extension along rays."""

    def value(x, y, z):
        across, m = mpmath.hypot(x, y), abs(order)
        turn = mpmath.atan2(y, x) if across else mpmath.mpf(0)
        height = z / mpmath.hypot(across, z)
        return schmidt_mp(degree, m, height, digits=70) * (mpmath.cos if order >= 0 else mpmath.sin)(m * turn)

    with mpmath.workdps(70):
        x = mpmath.matrix([mpmath.mpf(float(t)) for t in point])
        steps = [mpmath.matrix([mpmath.mpf(10) ** -18 * (i == j) for i in range(3)]) for j in range(3)]
        return [float((value(*(x + step)) - value(*(x - step))) / (2 * sum(step))) for step in steps]


class TestRealSphericalHarmonics:
    def test_the_table_is_scipys(self):
        x = sphere.uniform(2, 50, 0)
        theta, phi = np.arccos(x[:, 2]), np.arctan2(x[:, 1], x[:, 0])
        table = harmonics.real_spherical_harmonics(12, x, normalization="surface")
        np.testing.assert_allclose(harmonics.real_spherical_harmonics(12, x), table * math.sqrt(4 * np.pi), rtol=1e-13)
        for k in range(13):
            for m in range(k + 1):
                expected = (-1) ** m * math.sqrt(2 - (m == 0)) * scipy_special.sph_harm_y(k, m, theta, phi)
                np.testing.assert_allclose(table[:, harmonics.column(k, m)], expected.real, atol=1e-13)
                if m:
                    np.testing.assert_allclose(table[:, harmonics.column(k, -m)], expected.imag, atol=1e-13)

    @FEW
    @given(SEEDS)
    def test_addition_theorem_to_degree_200(self, seed):
        x = sphere.uniform(2, 2, seed)
        table = harmonics.real_spherical_harmonics(200, x, normalization="schmidt")
        sums = np.add.reduceat(table[0] * table[1], np.arange(201) ** 2)
        expected = scipy_special.eval_legendre(np.arange(201), x[0] @ x[1])
        np.testing.assert_allclose(sums, expected, atol=1e-12)

    def test_poles_are_exact(self):
        table = harmonics.real_spherical_harmonics(30, POLES, normalization="schmidt")
        zonal = np.zeros((2, 31 * 31))
        zonal[:, [k * k + k for k in range(31)]] = [np.ones(31), (-1.0) ** np.arange(31)]
        assert np.array_equal(table, zonal)

    def test_blocks_do_not_matter(self):
        x = sphere.uniform(2, 5000, 0)
        table, rows = harmonics.real_spherical_harmonics(13, x), [0, 4680, 4681, 4999]
        assert np.array_equal(table[rows], harmonics.real_spherical_harmonics(13, x[rows]))

    def test_length_of_rows_does_not_enter(self):
        x = sphere.uniform(2, 20, 0)
        single = x.astype(np.float32)
        unit = single / np.linalg.norm(single.astype(float), axis=1, keepdims=True)
        for rows, plain in ((x * (1 + 5e-7), x), (single, unit)):
            table = harmonics.real_spherical_harmonics(8, rows)
            assert table.dtype == np.float64
            np.testing.assert_allclose(table, harmonics.real_spherical_harmonics(8, plain), atol=1e-13)


class TestSynthesize:
    @pytest.mark.parametrize("normalization", harmonics.NORMALIZATIONS)
    @pytest.mark.parametrize("shape", [(36,), (36, 1), (36, 4)])
    def test_is_the_table_times_the_coefficients(self, normalization, shape):
        x = np.vstack([sphere.uniform(2, 40, 0), POLES])
        coefficients = np.random.default_rng(1).normal(size=shape)
        table = harmonics.real_spherical_harmonics(5, x, normalization=normalization)
        result = harmonics.synthesize(coefficients, x, normalization=normalization)
        assert result.shape == (42, *shape[1:])
        np.testing.assert_allclose(result, table @ coefficients, atol=1e-13)

    def test_constant_and_axes(self):
        axes = np.vstack([np.eye(3), -np.eye(3)])
        assert np.array_equal(harmonics.synthesize([2.0], axes), np.full(6, 2.0))
        linear = harmonics.synthesize([0.0, 2.0, 3.0, 1.0], axes, normalization="schmidt")  # x + 2 y + 3 z
        assert np.array_equal(linear, [1.0, 2.0, 3.0, -1.0, -2.0, -3.0])

    @pytest.mark.parametrize("coefficients", MANY, ids=lambda coefficients: f"{coefficients.shape}")
    def test_the_kernel_has_the_bits_of_numpy(self, coefficients):
        x = sphere.uniform(2, 1000, rng=1)
        x[:5] = [*POLES, [1e-12, 0.0, 1.0], [1e-200, 1e-200, 1.0], [1.0, 0.0, 0.0]]
        x[5:] = np.where(np.arange(len(x) - 5)[:, None] % 2, x[5:], [0.006, 0.0, -1.0])
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        degree, columns = math.isqrt(len(coefficients)) - 1, coefficients.reshape(len(coefficients), -1)
        rows = 300 if degree < 100 else 60
        compiled = sums.summed_directly(columns, degree, x, dear=0.0)[:, :rows]
        plain = sums.summed_directly(columns, degree, x[:rows], dear=math.inf)
        assert np.array_equal(compiled, plain)
        table = harmonics.real_spherical_harmonics(degree, x[:rows], normalization="schmidt")
        assert np.allclose(plain, (table @ columns).T, rtol=0, atol=1e-12 * np.abs(columns).sum())


class TestGradient:
    @FEW
    @given(SEEDS, st.integers(0, 12))
    def test_against_differences_along_great_circles(self, seed, degree):
        rng = np.random.default_rng(seed)
        x = np.vstack([sphere.uniform(2, 8, seed), POLES, [[1e-9, 0, 1]], [[1e-3, -1e-3, -math.sqrt(1 - 2e-6)]]])
        coefficients = rng.normal(size=(degree + 1) ** 2)
        slope = harmonics.gradient(coefficients, x)
        assert np.abs((slope * x).sum(axis=1)).max() < 1e-12 * (1 + np.abs(slope).max())
        to = np.cross(x, rng.normal(size=x.shape))
        to /= np.linalg.norm(to, axis=1, keepdims=True)

        def along(t):
            return harmonics.synthesize(coefficients, np.cos(t) * x + np.sin(t) * to)

        h = 1e-3  # fourth order
        numeric = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h)
        np.testing.assert_allclose((slope * to).sum(axis=1), numeric, atol=1e-6)

    @pytest.mark.parametrize("degree", [1, 2, 7, 40])
    def test_squares_of_one_degree_sum_to_the_eigenvalue(self, degree):
        x = np.vstack([sphere.uniform(2, 5, 0), POLES, [[1.0, 0.0, 0.0]]])
        total = np.zeros(len(x))
        for c in np.eye((degree + 1) ** 2)[degree**2 :]:
            total += (harmonics.gradient(c, x, normalization="schmidt") ** 2).sum(axis=1)
        np.testing.assert_allclose(total, degree * (degree + 1), rtol=1e-12)

    @pytest.mark.parametrize(("degree", "n"), [(5, 12), (64, 12), (64, 3000)])
    def test_against_forty_digits(self, degree, n):
        x = np.vstack([sphere.uniform(2, n, 0)[:3], POLES, [[1e-9, 0, 1], [0.02, 0.01, -1], [1, 0, 0]]])
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        rows = np.concatenate([x, sphere.uniform(2, n, 1)])
        assert sums.goes_by_grid(degree, 3, len(rows)) == (n > 100)
        for order in {0, 1, -1, degree // 2, -degree}:
            c = np.eye(1, (degree + 1) ** 2, harmonics.column(degree, order))[0]
            slope = harmonics.gradient(c, rows, normalization="schmidt")[: len(x)]
            worst = np.abs(slope - [gradient_mp(degree, order, row) for row in x]).max()
            units = 20 + math.sqrt(degree + 1) if n > 100 else (degree + 1) ** 2 / 2
            assert worst <= degree * units * 2.0**-52

    def test_of_coordinates_is_exact(self):
        axes = np.vstack([np.eye(3), -np.eye(3)])
        for c, unit in zip(np.eye(4)[1:], np.eye(3)[[1, 2, 0]], strict=True):
            expected = unit - axes * (axes @ unit)[:, None]
            assert np.array_equal(harmonics.gradient(c, axes, normalization="schmidt"), expected)
        assert not harmonics.gradient([3.0], POLES).any()


class TestProject:
    @pytest.mark.parametrize("normalization", harmonics.NORMALIZATIONS)
    @pytest.mark.parametrize("shape", [(1,), (64,), (64, 3)])
    def test_recovers_coefficients(self, normalization, shape):
        c = np.random.default_rng(2).normal(size=shape)
        degree = math.isqrt(shape[0]) - 1
        options = {"normalization": normalization}
        projected = harmonics.project(lambda x: harmonics.synthesize(c, x, **options), degree, **options)
        assert projected.shape == shape
        np.testing.assert_allclose(projected, c, atol=1e-13)

    def test_drops_higher_degrees_below_the_band_limit(self):
        c = np.random.default_rng(3).normal(size=100)
        found = harmonics.project(lambda x: harmonics.synthesize(c, x), 4, band_limit=9)
        np.testing.assert_allclose(found, c[:25], atol=1e-13)

    def test_zonal_exponential_has_the_bessel_coefficients(self):
        kappa = 5.0
        found = harmonics.project(lambda x: np.exp(kappa * x[:, 2]), 10, band_limit=60, normalization="schmidt")
        k = np.arange(11)
        expected = (2 * k + 1) * scipy_special.iv(k + 0.5, kappa) * math.sqrt(np.pi / (2 * kappa))
        np.testing.assert_allclose(found[k * k + k], expected, atol=1e-12, rtol=1e-13)
        assert np.abs(np.delete(found, k * k + k)).max() < 1e-12


class TestZonalHarmonic:
    @pytest.mark.parametrize("dim", [2, 3, 8])
    @pytest.mark.parametrize("degree", [0, 1, 2, 7, 40])
    def test_zonal_harmonics_are_scipys_gegenbauer_polynomials(self, dim, degree):
        x, pole = sphere.uniform(dim, 30, 1), sphere.uniform(dim, 1, 2)[0]
        order = (dim - 1) / 2
        expected = scipy_special.eval_gegenbauer(degree, order, x @ pole)
        expected /= scipy_special.eval_gegenbauer(degree, order, 1.0)
        np.testing.assert_allclose(harmonics.zonal_harmonic(degree, x, pole), expected, atol=1e-12)

    def test_on_the_circle_it_is_a_cosine(self):
        theta = np.linspace(0, 2 * np.pi, 17)
        x = np.stack([np.cos(theta), np.sin(theta)], axis=1)
        np.testing.assert_allclose(harmonics.zonal_harmonic(5, x, [1.0, 0.0]), np.cos(5 * theta), atol=1e-14)
        pole = sphere.uniform(2, 1, 5)[0]
        rows = np.stack([pole, -pole]) * (1 + 5e-7)  # a little too long
        assert harmonics.zonal_harmonic(3, rows, pole) == pytest.approx([1, -1], abs=1e-14)


class TestBandlimitedMaximum:
    @FEW
    @given(SEEDS, st.integers(1, 10), st.sampled_from([1e-3, 0.03, 0.5]))
    def test_contains_the_maxima(self, seed, degree, slack):
        rng = np.random.default_rng(seed)
        coefficients = rng.normal(size=(degree + 1) ** 2) * rng.choice([1e-8, 1.0, 1e5])
        found = harmonics.bandlimited_maximum(coefficients, slack=slack)
        x = sphere.uniform(2, 4000, seed)
        value = np.abs(harmonics.synthesize(coefficients, x)).max()
        slope = np.linalg.norm(harmonics.gradient(coefficients, x), axis=1).max()
        assert max(value, found.attained_value) <= found.sup_norm <= (1 + 2.1 * slack) * found.attained_value
        assert max(slope, found.attained_slope) <= found.lipschitz <= (1 + 2.1 * slack) * found.attained_slope
        assert math.cos(degree * found.covering_radius) >= 1 - slack
        assert found.degree == degree

    def test_maxima_of_zonal_and_linear_functions(self):
        zonal = np.zeros(49)
        zonal[harmonics.column(6, 0)] = 2.0
        found = harmonics.bandlimited_maximum(zonal, normalization="schmidt", slack=1e-4)
        theta = np.linspace(0, np.pi, 200001)
        slope = np.abs(np.polynomial.legendre.Legendre.basis(6).deriv()(np.cos(theta)) * np.sin(theta)).max()
        assert 2.0 <= found.sup_norm <= 2.0 * 1.0001001
        assert 2.0 * slope <= found.lipschitz <= 2.0 * slope * 1.0001001
        sectoral = np.eye(36)[harmonics.column(5, 5)]  # sqrt(63/128) sin(theta)^5 cos(5 phi)
        found = harmonics.bandlimited_maximum(sectoral, normalization="schmidt")
        assert found.sup_norm == pytest.approx(math.sqrt(63 / 128), rel=1e-3)
        assert found.lipschitz == pytest.approx(5 * math.sqrt(63 / 128), rel=1e-3)
        # Y_k^1 is steepest at the poles, slope sqrt(k(k+1)/2), where a division by sin theta would fail
        for order in (1, -1):
            found = harmonics.bandlimited_maximum(np.eye(81)[harmonics.column(8, order)], normalization="schmidt")
            assert 6.0 <= found.lipschitz <= 6.0 * 1.001001

    def test_constants_and_leading_zeros(self):
        found = harmonics.bandlimited_maximum([-3.0, 0.0, 0.0, 0.0])
        assert (found.sup_norm, found.lipschitz, found.attained_value, found.degree) == (3.0, 0.0, 3.0, 0)
        assert harmonics.bandlimited_maximum(np.zeros(9)).sup_norm == 0.0
        c = np.random.default_rng(4).normal(size=16)
        padded = np.concatenate([c, np.zeros(9)])
        assert harmonics.bandlimited_maximum(padded) == harmonics.bandlimited_maximum(c)

    def test_the_maximum_does_not_depend_on_the_normalization(self):
        c = np.random.default_rng(4).normal(size=16)
        scaled = c / np.sqrt(2 * harmonics.degrees(3) + 1)
        ours, schmidt = harmonics.bandlimited_maximum(scaled), harmonics.bandlimited_maximum(c, normalization="schmidt")
        assert ours.sup_norm == pytest.approx(schmidt.sup_norm, rel=1e-13)
        assert ours.lipschitz == pytest.approx(schmidt.lipschitz, rel=1e-13)


@pytest.mark.parametrize("table", [harmonics.real_spherical_harmonics, harmonics.hyperspherical_harmonics])
def test_degree_and_points_come_in_either_order(table):
    x = sphere.uniform(2, 4, 0)
    for first in (x, x.tolist(), x.astype(np.float32)):
        np.testing.assert_array_equal(table(first, 3), table(3, first))


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-540, 2.0**540, 2.0**1000])
def test_maxima_of_coefficients_of_any_size_are_those_in_another_unit(scale):
    c = np.random.default_rng(0).standard_normal(16)
    plain, scaled = harmonics.bandlimited_maximum(c, slack=0.1), harmonics.bandlimited_maximum(scale * c, slack=0.1)
    for name in ("sup_norm", "lipschitz", "attained_value", "attained_slope"):
        assert getattr(scaled, name) == scale * getattr(plain, name)
