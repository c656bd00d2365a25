import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, VonMisesFisher, attention, evaluate, points, sphere

HEADS = (CoreHead, SplitHead)
both = pytest.mark.parametrize("kind", HEADS)


def field(x):
    return np.stack([x[:, 0], x[:, 1] * x[:, -1]], axis=1)


@both
@pytest.mark.parametrize("dim", [1, 2, 8])
@pytest.mark.parametrize("function", [lambda x: x[:, 0], field])
def test_a_head_is_evaluate_on_its_recipe(kind, dim, function):
    x = sphere.uniform(dim, 50, rng=0)
    head = kind.from_target(function, EqualMeasurePartition(dim, 60), 4.0)
    normalize = kind is SplitHead
    wanted = evaluate(x, head.control_points, head.values, head.concentration, normalize=normalize)
    np.testing.assert_array_equal(head(x), wanted)
    np.testing.assert_array_equal(head(x, workers=2, method="dense", rtol=None), wanted)


@both
def test_a_head_states_its_shape_and_what_it_was_made_of(kind):
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
def test_heads_are_equal_by_value(kind):
    partition = EqualMeasurePartition(2, 30)
    head, again = (kind.from_target(field, partition, 12.0) for _ in range(2))
    bare = kind(head.control_points, head.values, 12.0)
    assert head == again == bare
    assert len({head, again, bare}) == 1
    others = [
        head.refine(field),
        head[1:],
        kind(-head.control_points, head.values, 12.0),
        kind(head.control_points, head.values, 13.0),
        kind(head.control_points, head.values.astype(np.float32), 12.0),
        kind(head.control_points, head.values[:, 0], 12.0),
        (CoreHead if kind is SplitHead else SplitHead)(head.control_points, head.values, 12.0),
    ]
    assert all(head != other for other in others)
    assert len({head, *others}) == 8
    zero = [kind(np.eye(2), [sign * 0.0, 1.0], 2.0) for sign in (1, -1)]
    assert zero[0] == zero[1]
    assert hash(zero[0]) == hash(zero[1])


@both
def test_some_control_points_make_a_head(kind):
    head = kind.from_target(field, EqualMeasurePartition(2, 30), 12.0)
    mask = head.values[:, 0] > 0.0
    for index in (slice(3, 20), slice(None, None, -7), mask, mask.tolist(), [4, 2, -1], np.array([4])):
        part = head[index]
        assert type(part) is kind
        assert part == kind(head.control_points[index], head.values[index], 12.0)
        assert part.points is part.control_points


def test_core_heads_add():
    x = sphere.uniform(2, 40, rng=0)
    one = CoreHead.from_target(field, EqualMeasurePartition(2, 30), 12.0)
    other = CoreHead(sphere.uniform(2, 10, rng=1), np.ones((10, 2)), 12.0)
    both = one + other
    np.testing.assert_allclose(both(x), one(x) + other(x), rtol=1e-13)
    assert both[:30] == one
    assert both[30:] == other
    assert both.points is both.control_points
    assert one[:11] + one[11:] == one


@both
def test_float32_stays(kind):
    rows = np.eye(3, dtype=np.float32)
    head = kind.from_target(lambda x: x[:, 0], rows, 1.0)
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
    x, cells = sphere.uniform(2, 200, rng=2), [EqualMeasurePartition(2, n) for n in (100, 1000, 10_000)]
    heads = [CoreHead.from_target(lambda x: x[:, 2], partition, 20.0) for partition in cells]
    errors = [np.abs(head(x) - (1 / np.tanh(20.0) - 1 / 20.0) * x[:, 2]).max() for head in heads]
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


def test_keys_of_attention_become_a_head_as_the_complaint_says():
    rng = np.random.default_rng(0)
    keys, values, x = 4.0 * rng.standard_normal((20, 3)), rng.standard_normal(20), sphere.uniform(2, 50, 0)
    with pytest.raises(ValueError, match=r"divide by .*; of keys of attention, these lengths times its scale are the"):
        SplitHead(keys, values, 1.0)
    lengths = np.linalg.norm(keys, axis=1, keepdims=True)
    head = SplitHead(keys / lengths, values, 0.5 * lengths[:, 0])
    np.testing.assert_allclose(head(x), attention(x, keys, values[:, None], scale=0.5)[:, 0], rtol=0, atol=1e-13)


def test_point_sets_are_kept_and_weights_must_suit_the_head():
    equal = points.fibonacci(50)
    assert SplitHead.from_target(lambda x: x[:, 0], equal, 3.0).points is equal
    rule = points.gauss_product(2, 5)
    assert CoreHead.from_target(lambda x: x[:, 0], rule, 3.0).points is rule
