"""Proven maxima of polynomial vector fields."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import Target, harmonics, sphere
from spherapprox.targets import maximum
from spherapprox.targets.maximum import field_maximum

FEW = settings(derandomize=True, deadline=None, max_examples=10)
SEEDS = st.integers(0, 2**32 - 1)


class TestFieldMaximum:
    @FEW
    @given(SEEDS, st.integers(1, 5))
    def test_the_maximum_of_a_linear_field_is_its_norm(self, seed, p):
        a = np.random.default_rng(seed).normal(size=(p, 3))
        table = np.concatenate([np.zeros((1, p)), a.T[[1, 2, 0]]])  # degree 1 is y, z, x
        bounds = field_maximum(table, normalization="schmidt", slack=1e-4)
        norm = np.linalg.norm(a, 2)
        for low, high in ((bounds.attained_value, bounds.sup_norm), (bounds.attained_slope, bounds.lipschitz)):
            assert norm * (1 - 1e-4) <= low <= norm * (1 + 1e-14)
            assert norm <= high <= norm * (1 + 2e-4)

    @FEW
    @given(SEEDS, st.integers(1, 6), st.integers(1, 3))
    def test_bounds_hold_and_are_attained(self, assert_constants_hold, seed, degree, p):
        table = np.random.default_rng(seed).normal(size=((degree + 1) ** 2, p))
        bounds = field_maximum(table, slack=1e-2)
        constants = {"lipschitz": bounds.lipschitz, "sup_norm": bounds.sup_norm}
        assert_constants_hold(Target(lambda x: harmonics.synthesize(table, x), 2, **constants), seed)
        assert 0.98 * bounds.sup_norm <= bounds.attained_value <= bounds.sup_norm
        assert 0.98 * bounds.lipschitz <= bounds.attained_slope <= bounds.lipschitz

    @pytest.mark.parametrize("seed", range(3))
    def test_one_component_is_the_scalar_case(self, seed):
        coefficients = np.random.default_rng(seed).normal(size=49)
        scalar, vector = harmonics.bandlimited_maximum(coefficients), field_maximum(coefficients[:, None])
        assert max(scalar.attained_value, vector.attained_value) <= min(scalar.sup_norm, vector.sup_norm)
        assert max(scalar.attained_slope, vector.attained_slope) <= min(scalar.lipschitz, vector.lipschitz)

    def test_a_narrow_peak_is_not_missed(self):
        # sum_l (2l+1) P_l(<x, z>): the reproducing kernel, (K+1)^2 at z and nowhere else near
        z = sphere.uniform(2, 1, 5)
        table = harmonics.real_spherical_harmonics(20, z).T
        bound = field_maximum(np.concatenate([table, -2 * table], axis=1), slack=1e-3).sup_norm
        assert 441 * math.sqrt(5) <= bound <= 441 * math.sqrt(5) * (1 + 1e-3)

    def test_fields_of_constant_length(self):
        identity = np.zeros((4, 3))
        identity[[3, 1, 2], [0, 1, 2]] = 1.0
        bounds = field_maximum(identity, normalization="schmidt", slack=1e-3)  # no cell can be discarded
        np.testing.assert_allclose(bounds, 1.0, rtol=1.1e-3)
        words = r"'slack' must be larger for a field of degree 1 .* got 1e-08: \S+ is reached"
        with pytest.raises(ValueError, match=words):
            maximum._largest(lambda x: np.ones(len(x)), 1, 1e-8, error=0.0, most_cells=10_000)

    def test_normalizations_agree(self):
        table = np.random.default_rng(0).normal(size=(16, 2))
        expected = field_maximum(table, normalization="schmidt")
        root = np.sqrt(2 * harmonics.degrees(3) + 1)[:, None]
        np.testing.assert_allclose(field_maximum(table / root), expected, rtol=1e-12)
        surface = field_maximum(table / root * math.sqrt(4 * math.pi), normalization="surface")
        np.testing.assert_allclose(surface, expected, rtol=1e-12)

    def test_constants_and_idle_degrees(self):
        table = np.zeros((100, 2))
        assert field_maximum(table) == (0.0, 0.0, 0.0, 0.0)
        table[0] = 3.0, 4.0
        assert field_maximum(table) == (5.0, 0.0, 5.0, 0.0)
        assert field_maximum(table, normalization="surface").sup_norm == pytest.approx(5 / math.sqrt(4 * math.pi))


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**540])
def test_maxima_of_fields_of_any_size_are_those_in_another_unit(scale):
    table = np.random.default_rng(0).standard_normal((9, 2))
    plain, scaled = field_maximum(table, slack=0.1), field_maximum(scale * table, slack=0.1)
    np.testing.assert_allclose(scaled, scale * np.array(plain), rtol=1e-14)
