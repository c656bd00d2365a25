"""The classical head against its definition in 40 digits, against the split head, and against its proven costs."""

import pickle

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import ClassicalHead, EqualMeasurePartition, PointSet, SplitHead, _checks, points, sphere
from spherapprox.heads.attention import attention
from spherapprox.heads.interaction import log_prefix_mass
from spherapprox.summation import evaluate_log

KINDS = ("flag", "none", "printed")
every = pytest.mark.parametrize("interaction", KINDS)


def allowed(concentration):
    return max(1e-12, 1e-15 * concentration)


def split_head(dim, n, concentration, p=None, seed=0):
    rng = np.random.default_rng(seed)
    return SplitHead(sphere.uniform(dim, n, rng=rng), rng.normal(size=(n,) if p is None else (n, p)), concentration)


def spread(dim, length, seed):
    """Return inputs of which two are opposite and more are at obtuse angles."""
    x = sphere.uniform(dim, length, rng=seed)
    x[-1] = -x[0]
    return x


def largest(head):
    return np.abs(head.values).max()


def exact(head, x):
    """Return attention over prefix and inputs ((4.1) of the thesis) in 40 digits, for one sequence."""
    with mp.workdps(40):
        rows, values = ([[mp.mpf(float(t)) for t in row] for row in a] for a in (head.control_points, head.values))
        inputs = [[mp.mpf(float(t)) for t in row] for row in x]
        result = []
        for row in inputs:
            inner = [mp.fdot(row, other) for other in inputs]
            own = {"flag": [mp.mpf(head.mask)] * len(x), "none": [mp.mpf(0)] * len(x)}.get(
                head.interaction, [mp.mpf(head.mask) * t for t in inner]
            )
            e = [mp.exp(mp.mpf(head.concentration) * mp.fdot(row, b)) for b in rows]
            total = mp.fsum(e) + mp.fsum(map(mp.exp, own))
            result.append([float(mp.fdot(e, column) / total) for column in zip(*values, strict=True)])
    return np.array(result)


@every
@pytest.mark.parametrize("mask", [None, -3.0])
def test_attention_is_its_definition(interaction, mask):
    head = split_head(2, 12, 4.0, p=2)
    mask = None if interaction == "none" else mask
    head = ClassicalHead.from_head(head, interaction=interaction, mask=mask)
    x = np.stack([spread(2, 4, 1), sphere.uniform(2, 4, rng=2)])
    wanted = np.array([exact(head, sequence) for sequence in x])
    np.testing.assert_allclose(head.attend(x), wanted, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(head.attend(x[1]), wanted[1], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("dim", [1, 2, 8, 63])
@pytest.mark.parametrize("p", [None, 1, 3, "dim+1"])
@pytest.mark.parametrize("concentration", [0.0, 30.0, 1e3, 1e6])
def test_attention_is_the_split_head(dim, p, concentration):
    split = split_head(dim, 60, concentration, p=dim + 1 if p == "dim+1" else p)
    limit = allowed(concentration) * largest(split)
    x = spread(dim, 7, 1)
    wanted = split(x)
    for interaction in ("flag", "printed"):
        head = ClassicalHead.from_head(split, interaction=interaction)
        assert np.abs(head.attend(x[:, None])[:, 0] - wanted).max() <= limit
        np.testing.assert_array_equal(head(x), wanted)
    head = ClassicalHead.from_head(split)
    assert head.attend(x).shape == wanted.shape
    assert np.abs(head.attend(x) - wanted).max() <= limit


@pytest.mark.parametrize(("dim", "p", "d"), [(1, None, 5), (2, 3, 9), (2, 5, 11), (8, 9, 27), (63, 1, 129)])
def test_the_dimension_is_that_of_the_lemma(dim, p, d):
    split = split_head(dim, 5, 2.0, p)
    for interaction in KINDS:
        head = ClassicalHead.from_head(split, interaction=interaction)
        size = d + (interaction == "flag")
        assert head.embedding_dim == size
        assert head.query.shape == head.key.shape == head.value.shape == (size, size)
        assert head.prefix.shape == (5, size)
        assert head.embed(sphere.uniform(dim, 3, rng=0)).shape == (3, size)


def test_the_matrices_give_the_blocks_of_the_lemma():
    head = ClassicalHead.from_head(split_head(2, 5, 2.0, 3), interaction="printed", mask=-7.0)
    blocks = np.zeros((9, 9))
    blocks[:3, :3], blocks[:3, 3:6] = -7.0 * np.eye(3), np.eye(3)
    np.testing.assert_allclose(head.query @ head.key.T / 3.0, blocks, rtol=1e-15)
    reads = np.zeros((9, 9))
    reads[:3, 6:] = np.eye(3)
    np.testing.assert_array_equal(head.value.T, reads)
    np.testing.assert_array_equal(head.prefix, np.hstack([np.zeros((5, 3)), 2.0 * head.control_points, head.values]))


def test_the_function_is_in_the_prefix_alone():
    one, other = (ClassicalHead.from_head(split_head(2, 5 + s, 10.0**s, 3, seed=s), mask=-1e4) for s in (1, 2))
    for name in ("query", "key", "value"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    dim=st.integers(1, 4),
    n=st.integers(1, 30),
    length=st.integers(1, 5),
    concentration=st.floats(0.0, 40.0),
    interaction=st.sampled_from(KINDS),
    mask=st.floats(-30.0, 0.0),
)
def test_the_cost_is_bounded(seed, dim, n, length, concentration, interaction, mask):
    split = split_head(dim, n, concentration, 2, seed)
    head = ClassicalHead.from_head(split, interaction=interaction, mask=None if interaction == "none" else mask)
    x = spread(dim, length, seed + 1) if length > 1 else sphere.uniform(dim, 1, rng=seed)
    off = np.linalg.norm(head.attend(x) - head(x), axis=1).max()
    bound = head.interaction_bound(length)
    assert off <= bound * (1 + 1e-12) + 1e-13
    assert bound <= np.linalg.norm(head.values, axis=1).max()
    np.testing.assert_allclose(head.interaction_bound(length, log=True), np.log(bound), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("concentration", [0.5, 10.0, 300.0])
def test_the_cost_of_no_mask_is_near_its_bound(concentration):
    partition = EqualMeasurePartition(2, 500)
    ones = SplitHead.from_target(lambda x: np.ones(len(x)), partition, concentration)
    head = ClassicalHead.from_head(ones, interaction="none")
    x = sphere.uniform(2, 300, rng=0)
    worst = max(np.abs(head.attend(x[i : i + 3]) - 1.0).max() for i in range(0, 300, 3))
    bound = head.interaction_bound(3)
    assert worst <= bound + 1e-15
    if worst > 1e-13:
        assert bound < 8.0 * worst  # the whole mass is far more than that of the nearest control point
    bare, covered = (
        ClassicalHead(head.control_points, head.values, concentration, own, interaction="none").interaction_bound(3)
        for own in (None, PointSet(partition.centers()))
    )
    assert max(bound, covered) <= bare * (1.0 if concentration < 1.0 else 0.1)


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("n", [1, 2, 10, 150])
@pytest.mark.parametrize("concentration", [0.0, 1.0, 30.0, 1e3, 1e5])
def test_the_mass_of_a_prefix_is_bounded_below(dim, n, concentration):
    partition = EqualMeasurePartition(dim, n)
    rows = partition.centers()
    x = np.concatenate([sphere.uniform(dim, 2000, rng=0), rows, -rows])
    least = concentration + evaluate_log(x, rows, np.ones(n), concentration).min()
    for made_from in (partition, PointSet(rows), rows):
        head = ClassicalHead(rows, np.ones(n), concentration, made_from)
        bound = log_prefix_mass(head)
        assert bound <= least + 1e-13 * (1.0 + concentration)
        if made_from is partition and n == 150:
            assert bound >= least - 3.0 - 0.15 * concentration * partition.cell_radius()


def test_a_radius_of_other_points_is_not_believed():
    other = PointSet(points.fibonacci(3).points)
    bounds = [ClassicalHead(np.eye(3), np.ones(3), 9.0, own, interaction="none") for own in (other, None)]
    assert bounds[0].interaction_bound() == bounds[1].interaction_bound()


def test_a_flag_leaves_no_weight_to_inputs():
    # One control point, opposite to an input: the least mass that a prefix can have.
    for concentration in (0.0, 1.0, 1e3, 1e8, 1e300):
        head = ClassicalHead([[0.0, 1.0]], [3.0], concentration)
        x = np.array([[0.0, -1.0], [0.0, 1.0], [1.0, 0.0]])
        np.testing.assert_array_equal(head.attend(x), 3.0)
        assert head.interaction_bound(10**9) == 5e-324
        assert head.interaction_bound(3, log=True) <= -concentration - 990.0
    assert ClassicalHead([[0.0, 1.0]], [0.0], 1.0).interaction_bound() == 0.0
    assert ClassicalHead([[0.0, 1.0]], [0.0], 1.0).interaction_bound(log=True) == -np.inf


def test_blocks_of_sequences_change_nothing():
    head = ClassicalHead.from_head(split_head(2, 50, 5.0, 3), interaction="none")
    x = sphere.uniform(2, 60, rng=1).reshape(6, 10, 3)
    whole, matrices = head.attend(x), (head.prefix, head.query, head.key, head.value)
    for logits in (1, 130, 700, 2000):
        outputs = attention(head.embed(x), *matrices, logits=logits)
        np.testing.assert_allclose(head.project(outputs), whole, rtol=1e-13, atol=1e-15)
    assert np.abs(head.attend(x.reshape(1, 60, 3))[0, :10] - whole[0]).max() > 1e-3  # others are seen


def test_a_classical_head_states_its_shape_and_keeps_its_interaction():
    partition = EqualMeasurePartition(2, 60)
    split = SplitHead.from_target(lambda x: x, partition, 12)
    head = ClassicalHead.from_head(split, interaction="printed", mask=-9)
    assert (head.dim, head.n_outputs, len(head), head.concentration, head.mask) == (2, 3, 60, 12.0, -9.0)
    assert head.points is partition
    assert repr(head) == "ClassicalHead(n=60, dim=2, concentration=12, interaction='printed')"
    x = sphere.uniform(2, 5, rng=0)
    again = pickle.loads(pickle.dumps(head))
    np.testing.assert_array_equal(again.attend(x), head.attend(x))
    assert again == head
    assert ClassicalHead.from_head(head).mask == -1024.0
    np.testing.assert_array_equal(head.project(head.embed(x)), x)


def test_float32_stays():
    rows = sphere.uniform(2, 40, rng=0).astype(np.float32)
    head = ClassicalHead.from_target(lambda x: x[:, 0], rows, 50.0)
    assert head.attend(rows[:5]).dtype == np.float32
    assert head.attend(rows[:5].astype(np.float64)).dtype == np.float64
    np.testing.assert_allclose(head.attend(rows[:5]), head(rows[:5]), rtol=1e-4)


def test_what_is_too_large_is_refused(monkeypatch):
    head = ClassicalHead(np.eye(3), np.ones((3, 2)), 1.0)
    monkeypatch.setattr(_checks.limits, "MEMORY_LIMIT", 40 * 9 * 4 - 1)
    head.attend(np.eye(3))
    with pytest.raises(ValueError, match="attention would take"):
        head.attend(np.eye(3)[[0, 1, 2, 0]])
    monkeypatch.setattr(_checks.limits, "MEMORY_LIMIT", 8 * 9 * 3 - 1)
    with pytest.raises(ValueError, match="the prefix would take"):
        assert head.prefix is None
    with pytest.raises(ValueError, match="the tokens would take"):
        head.embed(np.eye(3))


def test_huge_and_tiny_values_have_a_cost():
    for size in (1e-320, 1e-200, 1e200, 1e307):
        head = ClassicalHead(np.eye(2), [[3.0 * size, 4.0 * size], [0.0, size]], 0.0, interaction="none")
        wanted = np.log(5.0) + np.log(size) - np.log(2.0)  # T / (T + S) with T = S = 2
        assert head.interaction_bound(2, log=True) == pytest.approx(wanted, rel=1e-12 if size > 1e-300 else 1e-3)
    assert head.interaction_bound(2) == pytest.approx(2.5e307)
    assert ClassicalHead(np.eye(2), [[1.7e308] * 9] * 2, 0.0, interaction="none").interaction_bound(9) == np.inf


@every
def test_heads_made_of_heads_have_their_parts_and_keep_their_interaction(interaction):
    split = SplitHead.from_target(lambda x: x, EqualMeasurePartition(2, 30), 12.0)
    head = ClassicalHead.from_head(split, interaction=interaction)
    assert head.points is split.points
    assert ClassicalHead.from_head(head) == ClassicalHead(split.control_points, split.values, 12.0)
    assert head not in (split, ClassicalHead.from_head(split, mask=-1.0))
    assert (head == ClassicalHead.from_head(split)) is (interaction == "flag")
    for other in (head.rotate(np.eye(3)[::-1]), head.refine(lambda x: x, 2), head[:7]):
        assert type(other) is ClassicalHead
        assert (other.interaction, other.mask) == (head.interaction, head.mask)
