import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import (
    CoreHead,
    EqualMeasurePartition,
    PointSet,
    SplitHead,
    Target,
    VonMisesFisher,
    evaluate,
    points,
    sphere,
)

HEADS = (CoreHead, SplitHead)
both = pytest.mark.parametrize("kind", HEADS)


def field(x):
    return np.stack([x[:, 0], x[:, 1] * x[:, -1]], axis=1)


@both
@pytest.mark.parametrize("dim", [1, 2, 8])
@pytest.mark.parametrize("function", [lambda x: x[:, 0], field])
def test_a_head_is_evaluate_on_its_recipe(kind, dim, function):
    x = sphere.uniform(dim, 50, rng=0)
    head = kind.from_target(function, EqualMeasurePartition(dim, 60), 12.0)
    normalize = kind is SplitHead
    wanted = evaluate(x, head.control_points, head.values, head.concentration, normalize=normalize)
    np.testing.assert_array_equal(head(x), wanted)
    np.testing.assert_array_equal(head(x, workers=2, method="dense", rtol=None), wanted)
    out = np.empty_like(wanted)
    assert head(x, out=out) is out
    np.testing.assert_array_equal(out, wanted)


@both
def test_what_a_head_says_of_itself(kind):
    partition = EqualMeasurePartition(2, 60)
    head = kind.from_target(field, partition, 12)
    assert (head.dim, head.n_outputs, len(head), head.concentration) == (2, 2, 60, 12.0)
    assert head.points is partition
    assert repr(head) == f"{kind.__name__}(n=60, dim=2, concentration=12)"
    np.testing.assert_array_equal(head.control_points, partition.centers())
    assert kind.from_target(lambda x: x[:, 0], partition, 12).n_outputs is None


@both
def test_a_head_is_frozen_and_keeps_its_own_copies(kind):
    rows, values = np.eye(3), np.ones(3)
    head = kind(rows, values, 2.0)
    rows[0], values[0] = [0.0, 1.0, 0.0], 7.0
    assert head.control_points[0, 0] == 1.0
    assert head.values[0] == 1.0
    assert head.points is head.control_points
    with pytest.raises(ValueError, match="read-only"):
        head.values[0] = 2.0
    with pytest.raises(FrozenInstanceError):
        head.concentration = 3.0
    again = pickle.loads(pickle.dumps(head))
    assert not again.values.flags.writeable
    assert not again.control_points.flags.writeable
    np.testing.assert_array_equal(again(np.eye(3)), head(np.eye(3)))


@both
def test_float32_stays(kind):
    rows = np.eye(3, dtype=np.float32)
    head = kind.from_target(lambda x: x[:, 0], rows, 2.0)
    assert head(rows).dtype == np.float32
    assert head(np.eye(3)).dtype == np.float64


@pytest.mark.parametrize("dim", [1, 2, 4])
def test_the_core_head_on_a_quadrature_is_funk_and_hecke(dim):
    # The kernel maps the harmonic x -> x_0 to a_1 times itself, and the rule integrates the product exactly enough.
    rule = points.gauss_product(dim, 40)
    head = CoreHead.from_target(lambda x: x[:, 0], rule, 5.0)
    x = sphere.uniform(dim, 30, rng=1)
    np.testing.assert_allclose(head(x), VonMisesFisher(dim, 5.0).eigenvalue(1) * x[:, 0], rtol=0, atol=1e-13)


def test_the_core_head_with_measures_of_cells_converges():
    x = sphere.uniform(2, 200, rng=2)
    wanted = (1 / np.tanh(20.0) - 1 / 20.0) * x[:, 2]
    errors = [
        np.abs(CoreHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, n), 20.0)(x) - wanted).max()
        for n in (100, 1000, 10_000)
    ]
    assert errors[0] > 4 * errors[1] > 16 * errors[2]
    assert errors[2] < 1e-3


@settings(derandomize=True, deadline=None, max_examples=30)
@given(seed=st.integers(0, 10**6), dim=st.integers(1, 5), log_concentration=st.floats(-2.0, 9.0))
def test_the_split_head_is_a_mean_of_its_values(seed, dim, log_concentration):
    x = sphere.uniform(dim, 20, rng=seed)
    rows = sphere.uniform(dim, 30, rng=seed + 1)
    head = SplitHead.from_target(lambda x: np.exp(x[:, 0]), rows, 10.0**log_concentration)
    h = head(x)
    assert (h >= head.values.min() * (1 - 1e-15)).all()
    assert (h <= head.values.max() * (1 + 1e-15)).all()
    constant = SplitHead.from_target(lambda x: np.full(len(x), 0.7), rows, 10.0**log_concentration)
    np.testing.assert_allclose(constant(x), 0.7, rtol=1e-15)


def test_the_split_head_becomes_the_nearest_point():
    rows = sphere.uniform(2, 40, rng=3)
    head = SplitHead.from_target(lambda x: x[:, 0], rows, 1e12)
    x = sphere.uniform(2, 100, rng=4)
    np.testing.assert_allclose(head(x), rows[np.argmax(x @ rows.T, axis=1), 0], rtol=1e-15)


def test_point_sets():
    equal = points.fibonacci(50)
    assert SplitHead.from_target(lambda x: x[:, 0], equal, 3.0).points is equal
    rule = points.gauss_product(2, 5)
    assert CoreHead.from_target(lambda x: x[:, 0], rule, 3.0).points is rule
    with pytest.raises(ValueError, match=r"'points' must have equal weights for a split head.*softmax cannot carry"):
        SplitHead.from_target(lambda x: x[:, 0], rule, 3.0)


@both
def test_bad_input(kind):
    rows, target = np.eye(3), Target(lambda x: x[:, 0], 2)
    head = kind(rows, np.ones(3), 2.0)
    with pytest.raises(ValueError, match=r"'x' must have shape \(n, 3\) for dim = 2, got \(4, 4\)"):
        head(np.eye(4))
    with pytest.raises(ValueError, match=r"'workers' must be at least 1, or -1"):
        head(rows, workers=0)
    with pytest.raises(ValueError, match=r"'values' must have shape \(3,\) or \(3, p\)"):
        kind(rows, np.ones(2), 2.0)
    with pytest.raises(ValueError, match=r"'control_points' must have rows of unit length"):
        kind(2.0 * rows, np.ones(3), 2.0)
    with pytest.raises(ValueError, match=r"'concentration' must be at least 0.0, got -2"):
        kind(rows, np.ones(3), -2.0)
    with pytest.raises(ValueError, match=r"'concentration' must be at least 0.0, got -2"):
        kind.from_target(target, rows, -2.0)
    with pytest.raises(ValueError, match=r"'coefficients' must be one of 'riemann'.*got 'magic'"):
        kind.from_target(target, rows, 2.0, "magic")
    with pytest.raises(ValueError, match=r"'points' must lie on the target's sphere S\^2, got points of S\^3"):
        kind.from_target(target, PointSet(np.eye(4)), 2.0)
    with pytest.raises(ValueError, match=r"'points' must have shape"):
        kind.from_target(target, rows[0], 2.0)
    with pytest.raises(TypeError, match=r"'target' must be callable"):
        kind.from_target(None, rows, 2.0)
    with pytest.raises(TypeError, match=r"'points' must hold real numbers"):
        kind(rows, np.ones(3), 2.0, "a")
    with pytest.raises(ValueError, match=r"'points' must be what .* got other rows: leave it out"):
        kind(rows, np.ones(3), 2.0, rows[::-1])
    for other in (EqualMeasurePartition(2, 4), EqualMeasurePartition(1, 3), PointSet(np.eye(4)[:3])):
        with pytest.raises(ValueError, match=r"'points' must be what .*3 points of S\^2, got"):
            kind(rows, np.ones(3), 2.0, other)
