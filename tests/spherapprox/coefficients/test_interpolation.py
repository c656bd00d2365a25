import itertools
import threading
import warnings

import numpy as np
import pytest
from scipy import linalg, spatial
from scipy.spatial.distance import cdist
from scipy.special import comb

from spherapprox import (
    ClassicalHead,
    CoreHead,
    EqualMeasurePartition,
    SplitHead,
    VonMisesFisher,
    points,
    sphere,
    sup_error,
    targets,
)
from spherapprox.coefficients import (
    conditioning,
    core_values,
    interpolation,
    iteration,
    split_values,
    well_conditioned_concentration,
)
from spherapprox.coefficients.rules import resolve_options
from spherapprox.coefficients.task import Task

HEADS = pytest.mark.parametrize("kind", [CoreHead, SplitHead])


def smooth(x):
    return np.exp(x[:, 0]) * np.cos(2.0 * x[:, 1])


def pair(x):
    return np.stack([smooth(x), x[:, 0] - x[:, 1] ** 2], axis=1)


def kernel(x, concentration):
    return np.exp(-0.5 * concentration * cdist(x, x, "sqeuclidean"))


def fit(kind, function, x, concentration=None, regularization=None, *, direct=100):
    """Return the interpolating head, the system of more than `direct` points solved by iteration."""
    options = resolve_options(x, concentration, regularization, "interpolation", direct=direct)
    rule = interpolation.core if kind is CoreHead else interpolation.split
    values = rule(Task(function, x, options[0], regularization=options[1]), direct=direct)
    return kind(points.nodes(x)[0], values, options[0])


@HEADS
def test_the_magnetic_field_to_rounding(kind):
    field = targets.geomagnetic_field(2025)
    head = kind.from_target(field, points.fibonacci(1000), 10.0, "interpolation")
    limit = {CoreHead: 1e-13, SplitHead: 1e-11}[kind]
    assert sup_error(head, field, n=2000, refine=2).lower <= limit * field.sup_norm


def test_larger_concentrations_under_resolve():
    field, x = targets.geomagnetic_field(2025), points.fibonacci(1000)
    heads = [CoreHead.from_target(field, x, c, "interpolation") for c in (20, 50)]
    errors = [sup_error(head, field, n=1000, refine=2).lower for head in heads]
    assert 1e-12 < errors[0] / field.sup_norm < 1e-9
    assert 1e-6 < errors[1] / field.sup_norm < 1e-3


@HEADS
@pytest.mark.parametrize(("dim", "n", "concentration"), [(1, 40, 30.0), (2, 300, 40.0), (3, 200, 5.0), (8, 300, 3.0)])
def test_the_head_meets_the_target_at_its_control_points(kind, dim, n, concentration):
    x = points.uniform(dim, n, 3).points
    head = kind.from_target(pair, x, concentration, "interpolation")
    assert head.values.shape == (n, 2)
    np.testing.assert_allclose(head(x), pair(x), atol=1e-9)


@pytest.mark.parametrize(("mu", "rtol"), [(0.0, 1e-9), (0.25, 1e-10)])
def test_the_values_are_those_of_the_system(mu, rtol):
    x = points.uniform(2, 50, 0).points
    a, f = kernel(x, 300.0), pair(x)
    d, ridge = np.diag(a.sum(axis=1)), a + mu * np.eye(50)
    core, split = (rule(pair, x, 300.0, "interpolation", regularization=mu) for rule in (core_values, split_values))
    np.testing.assert_allclose(core, np.linalg.solve(ridge, f), rtol=rtol)
    np.testing.assert_allclose(split, f + np.linalg.solve(ridge, d @ f - a @ f), rtol=rtol)


def test_regularized_split_values_keep_constants_and_tend_to_the_targets():
    x = points.uniform(2, 60, 0).points
    constant = split_values(lambda x: np.full(len(x), 3.0), x, 20.0, "interpolation", regularization=0.1)
    np.testing.assert_allclose(constant, 3.0, rtol=1e-12)
    np.testing.assert_allclose(split_values(smooth, x, 20.0, "interpolation", regularization=1e9), smooth(x), rtol=1e-6)


def test_weights_do_not_matter():
    gauss = points.gauss_product(2, 9)
    for values in (core_values, split_values):
        weighted, even = (values(smooth, rule, 30.0, "interpolation") for rule in (gauss, gauss.points))
        np.testing.assert_array_equal(weighted, even)


@HEADS
@pytest.mark.parametrize(("dim", "div", "mu"), [(1, 8.0, None), (2, 12.0, None), (2, 100.0, 0.01), (5, 1.5, None)])
def test_iteration_agrees_with_factorisation(kind, dim, div, mu):
    x = points.uniform(dim, 700, 1).points if dim > 2 else EqualMeasurePartition(dim, 700).centers()
    concentration = 700.0 ** (2 / dim) / div
    direct, iterated = (fit(kind, pair, x, concentration, mu, direct=limit) for limit in (700, 699))
    assert not np.array_equal(iterated.values, direct.values)
    np.testing.assert_allclose(iterated(x), direct(x), atol=1e-10)
    np.testing.assert_allclose(iterated.values, direct.values, atol=1e-7 * np.abs(direct.values).max())


def test_preconditioning_pays_and_an_iteration_that_does_not_converge_says_what_helps():
    x = points.fibonacci(500).points
    a = kernel(x, 40.0)
    factor = iteration.inverse_factor(x, 40.0, 0.0).toarray()
    assert np.linalg.cond(factor @ a @ factor.T) < 0.02 * np.linalg.cond(a)
    with pytest.raises(ValueError, match=r"'concentration' is too small for 500 .*got 40: after 5 .*such as 80"):
        iteration.solve(x, 40.0, smooth(x), iterations=5)


def test_a_column_of_zeros_has_zeros_and_one_point_its_value():
    values = fit(CoreHead, lambda x: smooth(x)[:, None] * [1.0, 0.0], points.fibonacci(300), 100.0).values
    assert values[:, 0].any()
    assert not values[:, 1].any()
    for rule in (core_values, split_values):
        np.testing.assert_allclose(rule(lambda x: x[:, 0] + 2.0, [[1.0, 0.0]], 0.0, "interpolation"), [3.0], rtol=1e-15)


def test_huge_concentrations_keep_the_values_and_tiny_ones_are_warned_of():
    x = points.uniform(3, 40, 0).points
    np.testing.assert_allclose(core_values(smooth, x, 1e300, "interpolation"), smooth(x), rtol=1e-15)
    np.testing.assert_allclose(split_values(smooth, x, 1e300, "interpolation"), smooth(x), rtol=1e-15)
    with pytest.warns(RuntimeWarning, match=r"'concentration' is too small.*well_conditioned_concentration"):
        core_values(smooth, x, 1e-12, "interpolation")


def test_float32_antipodes_are_interpolated_in_float64():
    x = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0]], dtype=np.float32)
    head = CoreHead.from_target(lambda x: x[:, 1] + 2.0, x, 1.0, "interpolation")
    assert head.values.dtype == np.float64
    np.testing.assert_allclose(head(x), [3.0, 1.0, 2.0], rtol=1e-14)


@pytest.mark.parametrize("values", [core_values, split_values])
def test_a_regularization_allows_equal_points(values):
    twice = np.vstack([np.eye(3), [[0.0, 1.0, -0.0]]])
    assert np.isfinite(values(smooth, twice, 5.0, "interpolation", regularization=0.1)).all()
    assert well_conditioned_concentration([[0.0, 1.0]]) == 0.0


def test_the_concentration_may_be_left_to_interpolation():
    x = points.fibonacci(200)
    head = SplitHead.from_target(smooth, x, coefficients="interpolation")
    assert head.concentration == well_conditioned_concentration(x)
    np.testing.assert_allclose(head(x.points), smooth(x.points), atol=1e-11)


@pytest.mark.parametrize(("dim", "g", "concentration"), [(1, 12, 3.0), (2, 8, 2.0), (2, 12, 6.0), (3, 6, 1.0)])
def test_the_error_is_within_the_theorem(dim, g, concentration):
    # docs/theorems/4.13-interpolation.md (d), for f = P_3, of norm dim(H_3)^(-1/2)
    harmonic = targets.zonal_harmonic(dim, 3)
    degrees = np.arange(80)
    sizes = comb(dim + degrees, dim) - comb(dim + degrees - 2, dim) * (degrees >= 2)
    a = VonMisesFisher(dim, concentration).eigenvalues(79)
    tail = np.sum((sizes * a)[g + 1 :])
    bound = (1.0 + np.sqrt(sizes[: g + 1].sum())) ** 2 * tail / (a[3] * np.sqrt(sizes[3]))
    head = CoreHead.from_target(harmonic, points.gauss_product(dim, 2 * g), concentration, "interpolation")
    error = sup_error(head, harmonic, n=1000, refine=2).lower
    assert bound < 0.2
    assert error <= bound + 1e-13


@HEADS
def test_a_close_pair_does_not_choose_the_concentration_of_all(kind):
    x = points.fibonacci(300).points
    for share in (1e-3, 1e-6, 1e-9):
        near = x[7] + share * np.array([0.0, 0.0, 1.0])
        rows = np.concatenate([x, near[None] / np.linalg.norm(near)])
        head = kind.from_target(smooth, rows, coefficients="interpolation")
        assert head.concentration == pytest.approx(well_conditioned_concentration(x), rel=1e-12)
        np.testing.assert_allclose(head(rows), smooth(rows), atol=1e-9)


@HEADS
@pytest.mark.parametrize(("limit", "error"), [(4096, 1e-5), (500, 0.02)])
def test_scattered_points_are_interpolated_between_them(kind, limit, error):
    x, t = sphere.uniform(2, 800, rng=1), sphere.uniform(2, 500, rng=9)
    head = fit(kind, smooth, x, direct=limit)
    assert np.sqrt(np.mean(np.square(head(t) - smooth(t)))) < error
    np.testing.assert_allclose(head(x), smooth(x), atol=1e-6)  # of many points, close pairs are regularised


def test_many_points_choose_a_concentration_that_iterations_can_do():
    x = points.fibonacci(300)
    head = fit(CoreHead, smooth, x)
    assert head.concentration == well_conditioned_concentration(x, interpolation.ITERATED_CONDITION)
    np.testing.assert_allclose(head(x.points), smooth(x.points), atol=1e-10)


@HEADS
@pytest.mark.parametrize("size", [1e250, 1e-250])
@pytest.mark.parametrize("limit", [4096, 50])
def test_squares_of_values_do_not_leave_the_floats(kind, size, limit):
    x = points.fibonacci(100).points
    head = fit(kind, lambda x: size * pair(x) * [1.0, 1e-20], x, 30.0, direct=limit)
    np.testing.assert_allclose(head(x) / (size * np.array([1.0, 1e-20])), pair(x), atol=1e-10)


def test_many_points_of_a_singular_matrix_are_refused_before_any_iteration(monkeypatch):
    monkeypatch.setattr(iteration, "inverse_factor", None)
    with pytest.raises(ValueError, match=r"'concentration' is too small for 200 .*the matrix is singular to rounding"):
        fit(CoreHead, smooth, points.fibonacci(200), 0.1)


@pytest.mark.parametrize("kind", [CoreHead, SplitHead, ClassicalHead])
def test_warnings_point_at_the_callers_line(kind):
    near = [[1.0, 0.0, 0.0], [1.0, 1e-200, 0.0], [0.0, 1.0, 0.0]]  # one point but for what underflows
    with pytest.warns(RuntimeWarning, match="'concentration' is too small for these points") as caught:
        kind.from_target(lambda x: [1.0, 2.0, 3.0], near, 2.0, "interpolation")
    assert caught[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="singular to rounding, and the head meets the target at them only to 0"):
        kind.from_target(lambda x: [1.0, 2.0, 3.0], near, coefficients="interpolation")


def test_no_call_of_lapack_or_a_tree_holds_up_an_interruption(monkeypatch):
    main, rows = [], []

    def watched(function):
        def call(*arguments, **options):
            main.append(threading.current_thread() is threading.main_thread())
            return function(*arguments, **options)

        return call

    class Tree(spatial.cKDTree):
        def query(self, x, k=1, **options):
            if threading.current_thread() is threading.main_thread():
                rows.append(len(x) * np.size(k))
            return super().query(x, k=k, **options)

    monkeypatch.setattr(np.linalg, "eigvalsh", watched(np.linalg.eigvalsh))
    for name in ("cho_factor", "cho_solve", "lstsq", "qr"):
        monkeypatch.setattr(linalg, name, watched(getattr(linalg, name)))
    monkeypatch.setattr(linalg.lapack, "dpstrf", watched(linalg.lapack.dpstrf))
    lattice = points.fibonacci(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        # by Cholesky's factorisation, and by its part that is not rounding errors
        for kind, concentration, rule in itertools.product(
            (CoreHead, SplitHead), (200.0, 0.01), ("interpolation", "least_squares")
        ):
            kind.from_target(smooth, lattice, concentration, rule)
    assert len(main) >= 12
    monkeypatch.setattr(spatial, "cKDTree", Tree)
    well_conditioned_concentration(conditioning.thin_points(lattice.points))
    assert rows == []
    for kind, n in ((CoreHead, 500), (SplitHead, 2000)):
        fit(kind, smooth, points.fibonacci(n), 0.4 * n)
    assert 10_000 < max(rows) < 100_000
    rows.clear()
    well_conditioned_concentration(sphere.uniform(2, 20_000, rng=1), 10.0)
    assert max(rows) <= conditioning.PATCH
    assert not any(main)
