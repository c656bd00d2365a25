"""Vector-valued targets: the geomagnetic vector, rotation, projections, and heads made of them."""

import functools
import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.optimize import minimize
from sums import unit

from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, harmonics, points, sphere, targets

FEW = settings(derandomize=True, deadline=None, max_examples=10)
SEEDS = st.integers(0, 2**32 - 1)
FRAMES = ("cartesian", "local")


def quotients(target, x, y):
    return np.linalg.norm(target(x) - target(y), axis=1) / sphere.distance(x, y)


def legendre_derivative(n, m):
    """Coefficients of the m-th derivative of P_n, highest power first, from Rodrigues' formula, exactly."""
    power = [Fraction(0)] * (2 * n + 1)
    for k in range(n + 1):  # (t^2 - 1)^n
        power[2 * k] = Fraction(math.comb(n, k) * (-1) ** (n - k))
    for _ in range(n + m):
        power = [j * c for j, c in enumerate(power)][1:]
    return [c / (2**n * math.factorial(n)) for c in reversed(power)] or [Fraction(0)]


def mp_polynomials():
    degrees = [(n, m) for n in range(1, 14) for m in range(n + 1)]
    return {key: [mpmath.mpf(c.numerator) / c.denominator for c in legendre_derivative(*key)] for key in degrees}


def potential(gauss, polynomials, p):
    """The potential over a, in nanotesla, at p in units of a, as the textbook writes it."""
    r = mpmath.sqrt(sum(c * c for c in p))
    t, phi = p[2] / r, mpmath.atan2(p[1], p[0])
    total = mpmath.mpf(0)
    for (n, m), polynomial in polynomials.items():
        norm = mpmath.sqrt((2 if m else 1) * mpmath.factorial(n - m) / mpmath.factorial(n + m))
        legendre = norm * mpmath.sqrt(1 - t * t) ** m * functools.reduce(lambda value, c: value * t + c, polynomial)
        g, h = gauss[n * n + n + m], gauss[n * n + n - m] if m else 0
        wave = mpmath.mpf(g) * mpmath.cos(m * phi) + mpmath.mpf(h) * mpmath.sin(m * phi)
        total += r ** -(n + 1) * wave * legendre
    return total


class TestGeomagneticVector:
    def test_is_minus_the_gradient_of_the_potential(self):
        with pytest.warns(UserWarning, match="IGRF-14 predicts"):
            field, gauss = targets.geomagnetic_vector(2027.5), targets.geomagnetic_coefficients(2027.5).tolist()
        x = np.concatenate([sphere.uniform(2, 3, 1), [[1e-9, 0.0, 1.0]]])
        expected = np.empty_like(x)
        with mpmath.workdps(50):
            polynomials, h = mp_polynomials(), mpmath.mpf(10) ** -15
            for i, row in enumerate(x.tolist()):
                p = [mpmath.mpf(c) for c in row]
                length = mpmath.sqrt(sum(c * c for c in p))
                for j in range(3):
                    up, down = (
                        potential(gauss, polynomials, [c / length + s * h * (k == j) for k, c in enumerate(p)])
                        for s in (1, -1)
                    )
                    expected[i, j] = float(-(up - down) / (2000 * h))
        np.testing.assert_allclose(field(x), expected, atol=2e-13)

    def test_the_local_frame_is_north_east_and_down(self):
        latitude, longitude = np.array([51.5, -20.0, 90.0, -90.0]), np.array([-0.1, 130.0, 0.0, 0.0])
        x = sphere.from_latitude_longitude(latitude, longitude)
        cartesian, local = (targets.geomagnetic_vector(2025, frame=f)(x) for f in FRAMES)
        phi, theta = np.radians(longitude), np.radians(90 - latitude)
        zero = np.zeros(4)
        north = np.stack([-np.cos(theta) * np.cos(phi), -np.cos(theta) * np.sin(phi), np.sin(theta)], axis=1)
        east = np.stack([-np.sin(phi), np.cos(phi), zero], axis=1)
        for j, axis in enumerate((north, east, -x)):
            np.testing.assert_allclose(local[:, j], (cartesian * axis).sum(axis=1), atol=1e-13)

    @FEW
    @given(SEEDS)
    def test_agrees_with_the_radial_component(self, seed):
        x = sphere.uniform(2, 50, seed)
        radial = targets.geomagnetic_field(2025)(x)
        np.testing.assert_allclose((targets.geomagnetic_vector(2025)(x) * x).sum(axis=1), radial, atol=5e-13)
        local = targets.geomagnetic_vector(2025, frame="local")(x)
        np.testing.assert_allclose(local[:, 2], -radial, atol=5e-13)
        single = x.astype(np.float32)
        in_single, exact = (targets.geomagnetic_vector(frame="local")(y) for y in (single, unit(single.astype(float))))
        np.testing.assert_allclose(in_single, exact, atol=1e-4)

    def test_points_north_and_down_where_a_compass_does(self):
        local = targets.geomagnetic_vector(2025, frame="local")
        x, y, z = local(sphere.from_latitude_longitude([48.9, 39.7], [2.3, -105.0])).T  # Paris, Denver
        assert (x > 18).all()
        assert np.degrees(np.arctan2(y, x)) == pytest.approx([1.6, 7.6], abs=0.4)  # declination
        assert (np.degrees(np.arctan2(z, np.hypot(x, y))) > 60).all()
        # the dip poles of 2025, where the field is vertical
        x, y, z = local(sphere.from_latitude_longitude([85.76, -63.85], [139.3, 135.1])).T
        assert np.hypot(x, y).max() < 0.3
        assert z[0] > 50
        assert z[1] < -50

    def test_jumps_only_at_the_poles(self):
        near = sphere.from_latitude_longitude([90 - 1e-7] * 2, [0.0, 90.0])
        jumps = [np.linalg.norm(np.diff(targets.geomagnetic_vector(frame=f)(near), axis=0)) for f in FRAMES]
        assert jumps[0] < 1e-6
        assert jumps[1] > 1

    def test_constants_are_the_suprema(self):
        field = targets.geomagnetic_vector(2025)

        def slope(x):
            x = x / np.linalg.norm(x)
            step = 1e-5 * np.linalg.svd(x[None, :])[2][1:]
            ends = np.stack([x + step, x - step]).reshape(-1, 3)
            values = field(unit(ends)).reshape(2, 2, 3)
            return np.linalg.norm(values[0] - values[1], 2) / 2e-5

        x = points.fibonacci(600).points
        start = x[np.argmax([slope(row) for row in x])]
        steepest = -minimize(lambda p: -slope(p), start, method="Nelder-Mead").fun
        assert steepest * (1 - 1e-7) <= field.lipschitz <= steepest * (1 + 1.1e-5)
        start = x[np.argmax(np.linalg.norm(field(x), axis=1))]
        size = minimize(lambda p: -np.linalg.norm(field((p / np.linalg.norm(p))[None])), start, method="Nelder-Mead")
        assert -size.fun * (1 - 1e-9) <= field.sup_norm <= -size.fun * (1 + 1.1e-5)
        local = targets.geomagnetic_vector(2025, frame="local")
        assert (local.lipschitz, local.sup_norm, local.n_outputs) == (None, field.sup_norm, 3)


def skew(dim, seed):
    a = np.random.default_rng(seed).normal(size=(dim + 1, dim + 1))
    return a - a.T


def closed_forms(dim, seed):
    vector = 3.0 * sphere.uniform(dim, 1, seed)[0]
    fields = [targets.rotation_field(dim), targets.rotation_field(dim, matrix=skew(dim, seed))]
    fields += [targets.tangent_projection(dim), targets.tangent_projection(dim, vector=vector)]
    return fields + ([targets.moving_frame(dim, vector=vector)] if dim in (1, 3, 7) else [])


class TestClosedForms:
    @FEW
    @given(SEEDS, st.sampled_from([1, 2, 3, 7, 8]))
    def test_constants_hold(self, assert_constants_hold, seed, dim):
        for field in closed_forms(dim, seed):
            assert field(np.eye(dim + 1)).shape == (dim + 1, field.n_outputs) == (dim + 1, dim + 1)
            assert_constants_hold(field, seed)

    @FEW
    @given(SEEDS, st.sampled_from([1, 2, 3, 7, 8]))
    def test_constants_are_attained(self, seed, dim):
        a = skew(dim, seed)
        rotation = targets.rotation_field(dim, matrix=a)
        v = np.linalg.svd(a)[2][:1]  # the direction that A stretches most
        x = np.linalg.svd(v)[2][1:2]  # orthogonal to it
        assert np.linalg.norm(rotation(v)) == pytest.approx(rotation.sup_norm, rel=1e-12)
        near = x * math.cos(1e-3) + v * math.sin(1e-3)
        assert quotients(rotation, x, near)[0] == pytest.approx(rotation.lipschitz, rel=1e-6)
        projection = targets.tangent_projection(dim, vector=7.0 * v[0])
        assert np.linalg.norm(projection(x)) == pytest.approx(7.0, rel=1e-14)
        assert projection.sup_norm == projection.lipschitz == pytest.approx(7.0, rel=1e-15)
        angle = np.linspace(0, math.pi, 20)[:, None]
        circle = x * np.cos(angle) + v * np.sin(angle)
        turned = x * np.cos(angle + 1e-3) + v * np.sin(angle + 1e-3)
        np.testing.assert_allclose(quotients(projection, circle, turned), 7.0, rtol=1e-6)

    @FEW
    @given(SEEDS, st.sampled_from([1, 2, 3, 7, 8]))
    def test_fields_are_tangent(self, seed, dim):
        x = sphere.uniform(dim, 50, seed)
        for field in closed_forms(dim, seed)[:4]:
            np.testing.assert_allclose((field(x) * x).sum(axis=1), 0.0, atol=2e-14 * max(field.sup_norm, 1))

    def test_rotation_is_a_velocity_and_the_projection_the_gradient_of_the_height(self):
        for dim in (1, 2, 5):
            a, x = skew(dim, 3), sphere.uniform(dim, 20, 4)
            velocity = (x @ expm(1e-5 * a).T - x @ expm(-1e-5 * a).T) / 2e-5
            np.testing.assert_allclose(targets.rotation_field(dim, matrix=a)(x), velocity, atol=1e-8)
            plane = np.zeros((dim + 1, dim + 1))
            plane[1, 0], plane[0, 1] = 1.0, -1.0
            np.testing.assert_array_equal(targets.rotation_field(dim)(x), targets.rotation_field(dim, matrix=plane)(x))
        v, x = np.array([1.0, -2.0, 0.5]), sphere.uniform(2, 20, 4)
        gradient = harmonics.gradient([0.0, -2.0, 0.5, 1.0], x, normalization="schmidt")  # y, z, x
        np.testing.assert_allclose(targets.tangent_projection(2, vector=v)(x), gradient, atol=1e-14)

    @pytest.mark.parametrize("dim", [1, 3, 7])
    def test_frame_is_orthonormal_and_starts_with_x(self, dim):
        x = sphere.uniform(dim, 30, 2)
        rows = [targets.moving_frame(dim, vector=axis)(x) for axis in np.eye(dim + 1)]
        frame = np.stack(rows, axis=2)  # (points, i, coordinates of e_i x)
        np.testing.assert_allclose(frame[:, 0], x, atol=1e-15)
        assert np.abs(frame @ frame.transpose(0, 2, 1) - np.eye(dim + 1)).max() < 1e-14
        v = np.arange(1.0, dim + 2)
        coordinates = targets.moving_frame(dim, vector=v)(x)
        np.testing.assert_allclose(coordinates, np.einsum("nij,j->ni", frame, v), atol=1e-13)
        projected = np.einsum("ni,nij->nj", coordinates[:, 1:], frame[:, 1:])
        np.testing.assert_allclose(projected, targets.tangent_projection(dim, vector=v)(x), atol=1e-13)

    def test_frame_of_the_quaternions(self):
        # <v, e x> with Hamilton's i j = k: i x = (-x1, x0, -x3, x2), j x = (-x2, x3, x0, -x1), k x = (-x3, -x2, x1, x0)
        x, v = sphere.uniform(3, 10, 1), np.array([0.3, -1.0, 2.0, 0.7])
        a, b, c, d = x.T
        frame = [(a, b, c, d), (-b, a, -d, c), (-c, d, a, -b), (-d, -c, b, a)]
        expected = np.stack([np.stack(e, axis=1) @ v for e in frame], axis=1)
        np.testing.assert_allclose(targets.moving_frame(3, vector=v)(x), expected, atol=1e-14)

    def test_arguments_are_copied_and_targets_pickle(self):
        a, v = skew(3, 0), np.ones(4)
        fields = [make(3, vector=v) for make in (targets.tangent_projection, targets.moving_frame)]
        fields.append(targets.rotation_field(3, matrix=a))
        x = sphere.uniform(3, 5, 0)
        before = [field(x) for field in fields]
        a[:], v[:] = 0.0, 0.0
        for field, values in zip(fields, before, strict=True):
            assert np.array_equal(field(x), values)
            assert np.array_equal(pickle.loads(pickle.dumps(field))(x), values)

    def test_zero_is_a_constant(self):
        fields = [make(3, vector=np.zeros(4)) for make in (targets.tangent_projection, targets.moving_frame)]
        for field in [*fields, targets.rotation_field(2, matrix=np.zeros((3, 3)))]:
            assert (field.lipschitz, field.sup_norm) == (0.0, 0.0)
            assert not field(sphere.uniform(field.dim, 5, 0)).any()


@pytest.mark.parametrize("kind", [CoreHead, SplitHead])
@pytest.mark.parametrize("dim", [1, 3])
def test_each_column_of_a_head_is_one_of_its_own(kind, dim):
    field, partition = targets.tangent_projection(dim, vector=np.arange(dim + 1.0)), EqualMeasurePartition(dim, 60)
    head, x = kind.from_target(field, partition, 6.0), sphere.uniform(dim, 40, 9)
    assert head.values.shape == (60, head.n_outputs) == (60, dim + 1)
    for j in range(dim + 1):
        column = kind.from_target(lambda y, j=j: field(y)[:, j : j + 1], partition, 6.0)
        np.testing.assert_allclose(head(x)[:, j : j + 1], column(x), rtol=1e-12, atol=1e-12)
