"""Heads of sequences against their definition, a split head on the larger sphere, and the two layers."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import EqualMeasurePartition, PointSet, SplitHead, load
from spherapprox.prompts.sequences import SequenceHead, SequenceLayers, controls


def unit(rng, *shape):
    rows = rng.normal(size=shape)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def product(seed, length=3, dim=2, sizes=(6, 6, 6), outputs=2, concentration=2.0, **options):
    rng = np.random.default_rng(seed)
    points = [unit(rng, n, dim + 1) for n in sizes[:length]]
    return SequenceHead(points, rng.normal(size=(*sizes[:length], length, outputs)), concentration, **options)


def definition(head, x):
    """Return the head's value at one sequence (T, m+1), in long double, by all control sequences one after another."""
    lams = np.broadcast_to(head.concentration, (head.length,)).astype(np.longdouble)
    indices = np.ndindex(*map(len, head.control_points))
    logits, values = [], []
    for index in indices:
        rows = [points[i] for points, i in zip(head.control_points, index, strict=True)]
        squares = ((x.astype(np.longdouble) - np.array(rows, np.longdouble)) ** 2).sum(axis=1)
        logits.append(-(lams * squares).sum() / 2)
        values.append(head.values[index])
    logits = np.array(logits)
    weights = np.exp(logits - logits.max())
    return np.tensordot(weights / weights.sum(), np.array(values, np.longdouble), 1)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6), length=st.integers(1, 4), dim=st.sampled_from([1, 2, 7]), outputs=st.integers(1, 3),
    log=st.floats(-3.0, 6.0), size=st.sampled_from([1e-300, 1e-5, 1.0, 1e250]),
)  # fmt: skip
def test_a_product_is_its_definition(seed, length, dim, outputs, log, size):
    rng = np.random.default_rng(seed)
    points = [unit(rng, n, dim + 1) for n in rng.integers(1, 6, length)]
    lams = 10.0**log * (1.0 if length == 1 else rng.random(length))
    head = SequenceHead(points, size * rng.normal(size=(*map(len, points), length, outputs)), lams)
    x = unit(rng, 3, length, dim + 1)
    x[0] = [rows[0] for rows in points]
    reach = 4.0 * head.total_concentration  # r_i^2 <= 4
    limit = (1e-14 + 1e-15 * reach) * np.abs(head.values).max()
    for sequence, value in zip(x, head(x), strict=True):
        assert np.abs(value - definition(head, sequence)).max() <= limit


def test_no_digit_is_lost_at_control_sequences():
    head = product(0, concentration=1e8)
    x = np.stack([rows[:3] for rows in head.control_points], axis=1)
    expected = np.stack([head.values[(k,) * 3] for k in range(3)])
    assert np.abs(head(x) - expected).max() <= 1e-14


def test_the_same_on_the_larger_sphere():
    # T = 3, m = 2, N = 216: the reference case, also with a concentration for each token, one of them 0
    for lams in (2.0, [7.0, 3.0, 0.0], 0.0):
        head, x = product(1, concentration=lams), unit(np.random.default_rng(2), 5, 3, 3)
        split = head.as_split_head()
        assert isinstance(split, SplitHead)
        assert split.control_points.shape == (216, 9)
        shares = np.broadcast_to(lams, 3) / np.sum(np.broadcast_to(lams, 3)) if np.any(lams) else np.full(3, 1 / 3)
        there = split((x * np.sqrt(shares)[:, None]).reshape(5, 9))
        assert np.abs(there.reshape(5, 3, 2) - head(x)).max() <= 2e-15


def test_control_sequences_need_not_be_a_product():
    head = product(3)
    rows = np.array([[p[i] for p, i in zip(head.control_points, k, strict=True)] for k in np.ndindex(6, 6, 6)])
    same = SequenceHead(rows, head.values.reshape(216, 3, 2), 2.0)
    x = unit(np.random.default_rng(4), 7, 3, 3)
    assert len(same) == len(head) == 216
    assert np.abs(same(x) - head(x)).max() <= 2e-15
    assert np.array_equal(same.prefix, head.prefix)
    examples = SequenceHead(rows[:5], same.values[:5], 400.0)
    assert np.abs(examples(rows[:5]) - same.values[:5]).max() < 1e-9


@pytest.mark.parametrize("concentration", [1e2, 1e6, 1e10, 1e14])
def test_sequences_close_together(concentration):
    rng = np.random.default_rng(3)
    x = unit(rng, 2, 4)
    near = unit(rng, 8, 2, 4)
    rows = x + near / np.sqrt(concentration)
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    head = SequenceHead(rows, rng.normal(size=(8, 2, 1)), concentration)
    squares = ((x.astype(np.longdouble) - rows) ** 2).sum(axis=2)  # (8, 2)
    weights = np.exp(-concentration / 2 * (squares.sum(axis=1) - squares.sum(axis=1).min()))
    exact = np.tensordot(weights / weights.sum(), head.values, 1)
    r = concentration * float(squares.sum(axis=1).max())
    limit = 1e-14 + 1e-15 * r + 1e-15 * math.sqrt(2.0 * concentration * r)
    assert np.abs(head(x) - exact).max() <= limit * np.abs(head.values).max()


@pytest.mark.parametrize(("mask", "about"), [(8.0, 6e-4), (12.0, 1e-5), (18.0, 3e-8)])
def test_the_layers_within_the_bound_of_the_mask(mask, about):
    worst = 0.0
    for seed in range(5):
        head, x = product(seed, mask=mask), unit(np.random.default_rng(seed + 9), 8, 3, 3)
        error = np.linalg.norm(head.attend(x) - head(x), axis=-1).max()
        worst = max(worst, error)
        largest = np.linalg.norm(head.values, axis=-1).max()
        a = 2.0 * math.exp(-mask) + 3.0 * math.exp(6.0 - mask) / 216.0
        assert head.mask_bound() == pytest.approx(2.0 * largest * a / (1.0 + a), rel=1e-13)
        assert error <= head.mask_bound()
    assert about / 3.0 <= worst <= 5.0 * about  # and the bound is of the right size


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.integers(1, 4), log=st.floats(-2.0, 4.0), mask=st.floats(0.0, 60.0))
def test_the_bound_of_the_mask_holds(seed, length, log, mask):
    head = product(seed, length, sizes=(3, 2, 4, 2), concentration=10.0**log / length, mask=mask)
    x = unit(np.random.default_rng(seed), 4, length, 3)
    largest = np.linalg.norm(head.values, axis=-1).max()
    rounding = 1e-15 * (1.0 + mask + head.total_concentration) * largest
    assert np.linalg.norm(head.attend(x) - head(x), axis=-1).max() <= head.mask_bound() + rounding


@pytest.mark.parametrize("concentration", [0.0, 2.0, 300.0, 1e5])
def test_the_usual_mask_leaves_nothing_of_other_positions(concentration):
    head, x = product(5, concentration=concentration), unit(np.random.default_rng(6), 4, 3, 3)
    assert head.mask == 3.0 * concentration + 50.0
    assert head.mask_bound() < 3e-21 * np.linalg.norm(head.values, axis=-1).max()
    limit = 1e-15 * (head.mask + head.total_concentration) * np.abs(head.values).max()
    assert np.abs(head.attend(x) - head(x)).max() <= limit
    assert np.abs(head.attend(x[0]) - head.attend(x)[0]).max() <= limit


def test_the_mask_bound_of_zeros_and_of_one_token():
    zeros = SequenceHead([np.eye(2)] * 2, np.zeros((2, 2, 2, 1)), 1.0, mask=1.0)
    assert zeros.mask_bound() == 0.0
    one = SequenceHead([np.eye(2)], np.ones((2, 1, 1)), 1.0, mask=0.0)
    a = math.e / 2.0
    assert one.mask_bound() == pytest.approx(2.0 * a / (1.0 + a), rel=1e-14)


def test_matrices_know_no_function():
    heads = [product(seed, concentration=lam, sizes=(n, 6, 6)) for seed, lam, n in ((0, 2.0, 6), (1, 170.0, 5))]
    assert heads[0].layers == heads[1].layers == SequenceLayers(3, 2, 2)
    layers = heads[0].layers
    d = 3 * 9 + 2 * 3 + 2
    assert layers.embedding_dim == d
    assert layers.up.shape == (21, 6)
    assert layers.down.shape == (d, 21)
    assert {matrix.shape for matrix in (*layers.first, *layers.second)} == {(d, d)}
    assert layers.readout.shape == (2, d)
    assert layers(np.eye(3)[None].tolist(), [[0.0] * d]).shape == (1, 3, 2)
    assert heads[0].prefix.shape == (3 * 216, d)
    assert heads[1].prefix.shape == (3 * 180, d)


def test_from_target_takes_all_sequences_of_the_product():
    def sums(x):
        return x[..., :1] + 2.0 * x[:, ::-1, 1:2]

    sets = [EqualMeasurePartition(2, 7), PointSet(unit(np.random.default_rng(0), 5, 3))]
    head = SequenceHead.from_target(sums, sets, [3.0, 4.0])
    assert np.array_equal(controls.sample(sums, head.control_points, entries=8 * 2 * 3 * 4), head.values)  # four a part
    a, b = (p.points if isinstance(p, PointSet) else p.centers() for p in sets)
    assert head.values.shape == (7, 5, 2, 1)
    for j, k in np.ndindex(7, 5):
        assert np.array_equal(head.values[j, k], sums(np.array([[a[j], b[k]]]))[0])
    x = unit(np.random.default_rng(1), 9, 2, 3)
    parts = controls.contract(x, head.control_points, head.concentration, head.values, numbers=8 * 2 * 3 * 4)
    assert np.abs(head(x) - parts).max() <= 1e-15
    assert head.n_tokens == 70
    same = SequenceHead.from_target(sums, sets[1].points, 3.0, length=2)
    assert same.values.shape == (5, 5, 2, 1)


def test_a_head_is_saved_copied_and_compared(tmp_path):
    for head in (product(0, concentration=[1.0, 2.0, 3.0]), product(1, 1, sizes=(4,), mask=7.0)):
        head.save(tmp_path / "head.npz")
        for again in (load(tmp_path / "head.npz"), copy.deepcopy(head), pickle.loads(pickle.dumps(head))):
            assert again == head
            assert hash(again) == hash(head)
            assert repr(again) == repr(head)
            assert again.mask == head.mask
            assert not again.values.flags.writeable
        assert head != SequenceHead(head.control_points, 2.0 * head.values, head.concentration)
        assert head != SequenceHead(head.control_points, head.values, head.concentration, mask=6.0)
    rows = SequenceHead(unit(np.random.default_rng(0), 4, 2, 3), np.ones((4, 2, 1)), 1.0)
    rows.save(tmp_path / "rows.npz")
    assert load(tmp_path / "rows.npz") == rows != product(0)


def test_the_largest_concentrations():
    values = np.arange(9.0).reshape(3, 3, 1, 1) * np.ones((1, 1, 2, 1))
    head = SequenceHead([np.eye(3)] * 2, values, 5e299)
    assert np.array_equal(head(np.eye(3)[:2]), values[0, 1])
    for lams in (6e299, [6e299, 0.0]):
        with pytest.raises(ValueError, match="'concentration'"):
            SequenceHead([np.eye(3)] * 2, values, lams)


def test_what_takes_too_much_memory(monkeypatch):
    head = product(0)
    monkeypatch.setattr("spherapprox._checks.limits.MEMORY_LIMIT", 10_000)
    with pytest.raises(ValueError, match="the prefix would take"):
        head.attend(np.eye(3))
    with pytest.raises(ValueError, match="the control points of all sequences would take"):
        head.as_split_head()
