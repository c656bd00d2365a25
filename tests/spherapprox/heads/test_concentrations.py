"""Heads whose control points have concentrations of their own: keys of any length."""

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest
import truth
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import ClassicalHead, CoreHead, SplitHead, Target, evaluate, sphere, sup_error

HEADS = (CoreHead, SplitHead, ClassicalHead)
each = pytest.mark.parametrize("kind", HEADS)
both = pytest.mark.parametrize("kind", [CoreHead, SplitHead])


def made(kind, n=30, p=None, low=2.0, high=9.3, dim=2, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(n if p is None else (n, p))
    return kind(sphere.uniform(dim, n, rng=rng), values, np.geomspace(low, high, n))


@each
def test_a_head_is_evaluate_on_its_recipe(kind):
    head, x = made(kind, p=2), sphere.uniform(2, 40, rng=1)
    wanted = evaluate(x, head.control_points, head.values, head.concentration, normalize=kind is not CoreHead)
    np.testing.assert_array_equal(head(x), wanted)
    keys = head.concentration[:, None] * head.control_points
    weights = np.exp(x @ keys.T - (np.linalg.norm(keys, axis=1) if kind is CoreHead else 0.0))
    if kind is not CoreHead:
        weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(head(x), weights @ head.values, rtol=1e-12, atol=1e-13)


@each
def test_concentrations_are_kept_as_read_only_copies(kind):
    given = np.array([1.0, 2.0, 3.0], np.float32)
    head = kind(np.eye(3), np.ones(3), given)
    given[0] = 9.0
    assert head.concentration.dtype == np.float64
    np.testing.assert_array_equal(head.concentration, [1.0, 2.0, 3.0])
    for one in (head, pickle.loads(pickle.dumps(head)), copy.deepcopy(head)):
        assert one == head
        assert hash(one) == hash(head)
        with pytest.raises(ValueError, match="read-only"):
            one.concentration[0] = 2.0
    assert repr(head).startswith(f"{kind.__name__}(n=3, dim=2, concentration=1 to 3")
    equal = kind(np.eye(3), np.ones(3), [2.0, 2.0, 2.0])
    assert equal.concentration.shape == (3,)
    assert equal != kind(np.eye(3), np.ones(3), 2.0)
    assert head != kind(np.eye(3), np.ones(3), [1.0, 2.0, 4.0])
    assert isinstance(kind(np.eye(3), np.ones(3), np.float64(2.0)).concentration, float)


@each
def test_parts_rotations_and_replacements_take_their_concentrations(kind):
    head, x = made(kind, p=3), sphere.uniform(2, 20, rng=2)
    part = head[[4, 2, 9]]
    np.testing.assert_array_equal(part.concentration, head.concentration[[4, 2, 9]])
    R = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    np.testing.assert_allclose(head.rotate(R)(x), head(x @ R), rtol=1e-12, atol=1e-13)
    other = dataclasses.replace(head, concentration=3.0)
    assert other.concentration == 3.0
    same = dataclasses.replace(other, concentration=np.full(30, 3.0))
    np.testing.assert_array_equal(same(x), other(x))
    np.testing.assert_array_equal(same.gradient(x, method="differences"), same.gradient(x, method="differences"))


def test_core_heads_of_other_concentrations_add():
    one, other, several = (
        dataclasses.replace(made(CoreHead, seed=s), concentration=c) for s, c in enumerate((2, 5, 5))
    )
    several = dataclasses.replace(several, concentration=np.linspace(0, 9, 30))
    x = sphere.uniform(2, 20, rng=4)
    for a, b in ((one, other), (one, several), (several, several), (several, one)):
        total = a + b
        np.testing.assert_allclose(total(x), a(x) + b(x), rtol=1e-12, atol=1e-13)
        assert total.concentration.shape == (60,)
        assert total[:30].concentration.tolist() == np.broadcast_to(a.concentration, 30).tolist()
    assert (one + one).concentration == 2.0
    assert several[:7] + several[7:] == several


@both
@pytest.mark.parametrize(("low", "high"), [(0.5, 9.0), (1.0, 1e3), (1.0, 1e8), (1e-3, 1e300)])
def test_gradients_are_right_at_every_size(kind, low, high):
    head = made(kind, n=12, low=low, high=high)
    x = np.concatenate([sphere.uniform(2, 5, rng=5), head.control_points[:3]])
    wanted = truth.gradient(head, x, digits=400)
    size = 1.0 + np.linalg.norm(wanted, axis=1).max()
    for method in ("auto", "differences", *(("dense",) if high < 1e4 else ())):
        found = head.gradient(x, method=method)
        assert np.isfinite(found).all()
        assert np.abs(found - wanted).max() <= 4e-15 * max(1.0, min(high, 1e3)) * size, method
        np.testing.assert_allclose((found * x).sum(axis=1), 0.0, atol=1e-15 * size)


@both
def test_gradients_of_equal_concentrations_are_those_of_one(kind):
    head = made(kind, p=2, low=1e6, high=1e6)
    rng = np.random.default_rng(6)
    x = head.control_points + 1e-3 * rng.standard_normal((30, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    one = dataclasses.replace(head, concentration=1e6).gradient(x, rtol=None)
    np.testing.assert_allclose(head.gradient(x), one, rtol=1e-11, atol=1e-12 * np.abs(one).max())


@settings(derandomize=True, deadline=None, max_examples=30)
@given(seed=st.integers(0, 999), top=st.floats(-3, 5), interaction=st.sampled_from(["flag", "none", "printed"]))
def test_attention_is_the_head_up_to_its_bound(seed, top, interaction):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    split = SplitHead(sphere.uniform(2, n, rng), rng.standard_normal((n, 2)), 10.0 ** (top * rng.random(n)))
    head, x = ClassicalHead.from_head(split, interaction=interaction), sphere.uniform(2, 6, rng)
    np.testing.assert_array_equal(head.prefix[:, 3:6], head.concentration[:, None] * head.control_points)
    bound = head.interaction_bound(6) + np.abs(head.values).max() * max(1e-12, 1e-15 * head.concentration.max())
    assert np.linalg.norm(head.attend(x) - head(x), axis=1).max() <= bound
    assert head.mask == (0.0 if interaction == "none" else -(2.0 * head.concentration.max() + 1000.0))


def test_the_interaction_is_bounded_by_the_mean_key():
    rng = np.random.default_rng(7)
    b, concentrations = sphere.uniform(2, 40, rng), rng.uniform(1, 6, 40)
    head = ClassicalHead(b, np.ones(40), concentrations, interaction="none")
    mean = np.linalg.norm((concentrations[:, None] * b).mean(axis=0))
    assert head.interaction_bound(3, log=True) == pytest.approx(-math.log1p(40 * math.exp(-mean) / 3), rel=1e-12)
    huge = ClassicalHead(b, np.ones(40), 1e299 * concentrations, interaction="none")
    assert huge.interaction_bound() <= 1.0


@both
def test_residual_steps_and_errors_of_equal_concentrations(kind):
    head, height = made(kind), Target(lambda x: x[:, 2], 2, lipschitz=1.0, sup_norm=1.0)
    equal = dataclasses.replace(head, concentration=np.full(30, 4.0))
    one = dataclasses.replace(head, concentration=4.0)
    np.testing.assert_array_equal(equal.refine(height).values, one.refine(height).values)
    assert sup_error(head, height, n=500).lower > 0.1
