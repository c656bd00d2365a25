"""Lower bounds of the number of tokens: ingredients against other ways, heads of known length, reference numbers."""

import functools
import math
from dataclasses import replace
from fractions import Fraction

import lower_bounds
import mpmath
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from spherapprox import CoreHead, SplitHead, Target, VonMisesFisher, harmonics, points, sphere, targets
from spherapprox.shortest import token_lower_bound
from spherapprox.shortest.lower import ratios, symmetry
from spherapprox.shortest.lower.catalecticant import ROOT, Catalecticant, Weights
from spherapprox.shortest.lower.cells import Cell, CellSearch
from spherapprox.shortest.lower.coefficients import Coefficients, expand_target
from spherapprox.shortest.lower.surfaces import Values, largest_zero_count, least_tokens, torus_bound
from spherapprox.shortest.lower.tails import tails
from spherapprox.shortest.lower.triples import product_matrices, zonal_products
from spherapprox.targets.random import _polynomial

FIELD = targets.geomagnetic_field(2025.0)


def polynomial_of(dim, c, degree):
    """Return a target with these coefficients, which are known exactly."""
    return Target(functools.partial(_polynomial, degree, c), dim, degree=degree, sup_norm=100.0)


def head_to_degree(dim, n, concentration, degree):
    """Return the polynomial of a degree whose coefficients are those of a random head of n tokens."""
    rng = np.random.default_rng(0)
    b, xi = sphere.uniform(dim, n, rng), rng.uniform(0.5, 1.0, n) * rng.choice([-1.0, 1.0], n)
    a = VonMisesFisher(dim, concentration).eigenvalue(harmonics.hyperspherical_degrees(degree, dim))
    return polynomial_of(dim, a * (xi @ harmonics.hyperspherical_harmonics(degree, b)), degree)


class TestIngredients:
    @pytest.mark.parametrize(("dim", "rows", "most"), [(1, 4, 8), (2, 4, 7), (3, 3, 6), (4, 2, 4)])
    def test_products_of_harmonics_are_those_of_a_rule(self, dim, rows, most):
        rule, rng = points.gauss_product(dim, 2 * rows + most), np.random.default_rng(0)
        of = harmonics.hyperspherical_degrees(max(rows, most), dim)
        c = rng.standard_normal(np.count_nonzero(of <= most))
        parts = expand_target(polynomial_of(dim, c, most), most)
        shares = zonal_products(dim, rows, most)
        y = harmonics.hyperspherical_harmonics(rows, rule.points)
        of = harmonics.hyperspherical_degrees(rows, dim)
        for degree, part in enumerate(parts.parts):
            one = np.where(harmonics.hyperspherical_degrees(most, dim) == degree, c, 0.0)
            values = polynomial_of(dim, one, most)(rule.points) * rule.weights / parts.scale
            expected = y.T @ (values[:, None] * y)
            got, larger = (
                product_matrices(dim, rows, degree, top=most, coefficients=part, absolute=absolute)[0]
                for absolute in (False, True)
            )
            # S^2 has its harmonics in another order: compare what no order changes
            for j, k in np.ndindex(rows + 1, rows + 1):
                block, other = got[np.ix_(of == j, of == k)], expected[np.ix_(of == j, of == k)]
                np.testing.assert_allclose(np.linalg.svd(block)[1], np.linalg.svd(other)[1], atol=1e-13)
                assert np.square(block).sum() == pytest.approx(shares[j, k, degree] * np.square(part).sum(), rel=1e-12)
                assert shares[j, k, degree] or not block.any()
            np.testing.assert_allclose(np.linalg.eigvalsh(got), np.linalg.eigvalsh(expected), atol=1e-13)
            assert (np.abs(got) <= larger * (1.0 + 1e-14)).all()

    @pytest.mark.parametrize("dim", [1, 2, 5])
    @pytest.mark.parametrize("x", [1e-100, 1e-3, 0.7, 9.0, 250.0])
    def test_ratios_and_slopes_are_enclosed(self, dim, x):
        found = ratios.enclose_ratios(dim, x, 9)
        with mpmath.workdps(40 + int(2.0 * max(-math.log10(x), 0.0))):
            for q in range(9):
                nu = mpmath.mpf(dim - 1) / 2 + q
                i = [mpmath.besseli(nu + j, mpmath.mpf(x)) for j in range(3)]
                log, slope = mpmath.log(i[1] / i[0] / x), 1 - x * (i[1] / i[0] - i[2] / i[1])
                assert found.log_low[q] <= log <= found.log_high[q] <= found.log_low[q] + 1e-12
                assert found.slope_low[q] <= slope <= found.slope_high[q] <= found.slope_low[q] + 1e-10

    @pytest.mark.parametrize(("low", "high"), [(1e-3, 2e-3), (0.5, 2.0), (3.0, 3.1), (20.0, 90.0), (7.0, math.inf)])
    def test_weighted_eigenvalues_are_enclosed_over_a_cell(self, low, high):
        powers = np.linspace(-2.0, 12.0, 15)[:, None] * (high < math.inf)
        below, above = ratios.enclose_between(2, low, high, powers, 8)
        for x in np.geomspace(low, min(high, 1e4), 60):
            log = powers * math.log(x / low) - np.log(VonMisesFisher(2, x).eigenvalues(8))
            assert (below <= log + 1e-12).all()
            assert (log <= above + 1e-12).all()

    def test_products_of_ratios_are_enclosed_near_zero(self):
        exponents = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.5, -0.5, 0.0], [-0.5, 0.5, 1.0]])
        below, above = ratios.enclose_near_zero(1, 0.5, exponents)
        for x in np.geomspace(1e-9, 0.5, 50):
            a = VonMisesFisher(1, x).eigenvalues(3)
            logs = exponents @ np.log(a[1:] / a[:-1])
            assert ((below <= logs + 1e-12) & (logs <= above + 1e-12)).all()
        assert (above - below)[[0, 2]].max() < 0.05
        assert above[1] - math.log(0.5**2 / 8.0) == pytest.approx(0.0, abs=0.01)

    @pytest.mark.parametrize("symmetric", [True, False])
    def test_verified_tails_hold_and_are_sharp(self, symmetric):
        rng = np.random.default_rng(0)
        left = rng.integers(-9, 10, (12, 3)).astype(float)
        matrix = left @ np.diag([1.0, -1.0, 2.0]) @ (left if symmetric else rng.integers(-9, 10, (30, 3)) * 1.0).T
        tail, error = tails(matrix, verified=True, symmetric=symmetric)
        size = np.linalg.norm(matrix)
        assert tail[3:].max() <= error <= 1e-11 * size  # whole numbers: the rank is 3 exactly
        assert tail[0] == pytest.approx(size, rel=1e-13)
        assert tail[2] > 1e-2 * size
        np.testing.assert_allclose(tails(matrix, False, symmetric)[0], tail, atol=1e-13 * size)


class Rounded(np.ndarray):
    """1 by 1 matrices near 1 and 4, of which products and differences are rounded by as much as 4.K allows: lengths
    towards 1, the product of a decomposition towards the matrix, and their difference towards 0."""

    step, matrix = 9.0 * 2.0**-24, 4.0

    def __matmul__(self, other):
        exact = np.asarray(self) @ np.asarray(other)
        off = exact - (self.matrix if exact > 2.0 else 1.0)
        return (exact - np.clip(off, -self.step * exact, self.step * exact)).view(Rounded)

    def __rsub__(self, other):
        off = np.asarray(other) - np.asarray(self)
        return off - np.clip(off, -4.0 * self.step, 4.0 * self.step)


class TestAllowances:
    """Each allowance of 4.K where it is needed."""

    @pytest.mark.parametrize("symmetric", [True, False])
    def test_tails_hold_when_all_roundings_are_as_large_as_they_may_be_in_one_direction(self, symmetric, monkeypatch):
        for sign in (1.0, -1.0):
            basis = np.array([[1.0 + sign * 0.499 * Rounded.step]]).view(Rounded)
            parts = (np.full(1, 4.0), basis) if symmetric else (basis, np.full(1, 4.0), basis)
            monkeypatch.setattr(np.linalg, "eigh" if symmetric else "svd", lambda *_, parts=parts, **__: parts)
            matrix = 4.0 * (1.0 + sign * 2.9 * Rounded.step)
            monkeypatch.setattr(Rounded, "matrix", matrix)
            tail, error = tails(np.array([[matrix]]), verified=True, symmetric=symmetric, unit=2.0**-24)
            assert tail.tolist() == [4.0]
            assert abs(tail[0] - matrix) <= error < 17.0 * Rounded.step

    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_sums_of_63_logarithms_are_enclosed_whatever_their_rounding(self, sign, monkeypatch):
        plain = np.cumsum
        monkeypatch.setattr(np, "cumsum", lambda x: plain(x) + sign * 63.0 * 2.0**-53 * plain(np.abs(x)))
        for concentration in (0.03, 1.0, 9.0):
            low, high, *_ = ratios.enclose_eigenvalues(2, concentration, 63)
            with mpmath.workdps(40):
                i = [mpmath.besseli(0.5 + q, mpmath.mpf(concentration)) for q in range(64)]
                logs = [mpmath.log(top / i[0]) for top in i]
            assert all(a <= log <= b for a, log, b in zip(low, logs, high, strict=True))

    def test_weights_beyond_all_floats_say_nothing(self):
        bound = Catalecticant(expand_target(head_to_degree(2, 2, 2.0, 8), 8), 1e-6, True)
        with np.errstate(over="raise", invalid="raise"):
            assert bound.bound(1e-60, 1e-60, Weights(4, 0.5)) == 0

    def test_tails_above_the_slack_by_no_more_than_roundings_do_not_count(self, monkeypatch):
        eps, tail = 2.0**20, []
        monkeypatch.setattr(
            "spherapprox.shortest.lower.catalecticant.tails", lambda *_, **__: (np.array(tail), 0.0)
        )  # of a constant, 1, whose slack is eps but for roundings
        bound = Catalecticant(Coefficients(2, (np.ones((1, 1)),), 1.0, 0.0, True, ""), eps, True)
        for excess, n in ((2.0**-30, 1), (2.0**-41, 0)):  # sums of a few hundred squares, and their roots
            tail[:] = [eps * (1.0 + excess)]
            assert bound.bound(1.0, 1.0, Weights(0, 1.0)) == n
        # without eps, what weights are rounded out by, and the roundings of entries, add up
        for share, n in ((2.0**-40 + 0.9 * 2.0**-44, 0), (2.0**-39, 1)):
            tail[:] = [share]
            assert replace(bound, eps=1e-30).bound(1.0, 1.0, Weights(0, 1.0)) == n

    def test_uncertain_tails_of_a_torus_say_nothing(self, monkeypatch):
        wave = targets.random_bandlimited(3, 3, rng=0)
        values = Values(wave, 1e-3, True)
        assert torus_bound(values, tries=3) > 1
        monkeypatch.setattr("spherapprox.shortest.lower.surfaces.tails", lambda *_, **__: (np.full(9, 1.0), 1.0))
        assert torus_bound(values, tries=3) == 1

    @pytest.mark.parametrize("parts", [1, 3])
    def test_what_is_allowed_covers_the_roundings_of_components_and_levels(self, parts):
        rng = np.random.default_rng(0)
        found = rng.uniform(-1.0, 1.0, (300, parts))
        w = np.ravel(sphere.uniform(max(parts - 1, 1), 1, rng))[:parts] if parts > 1 else np.ones(1)
        level, y = 0.1, np.ravel((found @ w)[:, None])
        exact = [sum(Fraction(a) * Fraction(b) for a, b in zip(row, w, strict=True)) for row in found.tolist()]
        off = max(abs(Fraction(a) - (b - Fraction(level))) for a, b in zip((y - level).tolist(), exact, strict=True))
        flat = Target(lambda x: 0.0 * x[:, 0], 2, sup_norm=float(np.linalg.norm(found, axis=1).max()), lipschitz=0.0)
        assert 0 < off <= Values(replace(flat, accuracy=0.0), 1e-300, True).slack(found)

    def test_noise_is_counted_where_the_weights_of_a_cell_are_largest(self):
        # a head of one token, whose concentration is the least of the cell, is all noise but for its mean
        a = VonMisesFisher(2, 0.1).eigenvalues(30)[1:]
        eps = math.sqrt(float((2.0 * np.arange(1, 31) + 1.0) @ np.square(a)))
        constant = Coefficients(2, (np.ones((1, 1)),), 1.0, 0.0, True, "")
        for share, most in ((1.0, 1), (1e-3, 4)):
            bound = Catalecticant(constant, share * eps * (1.0 + 1e-9), True).bound(0.1, math.inf, Weights(1, 0.3))
            assert bound <= most
        assert bound == 4  # it says something

    def test_errors_of_coefficients_raise_eps(self):
        exact = expand_target(head_to_degree(2, 2, 2.0, 8), 8)
        rng = np.random.default_rng(0)
        wrong = tuple(part + 1e-4 * rng.standard_normal(part.shape) for part in exact.parts)
        off = math.sqrt(sum(float(np.square(a - b).sum()) for a, b in zip(wrong, exact.parts, strict=True)))
        found = [
            Catalecticant(replace(exact, parts=parts, error=error), 1e-9, True).bound(2.0, 2.0, Weights(3, ROOT))
            for parts, error in ((exact.parts, 0.0), (wrong, 0.0), (wrong, off))
        ]
        assert found[0] == 2 < found[1]  # what is wrong has a higher rank
        assert found[2] <= 2

    @pytest.mark.parametrize("dim", [1, 2, 4])
    def test_a_remainder_counts_for_the_coefficients_and_for_the_distance(self, dim):
        wave = targets.random_bandlimited(dim, 3, rng=0)
        near = Target(lambda x: wave(x) + 1e-3, dim, degree=3, remainder=1e-3)
        found, exact = expand_target(near, 3), expand_target(wave, 3)
        off = np.concatenate([
            np.ravel(a * found.scale - b * exact.scale) for a, b in zip(found.parts, exact.parts, strict=True)
        ])  # fmt: skip
        assert np.linalg.norm(off) == pytest.approx(1e-3, rel=1e-9)  # and `near` is as far from `wave`
        assert np.linalg.norm(off) + 1e-3 <= found.error * found.scale * (1.0 + 1e-9)
        # what is near to a polynomial need not be one
        beside = Target(lambda x: wave(x) + 1e-3 * (2.0 * x[:, 0] ** 10 - 1.0), dim, degree=3, remainder=1e-3)
        assert not expand_target(beside, 3).proven

    def test_values_near_exact_points_are_those_at_the_points_up_to_what_is_allowed(self):
        steep = Target(lambda x: np.sin(1e9 * x[:, 0]), 2, sup_norm=1.0, lipschitz=1e9)
        values, rng = Values(steep, 1e-9, True), np.random.default_rng(0)
        x = sphere.uniform(2, 500, rng)
        moved = x + 0.99e-13 * sphere.uniform(2, 500, rng)
        here, there = values(x), values(moved)
        assert 1e-6 < np.abs(here - there).max() + values.eps <= values.slack(here)
        rough = Values(replace(steep, lipschitz=0.0, accuracy=1e-3), 1e-9, True)
        assert rough.slack(here) >= 1e-3 + rough.eps

    def test_cells_from_zero_name_the_weights_that_prove_them(self):
        bound = Catalecticant(expand_target(head_to_degree(2, 3, 2.0, 8), 8), 1e-6, False)
        weights = [Weights(2, 1.0), Weights(2, ROOT)]  # near zero there are no others than the second
        assert CellSearch(bound, 2)._bound_in(0.0, 2.5, iter(weights), math.inf) == Cell(0.0, 2.5, 3, 2, ROOT)
        assert CellSearch(bound, 2)._bound_in(2.0, 2.0, iter(weights), math.inf) == Cell(2.0, 2.0, 3, 2, 1.0)


class TestHeads:
    @pytest.mark.parametrize("certified", [False, True])
    @pytest.mark.parametrize(("dim", "n", "concentration"), [(1, 4, 5.0), (2, 1, 3.0), (2, 7, 4.0), (3, 6, 6.0)])
    def test_a_head_needs_its_own_tokens_at_its_own_concentration(self, dim, n, concentration, certified):
        target = head_to_degree(dim, n, concentration, 24 if dim < 3 else 12)
        found = token_lower_bound(target, 1e-9, concentration=concentration, certified=certified)
        assert (found.n, found.certified, found.concentrations) == (n, certified, (concentration,) * 2)

    @pytest.mark.parametrize("power", [ROOT, 0.75])
    def test_cells_that_hold_a_heads_concentration_ask_for_no_more_tokens(self, power):
        bound = Catalecticant(expand_target(head_to_degree(2, 3, 2.0, 16), 16), 1e-9, False)
        cells = [(2.0, 2.0), (2.0, 2.0 + 1e-7), (1.9, 2.1), (1.0, 3.0), (2.0, math.inf), (1.0, math.inf)]
        found = [bound.bound(*cell, Weights(3, power)) for cell in cells]
        assert found[:2] == [3, 3]
        assert max(found) == 3
        assert bound.bound(0.0, 2.5, Weights(3, ROOT)) <= 3

    @pytest.mark.parametrize("concentration", [1e-3, 0.02, 0.1])
    def test_small_concentrations_make_no_rank(self, concentration):
        rng = np.random.default_rng(1)
        head = CoreHead(sphere.uniform(2, 3, rng), [1.0, -2.0, 1.5], concentration)
        target = Target(head, 2, degree=12, sup_norm=5.0)
        assert all(token_lower_bound(target, eps, concentration=concentration).n <= 3 for eps in (1e-12, 1e-6, 0.05))

    def test_no_bound_is_above_a_head_within_eps(self):
        found = [lower_bounds.case(np.random.default_rng([7, i])) for i in (3, 4, 5, 8, 12)]
        assert not [row for row in found if row[2] > row[1]]

    def test_vectors_need_as_many_tokens_as_a_component(self):
        rng = np.random.default_rng(2)
        b, xi = sphere.uniform(2, 6, rng), rng.standard_normal((6, 2))
        xi[:3, 0] = 0.0
        both, first = (
            Target(head, 2, degree=30, sup_norm=9.0) for head in (CoreHead(b, xi, 4.0), CoreHead(b, xi[:, 0], 4.0))
        )
        assert [token_lower_bound(f, 1e-8, concentration=4.0).n for f in (both, first)] == [6, 3]

    def test_the_unit_of_values_does_not_matter(self):
        wave = targets.random_bandlimited(2, 4, rng=0)
        small = Target(lambda x: 1e-200 * wave(x), 2, degree=4)
        assert token_lower_bound(small, 1e-202).n == token_lower_bound(wave, 1e-2).n > 5


class TestReference:
    @pytest.mark.parametrize(("x", "wanted"), [(2.0, (4, 8, 22, 42)), (4.0, (6, 10, 22, 41)), (8.0, (10, 18, 29, 42)),
                                               (20.0, (22, 39, 65, 77))])  # fmt: skip
    def test_the_field_at_one_concentration(self, x, wanted):
        found = [token_lower_bound(FIELD, eps, relative=True, concentration=x) for eps in (0.05, 0.01, 1e-3, 1e-4)]
        assert all(bound.n >= n for bound, n in zip(found, wanted, strict=True))

    @pytest.mark.parametrize(("eps", "n"), [(0.05, 3), (0.01, 8), pytest.param(0.003, 14, marks=pytest.mark.once)])
    def test_the_field_at_every_concentration(self, eps, n):
        found = token_lower_bound(FIELD, eps, relative=True, certified=True)
        assert (found.n, found.certified, found.concentrations) == (n, True, (0.0, math.inf))
        assert min(cell.n for cell in found.cells) == n
        assert [cell.high for cell in found.cells[:-1]] == [cell.low for cell in found.cells[1:]]
        single = [token_lower_bound(FIELD, eps, relative=True, concentration=x).n for x in (1e-6, 0.03, 2.0, 5.0, 1e4)]
        assert min(single) >= n

    def test_exact_coefficients_are_those_of_quadrature(self):
        waves = targets.zonal_harmonic(3, 4), targets.random_bandlimited(1, 6, 0)
        for target in (FIELD, targets.geomagnetic_vector(), *waves):
            functions = target.function, lambda x, f=target.function: f(x)  # the second hides what it is
            pair = [expand_target(replace(target, function=f, origins={}), target.degree) for f in functions]
            assert [series.proven for series in pair] == [True, False]
            for exact, got in zip(pair[0].parts, pair[1].parts, strict=True):
                np.testing.assert_allclose(got, exact, atol=1e-12)

    @pytest.mark.parametrize(("eps", "n"), [(0.1, 5), (0.01, 9), pytest.param(0.001, 10, marks=pytest.mark.once)])
    def test_free_keys_on_products_of_circles(self, eps, n):
        wave = targets.random_bandlimited(3, 5, rng=0)
        found = token_lower_bound(wave, 3.19 * eps, keys="free", certified=True)
        assert found.n >= n
        assert (found.theorem, found.concentrations) == ("torus", (0.0, math.inf))
        assert token_lower_bound(wave, 3.19 * eps).n > n  # unit keys need more

    @pytest.mark.parametrize(("degree", "n"), [(1, 2), (2, 3), (3, 4), (11, 4), (12, 5)])
    def test_split_heads_by_changes_of_sign(self, degree, n):
        wave = targets.zonal_harmonic(1, degree)
        assert token_lower_bound(wave, 0.9, "split", certified=True).n == n
        assert token_lower_bound(wave, 0.9, keys="free", certified=True).n == n
        assert token_lower_bound(wave, 1.0, "split").n == 1

    def test_sums_of_exponentials_have_no_more_zeros_on_a_circle(self):
        angle, rng = np.linspace(0.0, 2.0 * math.pi, 4001), np.random.default_rng(0)
        most = dict.fromkeys(range(1, 6), 0)
        for _ in range(3000):
            n = int(rng.integers(1, 6))
            g = rng.standard_normal((n, 2)) * 10.0 ** rng.uniform(-1.0, 1.0) @ [np.cos(angle), np.sin(angle)]
            values = np.linalg.qr(rng.standard_normal((n, n)))[0][0] @ np.exp(g - g.max(axis=0))
            most[n] = max(most[n], np.count_nonzero(np.diff(np.sign(values))))
        assert all(largest_zero_count(n) >= count for n, count in most.items())
        assert (most[2], most[3]) == (2, 4) == (largest_zero_count(2), largest_zero_count(3))
        assert [least_tokens(zeros) for zeros in (0, 1, 2, 3, 4, 5, 22, 23)] == [1, 2, 2, 3, 3, 4, 4, 5]

    def test_constants_count_for_core_heads(self):
        # one token less a constant changes its sign twice: so many changes prove one token alone
        lifted = Target(lambda x: np.exp(2.0 * x[:, 0]), 1, sup_norm=9.0, lipschitz=15.0)
        assert token_lower_bound(CoreHead([[1.0, 0.0]], [1.0], 2.0), 1e-3, max_cells=0).n == 1
        assert token_lower_bound(lifted, 1e-3, keys="free").n == 1
        assert token_lower_bound(lifted, 1e-3, "split").n == 2
        both = SplitHead([[1.0, 0.0], [-1.0, 0.0]], [0.0, 1.0], 3.0)
        assert token_lower_bound(Target(both, 1), 1e-3, "split").n == 2

    def test_targets_of_unknown_degree_are_estimated(self):
        found = token_lower_bound(targets.distance(1), 0.02)
        assert 2 <= found.n <= 12
        assert "estimated" in found.reason


def head_of(n, dim, p=1, *, split, seed=0):
    """Return a head with keys of several lengths, as a target that states its size and slope."""
    rng = np.random.default_rng(seed)
    keys, values = rng.standard_normal((n, dim + 1)), rng.standard_normal((n, p))

    def head(x):
        weights = np.exp(x @ keys.T)
        return (weights @ values) / weights.sum(axis=1, keepdims=True) if split else weights @ values

    size, slope = lower_bounds.largest_change(head, dim, rng)
    return Target(head, dim, sup_norm=1.1 * size, lipschitz=1.1 * slope)


class TestSymmetry:
    """4.K: heads of few tokens have symmetries and ranks, and no bound is above their number."""

    @pytest.mark.parametrize(
        ("dim", "n", "split", "most"),
        [(2, 3, True, 3), (2, 4, True, 4), (2, 2, False, 2), (2, 3, False, 3), (2, 5, False, 3), (1, 3, True, 3)],
    )
    def test_heads_of_few_tokens_are_symmetric(self, dim, n, split, most):
        head = head_of(n, dim, split=split)
        found = token_lower_bound(head, 1e-9, "split" if split else "core", keys="unit" if split else "free")
        assert (found.n == most and found.theorem == "reflection") or found.n <= n < dim + 2

    def test_a_symmetry_up_to_positive_factors_has_two_values_on_one_ray(self):
        one, other = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]]), np.array([[-2.0, 0.0], [0.0, 4.0], [-4.0, 3.0]])
        radii = symmetry._separate(one, other, rays=True)
        np.testing.assert_allclose(radii, [1.0, -2.0, 5.0 / math.sqrt(2.0)])  # sqrt(1/2) of right angles
        np.testing.assert_allclose(symmetry._separate(one, other, rays=False)[:2], [1.5, 1.0])

    @pytest.mark.parametrize(("n", "split"), [(4, True), (4, False)])
    def test_values_have_the_rank_of_the_tokens(self, n, split):
        values = Values(head_of(n, 2, 6, split=split), 1e-9, certified=True)
        assert symmetry.value_bound(values, split) == n
        assert symmetry.value_bound(replace(values, eps=0.9 * values.target.sup_norm), split) == 1

    def test_turns_of_coefficients_are_casimirs(self):
        for dim in (1, 2, 4):
            series = expand_target(targets.random_bandlimited(dim, 3, rng=0), 3)
            plain, absolute, of = symmetry._turn(series)
            for degree, part in enumerate(series.parts[1:], 1):
                total = np.square(plain[:, of == degree]).sum()
                assert total == pytest.approx(degree * (degree + dim - 1) * np.square(part).sum(), rel=1e-12)
            assert (np.abs(plain) <= absolute * (1.0 + 1e-14)).all()

    @pytest.mark.parametrize("count", [1, 2, 3, 5])
    def test_functions_of_few_coordinates_need_no_more_tokens(self, count):
        rng = np.random.default_rng(0)
        basis = np.linalg.qr(rng.standard_normal((6, 6)))[0][:, :count]
        wave = Target(
            lambda x: ((x @ basis) ** 3 + (x @ basis) ** 2).sum(axis=1) + np.prod(x @ basis[:, :3], axis=1), 5
        )
        series = expand_target(replace(wave, degree=3), 3)
        assert symmetry.fibre_bound(series, 1e-9 / series.scale, verified=True) == count
        assert symmetry.fibre_bound(series, 3.0 / series.scale, verified=True) == 0

    @pytest.mark.parametrize(("dim", "degree", "n"), [(4, 2, 5), (6, 2, 7)])
    def test_random_polynomials_are_functions_of_no_fewer_coordinates(self, dim, degree, n):
        found = token_lower_bound(targets.random_bandlimited(dim, degree, rng=0), 1e-3, "split", certified=True)
        assert (found.n, found.theorem) == (n, "fibres")

    def test_the_field_is_far_from_all_symmetries(self):
        found = token_lower_bound(FIELD, 0.12, "split", relative=True, certified=True)
        assert (found.n, found.theorem) == (4, "reflection")
        for eps, rays, expected in ((0.127, False, False), (0.003, True, True), (0.02, True, False)):
            assert symmetry.is_asymmetric(Values(FIELD, eps * FIELD.sup_norm, True), rays=rays) == expected

    def test_vectors_have_ranks(self):
        field = targets.geomagnetic_vector(2025.0)
        values = {eps: Values(field, eps * field.sup_norm, True) for eps in (0.35, 0.05)}
        assert symmetry.value_bound(values[0.35], affine=True) == 4
        assert torus_bound(values[0.05], tries=60) >= 5  # rows of the larger sphere: else 2


class TestTime:
    """Matrices are small: a second thread of BLAS would wait more than it computes."""

    @pytest.mark.parametrize("options", [{}, {"keys": "free"}, {"kind": "split"}])
    def test_bounds_take_one_thread_of_blas(self, options):
        threads = []

        def height(x):
            threads.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
            return x[:, 0]

        with threadpool_limits(2, user_api="blas"):
            token_lower_bound(Target(height, 1), 0.9, max_cells=0, **options)
        assert threads[-1] == {1}

    @pytest.mark.parametrize("degree", [None, 3])
    def test_a_quadrature_ends_at_its_deadline(self, degree):
        values = []
        with pytest.raises(TimeoutError):
            expand_target(Target(lambda x: values.append(len(x)) or x[:, 0], 2, degree=degree), 6, deadline=0.0)
        assert values == []


@pytest.mark.parametrize(("kind", "keys", "dim"), [("core", "unit", 1), ("core", "free", 3), ("split", "unit", 1)])
def test_targets_of_any_size_have_the_same_bound(kind, keys, dim):
    small, plain, large = (
        token_lower_bound(Target(lambda x, s=s: s * np.sin(3 * x[:, :2]), dim), 0.05 * s, kind, keys=keys, max_cells=5)
        for s in (1e-200, 1.0, 1e290)
    )
    assert small.n == plain.n == large.n > 1


class TestRefuted:
    def test_a_loose_sup_norm_is_warned_of(self):
        with pytest.warns(RuntimeWarning, match="'target' states sup_norm=15"):
            found = token_lower_bound(Target(lambda x: x[:, 0], 1, sup_norm=15.0), 0.1, relative=True)
        assert (found.n, found.eps) == (1, 1.5)  # a bound for a larger eps than is meant, and so true

    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_a_reflection_changes_no_bound(self, sign):
        # values at the first points of the rule are 1e-300 of the largest
        b = np.array([[0.0, 0.0, sign], [0.1, 0.0, sign * math.sqrt(0.99)]])
        head = CoreHead(b, [1.0, -1.0], 371.0)
        assert token_lower_bound(Target(head, 2), 1e-3, max_cells=5, concentration=371.0).n == 2
