"""Spectral coefficients: error bound (docs/theorems/4.7-spectral-correction.md) and choice of the degree."""

import math
import warnings

import mpmath
import numpy as np
import pytest

from spherapprox import CoreHead, PointSet, Target, VonMisesFisher, harmonics, points, sphere, sup_error, targets
from spherapprox.coefficients import core_values, spectral
from spherapprox.coefficients.task import Task
from spherapprox.vmf import tail


def polynomial(dim, degree, seed, columns=()):
    """A random spherical polynomial, with the norms of its parts."""
    of = harmonics.hyperspherical_degrees(degree, dim)
    c = np.random.default_rng(seed).normal(size=(len(of), *columns))
    return (lambda x: harmonics.hyperspherical_harmonics(degree, x) @ c), c, of


def bound(dim, concentration, exactness, degree, c, of):
    """4.7: rho_g |p~|_2, with the tail summed term by term in high precision."""
    with mpmath.workdps(30):
        nu, lam = mpmath.mpf(dim - 1) / 2, mpmath.mpf(concentration)
        a = [mpmath.besseli(nu + k, lam) / mpmath.besseli(nu, lam) for k in range(exactness + 30)]
        size = [math.comb(dim + k, dim) - (math.comb(dim + k - 2, dim) if k > 1 else 0) for k in range(exactness + 30)]
        rho = sum(n * t for n, t in list(zip(size, a, strict=True))[exactness - degree + 1 :])
        parts = [float((c[of == k] ** 2).sum()) / a[k] ** 2 for k in range(degree + 1)]
        return float(rho * mpmath.sqrt(sum(parts)))


CASES = [
    (1, 8, 40, 6.0), (1, 3, 7, 0.5), (3, 4, 12, 2.0), (3, 4, 12, 8.0), (4, 2, 8, 1.0), (8, 1, 3, 1.0), (8, 1, 3, 0.05),
]  # fmt: skip


@pytest.mark.parametrize(("dim", "degree", "exactness", "concentration"), CASES)
@pytest.mark.parametrize("columns", [(), (2,)])
def test_errors_are_within_the_bound_of_the_theorem(dim, degree, exactness, concentration, columns):
    function, c, of = polynomial(dim, degree, dim, columns)
    rule = points.gauss_product(dim, exactness)
    head = CoreHead.from_target(function, rule, concentration, "spectral", degree=degree)
    theorem = bound(dim, concentration, exactness, degree=degree, c=c, of=of)
    a = VonMisesFisher(dim, concentration).eigenvalues(degree)
    corrected = harmonics.hyperspherical_harmonics(degree, rule.points) @ (c.T / a[of]).T
    rounding = 4e-15 * float(np.linalg.norm(corrected.reshape(len(rule), -1), axis=1).max())
    x = sphere.uniform(dim, 500, 1)
    error = float(np.linalg.norm((head(x) - function(x)).reshape(len(x), -1), axis=1).max())
    assert error <= theorem + rounding
    assert head.n_outputs == (columns[0] if columns else None)


def test_the_geomagnetic_field_to_thirteen_digits():
    field = targets.geomagnetic_field()
    head = CoreHead.from_target(field, points.gauss_product(2, 43), 10.0, "spectral")
    assert len(head) == 968
    assert sup_error(head, field, n=3000, refine=4).lower / field.sup_norm <= 1e-14


@pytest.mark.parametrize(("dim", "degree"), [(7, 7), (63, 3)])
def test_designs_of_high_dimension_approximate_polynomials(dim, degree):
    function, _, _ = polynomial(dim, degree // 2, 1)
    rule, x = points.spherical_design(dim, degree), sphere.uniform(dim, 500, 1)
    errors = []
    for concentration in (1.0, 0.1):
        head = CoreHead.from_target(function, rule, concentration, "spectral", degree=degree // 2)
        errors.append(np.abs(head(x) - function(x)).max())
    assert errors[1] < 0.05 * errors[0] < 0.05
    function, _, _ = polynomial(2, 2, 0)
    head = CoreHead.from_target(function, points.spherical_design(2, 20), 0.5, "spectral")
    assert sup_error(head, Target(function, 2), n=500).lower < 1e-12


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_chosen_degree_is_near_the_best(dim):
    """The error with the chosen degree is within a factor of ten of the least of all."""
    target = targets.bump(dim, 4.0, pole=np.ones(dim + 1) / math.sqrt(dim + 1))
    rule = points.gauss_product(dim, {1: 44, 2: 26, 3: 14}[dim])
    x = sphere.uniform(dim, 500, 3)
    for concentration in (1e-3, 0.3, 5.0, 40.0):

        def error(degree, lam=concentration):
            head = CoreHead.from_target(target, rule, lam, "spectral", degree=degree)
            return float(np.abs(head(x) - target(x)).max())

        estimate = spectral.estimate(Task(target, rule, concentration))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of degrees that are too high
            errors = [error(n) for n in range(len(estimate.total))]
        default = error(None)
        assert default <= 10.0 * min(errors)
        assert default == pytest.approx(errors[estimate.degree], rel=0.2)
        assert default <= 3.0 * estimate.total[estimate.degree]


def test_misfit_is_the_error_of_the_fit_that_left_the_point_out():
    rule = points.gauss_product(2, 6)
    target = targets.bump(2, 3.0, pole=[0.6, 0.0, 0.8])
    f = target(rule.points)
    misfit = spectral.estimate(Task(target, rule, 2.0)).misfit
    for n in range(4):
        table = harmonics.hyperspherical_harmonics(n, rule.points)
        errors = []
        for k in range(len(rule)):
            mask = np.arange(len(rule)) != k
            root = np.sqrt(rule.weights[mask])
            c = np.linalg.lstsq(table[mask] * root[:, None], f[mask] * root, rcond=None)[0]
            errors.append(abs(table[k] @ c - f[k]))
        assert misfit[n] == pytest.approx(max(errors), rel=1e-9)


def test_a_fit_with_no_point_to_spare_is_not_trusted():
    """On the circle 2n+1 equispaced points are interpolated: the residuals are 0 whatever the target."""
    estimate = spectral.estimate(Task(targets.distance(1), points.gauss_product(1, 10), 1.0))
    assert estimate.misfit[5] == math.inf
    assert np.isfinite(estimate.misfit[:5]).all()


@pytest.mark.parametrize(("dim", "concentration"), [(1, 1e-3), (1, 40.0), (2, 10.0), (3, 200.0), (8, 3.0), (64, 50.0)])
def test_tails_against_mpmath(dim, concentration):
    tails = tail.log_tails(dim, concentration, 40)
    with mpmath.workdps(30):
        nu, lam = mpmath.mpf(dim - 1) / 2, mpmath.mpf(concentration)
        terms = [
            (math.comb(dim + k, dim) - (math.comb(dim + k - 2, dim) if k > 1 else 0))
            * mpmath.besseli(nu + k, lam) / mpmath.besseli(nu, lam)
            for k in range(220)
        ]  # fmt: skip
        for g in (0, 1, 7, 40):
            assert tails[g] == pytest.approx(float(mpmath.log(mpmath.fsum(terms[g + 1 :]))), abs=1e-9)


@pytest.mark.parametrize(("dim", "exactness"), [(1, 20), (2, 16), (3, 9)])
def test_the_estimate_of_aliasing_is_near_the_error(dim, exactness):
    """Half to 20 times the error, which for a polynomial of the chosen degree is aliasing alone."""
    degree, concentration = exactness // 2, 10.0
    function, c, of = polynomial(dim, degree, 2)
    rule, x = points.gauss_product(dim, exactness), sphere.uniform(dim, 2000, 1)
    head = CoreHead.from_target(function, rule, concentration, "spectral", degree=degree)
    error = np.abs(head(x) - function(x)).max()
    tails = spectral.estimate(Task(function, rule, concentration)).tail
    assert 0.5 * error <= tails[degree] <= 20.0 * error
    a = VonMisesFisher(dim, concentration).eigenvalues(exactness + 100)
    parts = [np.linalg.norm(c[of == k]) / a[k] * a[exactness - k + 1 :].sum() for k in range(degree + 1)]
    np.testing.assert_allclose(tails, np.cumsum(parts), rtol=1e-10)


def test_tails_at_the_ends_of_the_concentration():
    assert (tail.log_tails(2, 0.0, 5) == -math.inf).all()
    peak = float(VonMisesFisher(3, 1e18).log_density(1.0))
    np.testing.assert_array_equal(tail.log_tails(3, 1e18, 2), peak)
    np.testing.assert_allclose(tail.log_tails(2, 1e9, 3), math.log(2e9), rtol=1e-9)
    sizes = np.exp(tail.log_sizes(5, 4)).round(8)
    np.testing.assert_array_equal(sizes, np.bincount(harmonics.hyperspherical_degrees(4, 5)))


def test_tiny_concentrations_carry_few_degrees_and_zero_the_mean():
    field, rule = targets.geomagnetic_field(), points.gauss_product(2, 43)
    head = CoreHead.from_target(field, rule, 1e-3, "spectral")
    assert sup_error(head, field, n=500).lower < 0.2 * field.sup_norm  # four degrees are above the rounding
    constant = CoreHead.from_target(lambda x: 3.0 + x[:, 2], rule, 0.0, "spectral")
    np.testing.assert_allclose(constant(rule.points[:5]), 3.0, rtol=1e-13)


def test_huge_concentrations_warn_where_the_points_do_not_resolve_the_kernel():
    rule = points.gauss_product(2, 9)
    words = r"do not resolve the kernel at concentration 1e\+06.*higher degree"
    with pytest.warns(RuntimeWarning, match=words) as records:
        values = core_values(lambda x: 1.0 + x[:, 2], rule, 1e6, "spectral", degree=1)
    assert records[0].filename == __file__
    assert np.isfinite(values).all()


def test_many_blocks_give_the_same_values():
    target, rule = targets.bump(2, 2.0), points.gauss_product(2, 21)
    at_once, in_blocks = (spectral._Basis(rule.points, 10, **sizes) for sizes in ({}, {"elements": 500, "stored": 0}))
    assert len(list(at_once)) == 1 < len(list(in_blocks))
    c = at_once.transform(rule.weights, target(rule.points)[:, None])
    np.testing.assert_allclose(in_blocks.transform(rule.weights, target(rule.points)[:, None]), c, atol=1e-14)
    for degree in (8, 10):
        part = c[: (degree + 1) ** 2]
        np.testing.assert_allclose(in_blocks.synthesize(part, degree), at_once.synthesize(part, degree), atol=1e-14)
    degree = spectral.estimate(Task(target, rule, 3.0)).degree
    values = core_values(target, rule, 3.0, "spectral")
    np.testing.assert_array_equal(values, core_values(target, rule, 3.0, "spectral", degree=degree))


def test_vector_values_are_those_of_their_columns():
    function, _, _ = polynomial(2, 3, 4, (3,))
    rule = points.gauss_product(2, 15)
    together = core_values(function, rule, 1.5, "spectral", degree=3)
    for j in range(3):
        alone = core_values(lambda x, j=j: function(x)[:, j], rule, 1.5, "spectral", degree=3)
        np.testing.assert_allclose(together[:, j], alone, rtol=1e-10, atol=1e-13 * np.abs(alone).max())
    single = core_values(lambda x: function(x).astype(np.float32), rule, 1.5, "spectral", degree=3)
    np.testing.assert_allclose(single, together, atol=1e-4 * np.abs(together).max())


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e200, 1e300])
def test_values_of_any_size_keep_their_relative_error(unit):
    rule, target = points.gauss_product(2, 21), targets.bump(2, 2.0)
    head = CoreHead.from_target(lambda x: unit * target(x), rule, 3.0, "spectral")
    x = sphere.uniform(2, 50, 0)
    np.testing.assert_allclose(head(x) / unit, target(x), rtol=0.0, atol=1e-7)
    scaled, plain = (spectral.estimate(Task(f, rule, 3.0)).misfit[:5] for f in (lambda x: unit * target(x), target))
    np.testing.assert_allclose(scaled / unit, plain, rtol=1e-9)


def test_zero_has_zeros_and_a_single_point_its_value():
    rule = points.gauss_product(3, 4)
    assert not core_values(lambda x: 0.0 * x[:, 0], rule, 1.0, "spectral").any()
    pole = PointSet([[0.0, 1.0]], degree=0)
    head = CoreHead.from_target(lambda x: 2.0 + 0.0 * x[:, 0], pole, 1e-6, "spectral")
    np.testing.assert_allclose(head([[1.0, 0.0]]), 2.0, rtol=1e-5)
    noise = np.random.default_rng(0).standard_normal(968)  # alone is its mean
    assert spectral.estimate(Task(lambda x: noise, points.gauss_product(2, 43), 10.0)).degree == 0


def test_a_discontinuous_target_is_approached_in_the_mean():
    land, x = targets.land(), points.fibonacci(4000).points
    errors = []
    for exactness, concentration in ((8, 1.0), (43, 10.0), (80, 30.0)):
        head = CoreHead.from_target(land, points.gauss_product(2, exactness), concentration, "spectral")
        errors.append(np.sqrt(np.mean((head(x) - land(x)) ** 2)))
    assert errors[0] < 0.46  # that of the mean
    assert errors[1] < 0.3
    assert errors[2] < 0.26


def test_a_concentration_that_carries_no_polynomial_is_warned_of():
    rule = points.gauss_product(2, 43)
    with pytest.warns(RuntimeWarning, match=r"degree 43 carry no more than degree 0 .*lower 'concentration'") as caught:
        CoreHead.from_target(lambda x: x[:, 2], rule, 1e6, "spectral")
    assert caught[0].filename == __file__
    with pytest.warns(RuntimeWarning, match=r"carry no more than degree .*raise 'concentration'"):
        CoreHead.from_target(targets.zonal_harmonic(2, 8), rule, 1e-4, "spectral")
    CoreHead.from_target(lambda x: 0.0 * x[:, 2] + 7.0, rule, 100.0, "spectral")  # no deviation, no warning
