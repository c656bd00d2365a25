import numpy as np
import pytest
from scipy.spatial.distance import cdist

from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, points, sup_error, targets
from spherapprox.coefficients import core_values, iteration, least_squares, split_values
from spherapprox.coefficients.task import Task


def smooth(x):
    return np.exp(x[:, 0]) * np.cos(2.0 * x[:, 1])


def pair(x):
    return np.stack([smooth(x), np.abs(x[:, 0])], axis=1)


def kernel(x, b, concentration):
    return np.exp(-0.5 * concentration * cdist(x, b, "sqeuclidean"))


@pytest.mark.parametrize(("kind", "limit"), [(CoreHead, 1e-13), (SplitHead, 2e-12)])
def test_the_magnetic_field_to_rounding(kind, limit):
    field = targets.geomagnetic_field(2025)
    head = kind.from_target(field, points.fibonacci(900), 10.0, "least_squares", samples=2000)
    assert sup_error(head, field, n=2000, refine=2).lower <= limit * field.sup_norm


@pytest.mark.filterwarnings("ignore:.concentration. is too large for these samples:RuntimeWarning")
@pytest.mark.parametrize("mu", [0.0, 0.3])
@pytest.mark.parametrize("dim", [1, 2, 8])
def test_the_normal_equations_hold(dim, mu):
    b, rule = points.uniform(dim, 40, 0).points, points.uniform(dim, 90, 1)
    weights = np.random.default_rng(0).uniform(0.0, 1.0, 90)
    rule = PointSet(rule.points, weights / weights.sum())
    x, w, concentration = rule.points, rule.weights, 30.0
    a, f = kernel(x, b, concentration), pair(x)
    xi = core_values(pair, b, concentration, "least_squares", samples=rule, regularization=mu)
    gradient = a.T @ (w[:, None] * (a @ xi - f)) + mu * xi
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12 * (1.0 + np.abs(xi).max()))
    s = a / a.sum(axis=1, keepdims=True)
    v = split_values(pair, b, concentration, "least_squares", samples=rule, regularization=mu)
    gradient = s.T @ (w[:, None] * (s @ v - f)) + mu * (v - pair(b))
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12 * (1.0 + np.abs(v).max()))


@pytest.mark.parametrize("rule", [least_squares.core, least_squares.split])
@pytest.mark.parametrize("mu", [None, 1e-3])
def test_iteration_agrees_with_factorisation(rule, mu):
    task = Task(pair, points.fibonacci(300), 30.0, regularization=mu)
    direct, iterated = rule(task), rule(task, direct=0)
    assert not np.array_equal(iterated, direct)
    np.testing.assert_allclose(iterated, direct, atol=1e-8 * np.abs(direct).max())


def test_an_iteration_that_does_not_converge_says_what_helps():
    b, x = points.fibonacci(300).points, points.fibonacci(1200).points
    problem = {"concentration": 5.0, "f": smooth(x), "ridge": 0.0, "start": None}
    with pytest.raises(ValueError, match=r"'concentration' is too small for 300 .*got 5: after 5 iterations LSMR"):
        iteration.least_squares(x, np.full(1200, 1200**-0.5), b, **problem, iterations=5)


@pytest.mark.filterwarnings("ignore:.concentration. is too large for these samples:RuntimeWarning")
@pytest.mark.parametrize("dim", [2, 9])
def test_samples_are_chosen_or_given(dim):
    b = points.uniform(dim, 10, 0)
    quasi = EqualMeasurePartition(dim, 40) if dim <= 8 else points.sobol(dim, 40, 0)
    values = core_values(smooth, b, 5.0, "least_squares")
    for samples in (40, 40.0, quasi):
        np.testing.assert_array_equal(core_values(smooth, b, 5.0, "least_squares", samples=samples), values)
    assert len(core_values(smooth, b, 5.0, "least_squares", samples=9, regularization=0.1)) == 10  # fewer than points


def test_on_the_control_points_it_is_interpolation():
    b = points.fibonacci(100)
    values = core_values(smooth, b, 30.0, "least_squares", samples=b)
    np.testing.assert_allclose(values, core_values(smooth, b, 30.0, "interpolation"), rtol=1e-8)


def test_repeated_points_and_concentration_0_have_solutions_of_least_norm():
    b = np.vstack([np.eye(3), np.eye(3)])
    values = core_values(smooth, b, 3.0, "least_squares", samples=40)
    np.testing.assert_allclose(values[:3], values[3:], rtol=1e-10)
    mean = core_values(lambda x: x[:, 0] + 1.0, np.eye(3), 0.0, "least_squares", samples=200)
    np.testing.assert_allclose(mean, 1.0 / 3.0, rtol=1e-3)


def test_softmax_does_not_underflow():
    b = points.fibonacci(20)
    values = split_values(smooth, b, 1e8, "least_squares", samples=400)
    assert np.isfinite(values).all()
    assert np.abs(values - smooth(b.points)).max() < 0.5  # the means over Voronoi cells


@pytest.mark.parametrize("head", [CoreHead, SplitHead])
def test_values_that_cancel_are_warned_of_at_the_callers_line(head):
    with pytest.warns(RuntimeWarning, match="'concentration' is too small .* cancel") as caught:
        head.from_target(smooth, points.fibonacci(100), 1e-3, "least_squares")
    assert caught[0].filename == __file__


def test_a_core_head_that_no_sample_holds_is_warned_of():
    b = points.fibonacci(100)
    for concentration in (1e3, 1e6, 1e300):  # at last, kernels do not reach the samples, and all values are 0
        with pytest.warns(RuntimeWarning, match="'concentration' is too large for these samples"):
            core_values(smooth, b, concentration, "least_squares")
    core_values(smooth, b, 1e3, "least_squares", regularization=1e-3)  # no warning, as below
    core_values(lambda x: 0.0 * x[:, 0], b, 1e300, "least_squares")
    split_values(smooth, b, 1e300, "least_squares")


@pytest.mark.parametrize("size", [1e250, 1e-250])
@pytest.mark.parametrize("limit", [1e9, 0.0])
def test_squares_of_values_do_not_leave_the_floats(size, limit):
    tasks = (Task(function, points.fibonacci(100), 30.0) for function in (pair, lambda x: size * pair(x)))
    plain, scaled = ((least_squares.core(t, direct=limit), least_squares.split(t, direct=limit)) for t in tasks)
    np.testing.assert_allclose(np.array(scaled) / size, plain, atol=1e-8)


def test_a_target_that_is_zero_at_the_samples_is_no_reason_to_warn():
    north = np.array([[0.0, 0.0, 1.0]])
    options = {"regularization": 1e-8, "samples": north}
    head = SplitHead.from_target(targets.distance(2), points.fibonacci(30), 10.0, "least_squares", **options)
    assert abs(head(north)[0]) < 1e-6
