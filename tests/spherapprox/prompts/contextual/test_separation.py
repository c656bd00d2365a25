"""Contextual mappings: directions, weights and separations against mpmath; sequences memorised by them."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from bounds import prompts
from spherapprox import SplitHead, Target
from spherapprox.prompts.contextual import boltzmann, context_separation, contextual_attention, separating_direction


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def exact(rows):
    """Return numbers as mpmath's, in lists."""
    return [[mp.mpf(float(x)) for x in row] for row in rows]


def separation_in_mpmath(sequences, query, key, value, output=None, scale=1.0, digits=60):
    """Return the log of the least distance of what a token is given in two sequences of different sets."""
    with mp.workdps(digits):
        q, k, v = map(exact, (query, key, value))
        result = []
        for sequence in sequences:
            tokens = exact(sequence)
            keys = [[mp.fdot(row, x) for row in k] for x in tokens]
            values = [[mp.fdot(row, x) for row in v] for x in tokens]
            if output is not None:
                values = [[mp.fdot(row, x) for row in exact(output)] for x in values]
            for x in tokens:
                powers = [mp.exp(scale * mp.fdot([mp.fdot(row, x) for row in q], y)) for y in keys]
                mean = [mp.fdot(powers, column) / mp.fsum(powers) for column in zip(*values, strict=True)]
                result.append((x, {*map(tuple, tokens)}, mean))
        apart = [
            mp.norm([a - b for a, b in zip(one, other, strict=True)])
            for (x, xs, one), (y, ys, other) in itertools.combinations(result, 2)
            if x == y and xs != ys
        ]
        return float(mp.log(min(apart))) if apart else math.inf


@pytest.mark.parametrize(("n", "dim"), [(2, 5), (3, 2), (7, 1), (12, 3), (40, 16)])
def test_directions_have_their_ratio_and_more_than_is_sure(n, dim):
    x = np.random.default_rng(n).standard_normal((n, dim))
    u, ratio = separating_direction(x, rng=0)
    chords = (x[:, None] - x)[~np.eye(n, dtype=bool)]
    assert np.linalg.norm(u) == pytest.approx(1.0, abs=1e-15)
    assert ratio == pytest.approx((np.abs(chords @ u) / np.linalg.norm(chords, axis=1)).min(), abs=1e-14)
    assert ratio >= prompts.separating_ratio(n, dim) * (1.0 - 1e-14)
    again, same = separating_direction(x, rng=0)
    assert np.array_equal(again, u)
    assert same == ratio
    assert separating_direction(x, rng=0, tries=3)[1] <= ratio


def test_directions_of_points_of_any_size():
    x = np.random.default_rng(0).standard_normal((6, 3))
    ratio = separating_direction(x, rng=0)[1]
    for factor in (1e-300, 1e300, 1.7e308 / np.abs(x).max()):
        assert separating_direction(factor * x, rng=0)[1] == pytest.approx(ratio, rel=1e-13)


@pytest.mark.parametrize(("rank", "dim", "length"), [(1, 1, 2), (1, 3, 4), (2, 2, 2), (3, 4, 3), (5, 5, 3)])
def test_contexts_are_as_far_apart_as_is_proved(rank, dim, length):
    rng = np.random.default_rng(dim)
    tokens = rng.standard_normal((7, dim))
    sequences = [tokens[rng.choice(7, length, replace=False)] for _ in range(8)]
    used = np.unique(np.concatenate(sequences), axis=0)
    attention = contextual_attention(sequences, rank=rank, rng=1)
    weights = attention.query, attention.key, attention.value, attention.output
    assert [np.linalg.matrix_rank(w, tol=1e-12 * np.abs(w).max()) for w in weights] == [rank] * 4
    scores = (used @ attention.query.T) @ (attention.key @ used.T)
    gap = 4.0 * math.log(length)
    # roundings are of the sums of sizes
    sizes = (np.abs(used) @ np.abs(attention.query.T)) @ (np.abs(attention.key) @ np.abs(used.T))
    assert np.diff(np.sort(scores, axis=1)).min() >= gap * (1.0 - 1e-12) - 1e-14 * sizes.max()
    # Step 1: what is added is short, so different tokens stay apart
    norms = np.linalg.norm(used, axis=1)
    apart = min(np.linalg.norm(x - y) for x, y in itertools.combinations(used, 2))
    outputs = []
    for sequence in sequences:
        shares = softmax((sequence @ attention.query.T) @ (attention.key @ sequence.T))
        outputs.append(shares @ sequence @ attention.value.T @ attention.output.T)
    assert max(np.linalg.norm(rows, axis=1).max() for rows in outputs) <= 0.25 * apart * (1.0 + 1e-12)
    # Step 2: the theorem, with the factor and the scores that these weights have
    result = context_separation(sequences, *weights[:3], output=attention.output)
    factor, largest = np.linalg.norm(attention.key, axis=1).max(), norms.max()
    score = factor * largest**2
    assert score * (1.0 + 1e-12) >= np.abs(scores).max()
    proved = math.log(apart / 4.0 / largest) + 2.0 * math.log(gap / 4.0) - 2.0 * score - math.log(factor * largest)
    assert proved <= result < math.inf
    known = {"separation": apart, "smallest_norm": norms.min(), "largest_norm": largest}
    assert prompts.context_separation(len(used), length, token_dim=dim, **known, theorem="sharp").log <= result


@pytest.mark.parametrize("seed", range(8))
def test_separations_are_those_of_mpmath(seed):
    rng = np.random.default_rng(seed)
    dim, rows = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    tokens = rng.standard_normal((6, dim))
    sequences = [tokens[rng.integers(0, 6, rng.integers(1, 5))] for _ in range(5)]  # repeated tokens, mixed lengths
    query, key, value = rng.standard_normal((3, rows, dim)) * rng.choice([1.0, 3.0, 10.0])
    output = rng.standard_normal((3, rows))
    assert context_separation(sequences, query, key, value) == pytest.approx(
        separation_in_mpmath(sequences, query, key, value, digits=2000), rel=1e-9, abs=1e-9
    )
    assert context_separation(sequences, query, key, value, output=output, scale=0.3) == pytest.approx(
        separation_in_mpmath(sequences, query, key, value, output, scale=0.3, digits=2000), rel=1e-9, abs=1e-9
    )


@pytest.mark.parametrize("size", [1e6, 1e8, 1e10])
def test_separations_whose_scores_are_rounded(size):
    # scores of about `size` whose differences, of about 1, have lost their last digits
    sequences = [[[1.0, 0.0], [1.0, 0.3]], [[1.0, 0.0], [1.0, 0.7]], [[1.0, 0.3], [1.0, 0.7], [1.0, 0.1]]]
    weights = [[1.0, 0.1]], [[size, 1.0]], [[0.0, 1.0]]
    expected = separation_in_mpmath(sequences, *weights)
    assert context_separation(sequences, *weights) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_separations_that_rounding_hides():
    one = [[1.0]]
    # even weights, and means 0 and 1e-17, and then 0 and 0: symmetric contexts
    for small, expected in ((2.0**-52, math.log(2.0**-52 / 3.0)), (0.0, -math.inf)):
        sequences = [[[0.0], [1.0], [-1.0]], [[0.0], [2.0], [-2.0 + 2.0 * small]]]
        result = context_separation(sequences, [[0.0]], one, one)
        assert result == (pytest.approx(expected + math.log(2.0), rel=1e-14) if small else expected)
    # the token 2 gives the token 3, that alone is not shared, the weight exp(-4000)
    sequences = [[[1.0], [2.0]], [[1.0], [2.0], [3.0]]]
    result = context_separation(sequences, [[1000.0]], [[-1.0]], one)
    assert result == pytest.approx(math.log(2.0) - 4000.0, rel=1e-13)
    # sums of numbers that are no binary fractions
    sequences = [[[0.0], [0.1], [0.2]], [[0.0], [0.3], [1e-17]]]
    expected = sum(map(Fraction, (0.1, 0.2, -0.3, -1e-17)), Fraction(0)) / 3
    assert context_separation(sequences, [[0.0]], one, one) == pytest.approx(math.log(expected), rel=1e-14)
    assert context_separation(sequences, [[0.0]], one, one, scale=0.5) == pytest.approx(math.log(expected), rel=1e-14)
    # all weight on a token of the same value, and on the other in exp(-901) alone
    first, second = np.eye(2)[:1], np.eye(2)[1:]
    for low in (-400.0, -900.0, -1800.0):
        sequences = [[[1.0, 0.0], [2.0, 0.0]], [[1.0, 0.0], [low, 1.0]]]
        assert context_separation(sequences, first, first, second) == pytest.approx(low - 1.0, rel=1e-14)
        assert context_separation(sequences, first, first, second, output=[[1e-200]], scale=0.5) == pytest.approx(
            0.5 * (low - 1.0) + math.log(1e-200), rel=1e-14
        )
    # tokens of one score and value, each seven times in the other context: rounding alone makes a difference
    repeated = [[[1.0, 0.5, 0.0], [1.0, 0.3, 1.0]], [[1.0, 0.5, 0.0]] * 7 + [[1.0, 0.3, 2.0]] * 7]
    seen = np.eye(3)[:2] + 0.1
    seen[:, 2] = 0.0
    assert context_separation(repeated, seen, seen, seen[:1]) == -math.inf
    # a token of another context whose weight there would overflow here
    sequences = [[[1.0], [2.0]], [[1.0], [3.0]]]
    result = context_separation(sequences, one, one, one)
    assert context_separation([*sequences, [[1.0], [1000.0]]], one, one, one) == pytest.approx(result, abs=1e-14)
    # values that the head does not see
    sequences = [[[1.0], [2.0]], [[1.0], [2.0], [3.0]]]
    assert context_separation(sequences, one, one, [[0.0]]) == -math.inf
    assert context_separation(sequences, one, one, [[0.0]], log=False) == 0.0


@pytest.mark.parametrize("size", [1e-30, 1e-100, 1e-250])
def test_separations_that_larger_entries_hide(size):
    z = np.zeros((1, 2))
    sequences = [[[5.0, 5.0], [0.0, 1.0], [2.0, 0.0]], [[5.0, 5.0], [1.0, 0.0], [1.0, 2.5]]]
    apart = pytest.approx(math.log(size / 2.0), rel=1e-9)  # of the second entry; the means of the first are equal
    assert context_separation(sequences, z, z, np.diag([1.0, size])) == apart
    smaller = [[[a, size * b] if (a, b) != (5.0, 5.0) else [a, b] for a, b in one] for one in sequences]
    assert context_separation(smaller, z, z, np.eye(2)) == apart


@pytest.mark.parametrize("near", [1e-3, 1e-9, 1e-14])
def test_scores_of_near_tokens_are_apart(near):
    tokens = [[0.3, 0.7, 0.2], [0.3 + near, 0.7, 0.2], [0.9, 0.1, 0.4]]
    sequences = [[tokens[0], tokens[2]], [tokens[1], tokens[2]], tokens]
    for rank in (1, 2):
        weights = contextual_attention(sequences, rank=rank, rng=0)
        query, key = (
            [[Fraction(w) for w in row] for row in matrix.tolist()] for matrix in (weights.query, weights.key)
        )
        rows = [[Fraction(t) for t in token] for token in tokens]
        dot = lambda a, b: sum(p * q for p, q in zip(a, b, strict=True))  # noqa: E731
        for x in rows:
            scores = [sum(dot(q, x) * dot(k, y) for q, k in zip(query, key, strict=True)) for y in rows]
            gaps = [abs(a - b) for a, b in itertools.combinations(scores, 2)]
            assert float(min(gaps)) >= 4.0 * math.log(3.0) * (1.0 - 1e-9)


def test_directions_of_the_smallest_points():
    tiny = 5e-324
    assert separating_direction([[tiny, 0.0], [0.0, 0.0], [0.0, tiny]], rng=0)[1] > 0.69


def test_what_contexts_are():
    tokens = np.random.default_rng(0).standard_normal((3, 4))
    weights = np.random.default_rng(1).standard_normal((3, 2, 4))
    permuted = [tokens, tokens[::-1], tokens[[0, 1, 2, 2]]]  # of one set
    assert context_separation(permuted, *weights) == math.inf
    assert context_separation([tokens[:1], tokens[1:]], *weights) == math.inf  # no token in common
    result = context_separation([*permuted, tokens[:2]], *weights, log=False)
    assert 0.0 < result < math.inf
    assert result == pytest.approx(math.exp(context_separation([*permuted, tokens[:2]], *weights)), rel=1e-14)
    zeros = [[[-0.0, 1.0], [1.0, 1.0]], [[0.0, 1.0], [2.0, 1.0]]]
    assert context_separation(zeros, np.eye(2), np.eye(2), np.eye(2)) < math.inf
    array = np.stack([tokens[:2], tokens[1:]])
    assert context_separation(array, *weights) == context_separation([*array], *weights)


@pytest.mark.parametrize("cells", [2, 3, pytest.param(4, marks=pytest.mark.once)])
def test_one_layer_holds_all_tables(cells):
    # Hu et al. (2024), Theorem 2.4: digits of f as the prompt, the number last; a tent for each sequence there is
    digits = np.array([*itertools.product(range(cells), repeat=cells + 1)])
    assert len(digits) == {2: 8, 3: 81, 4: 1024}[cells]
    tokens = 1.0 + digits / cells + np.arange(cells + 1)  # one number each, and its position
    separation = context_separation(tokens[..., None], [[-0.1]], [[1.0]], [[1.0]], log=False)
    assert separation > 5e-8
    context = tokens[:, -1] + (softmax(-0.1 * tokens[:, -1:] * tokens) * tokens).sum(axis=1)
    steepness = 2.0 / np.diff(np.sort(context)).min()
    answers = digits[np.arange(len(digits)), digits[:, -1]] / cells
    bends = steepness * (context[:, None] - context)
    hidden = np.maximum(np.stack([bends - 1.0, bends, bends + 1.0]), 0.0)  # width 3 cells^(cells + 1)
    result = np.tensordot([1.0, -2.0, 1.0], hidden, axes=1) @ answers
    np.testing.assert_allclose(result, answers, atol=1e-6)
    printed = np.tensordot([1.0, -1.0, 1.0], hidden, axes=1) @ answers
    assert np.abs(printed - answers).max() > 1.0


def features(x, positions, mix, read):
    """Return unit rows for the tokens of sequences, by a layer of attention with fixed weights and a layer of tanh."""
    z = x + positions
    seen = softmax(z @ mix @ z.swapaxes(1, 2) / math.sqrt(z.shape[-1])) @ z
    rows = np.tanh(np.concatenate([z, seen], axis=-1) @ read)
    rows -= rows.mean(axis=-1, keepdims=True)
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).reshape(-1, rows.shape[-1])


@pytest.mark.parametrize(
    ("count", "length", "dim", "width", "margin"), [(16, 4, 8, 16, 2e-5), (64, 8, 16, 32, 1e-7), (200, 8, 16, 64, 1e-7)]
)
def test_a_prompt_memorises_pairs_of_sequences(count, length, dim, width, margin):
    rng = np.random.default_rng(5)
    tokens = rng.standard_normal((12, dim))
    ids = np.unique(rng.integers(0, 12, (count, length)), axis=0)
    ids[1] = ids[0]
    ids[1, 0] = (ids[0, 0] + 1) % 12  # two contexts that differ in one token
    positions, mix = 0.5 * rng.standard_normal((length, dim)), 2.0 * rng.standard_normal((dim, dim)) / math.sqrt(dim)
    keys = features(tokens[ids], positions, mix, rng.standard_normal((2 * dim, width)) / math.sqrt(2 * dim))
    values = rng.uniform(-1.0, 1.0, (len(keys), dim))
    assert len(keys) == count * length
    gram = keys @ keys.T
    np.fill_diagonal(gram, -1.0)
    gap = 1.0 - gram.max()
    assert gap > margin
    impurity = 5e-5
    head = SplitHead(keys, values, math.log((len(keys) - 1.0) * (1.0 - impurity) / impurity) / gap)
    assert np.abs(head(keys) - values).max() <= 2.0 * impurity * np.abs(values).max()
    if count == 16:
        target = Target(lambda x: values[np.argmax(x @ keys.T, axis=1)], width - 1)
        fitted = SplitHead.from_target(target, keys, 30.0, coefficients="interpolation")
        assert np.abs(fitted(keys) - values).max() <= 1e-9
        assert np.abs(fitted.values).max() > 10.0


def test_tensors_are_read():
    torch = pytest.importorskip("torch")
    z = torch.tensor([3.0, 1.0], requires_grad=True)
    assert boltzmann(z) == boltzmann([3.0, 1.0])
    sequences = torch.eye(3, requires_grad=True)[None, :2]
    attention = contextual_attention(sequences, rng=0)
    assert np.array_equal(attention.key, contextual_attention(np.eye(3)[None, :2], rng=0).key)
    weights = torch.eye(3, requires_grad=True)
    assert context_separation(sequences, weights, weights, weights) == math.inf
