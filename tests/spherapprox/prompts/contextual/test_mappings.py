"""How far apart tokens and outputs are: `token_separation`, `mapping_separation`, and what follows for labels."""

import itertools
import math

import numpy as np
import pytest

from bounds import prompts
from spherapprox.prompts.contextual import (
    context_separation,
    contextual_attention,
    mapping_separation,
    separating_direction,
    token_separation,
)
from spherapprox.prompts.executor import ReluNetwork


def apart_by_definition(sequences, outputs):
    """Return the least distance of two outputs where tokens differ, or the sets of their sequences do."""
    places = [
        ((i, k), tuple(token), frozenset(map(tuple, sequence)), np.asarray(outputs[i][k], float))
        for i, sequence in enumerate(sequences)
        for k, token in enumerate(np.asarray(sequence).tolist())
    ]
    least = (math.inf, None)
    for (p, x, xs, a), (q, y, ys, b) in itertools.combinations(places, 2):
        if (x != y or xs != ys) and np.linalg.norm(a - b) < least[0]:
            least = np.linalg.norm(a - b), (p, q)
    return least


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e299])
def test_outputs_are_as_far_apart_as_the_definition_says(size):
    rng = np.random.default_rng(0)
    tokens = rng.standard_normal((5, 2)).round(1)
    sequences = [tokens[rng.integers(0, 5, n)].tolist() for n in (1, 2, 3, 3, 4, 2)]
    sequences.append(sequences[2][::-1])  # of one set
    outputs = [size * rng.standard_normal((len(sequence), 3)) for sequence in sequences]
    outputs[-1] = outputs[2][::-1]  # nothing asks them to differ
    result = mapping_separation(sequences, outputs)
    expected, places = apart_by_definition(sequences, [rows / size for rows in outputs])
    assert result.separation == pytest.approx(size * expected, rel=1e-13)
    assert result.places == places
    assert result.size == pytest.approx(size * max(np.linalg.norm(rows / size, axis=1).max() for rows in outputs))
    outputs[3][0] = outputs[1][0]
    assert mapping_separation(sequences, outputs).separation == 0.0
    near = [[[1.0]], [[2.0]]]
    assert mapping_separation(near, [[[1e200, 0.0]], [[1e200, 1e-5]]]).separation == pytest.approx(1e-5)
    assert mapping_separation(near[:1], near[:1]).places is None
    # differences whose squares vanish, and sequences of one set that have a token once and twice
    tiny = mapping_separation([*near, [[3.0]]], [[[1.0, 0.0]], [[1.0, 3e-200]], [[1.0, 1e-200]]])
    assert (tiny.separation, tiny.places) == (pytest.approx(1e-200), ((0, 0), (2, 0)))
    repeated = [[[1.0], [2.0]], [[1.0], [2.0], [2.0]]], [[[0.0], [1.0]], [[0.0], [1.0], [1.5]]]
    assert mapping_separation(*repeated).separation == 1.0


def test_tokens_are_as_far_apart_as_the_definition_says():
    rng = np.random.default_rng(0)
    tokens = rng.standard_normal((6, 3))
    sequences = [tokens[[0, 1, 2]], tokens[[2, 4]], tokens[[5, 5, 0, 1]]]
    result = token_separation(sequences)
    used = tokens[[0, 1, 2, 4, 5]]
    distances = [np.linalg.norm(x - y) for x, y in itertools.combinations(used, 2)]
    norms = np.linalg.norm(used, axis=1)
    assert (result.vocabulary_size, result.length, result.token_dim, result.repeats) == (5, 3, 3, (2,))
    assert (result.smallest_norm, result.largest_norm) == pytest.approx((norms.min(), norms.max()), rel=1e-15)
    assert result.separation == pytest.approx(min(distances), rel=1e-15)
    assert token_separation(tokens[None, :1]).separation == math.inf
    # Hu et al., Lemma 2.2: what is promised of these tokens, and what a head does
    sequences = sequences[:2]
    head = contextual_attention(sequences, rng=0)
    measured = context_separation(sequences, head.query, head.key, head.value, output=head.output)
    assert prompts.context_separation(**token_separation(sequences).arguments, theorem="sharp").log <= measured


def test_a_layer_reads_labels_from_a_contextual_mapping():
    rng = np.random.default_rng(3)
    tokens = rng.standard_normal((4, 2))
    ids = np.array([[0, 1, 2], [0, 1, 3], [3, 1, 2], [2, 1, 0]])  # the last is of the first's set
    mix = rng.standard_normal((2, 2))
    weights = np.exp(tokens[ids] @ mix @ tokens[ids].swapaxes(1, 2))
    outputs = tokens[ids] + 0.5 * weights / weights.sum(axis=2, keepdims=True) @ tokens[ids]
    result = mapping_separation(tokens[ids], outputs)
    assert result.separation > 0.01
    rows, first, which = np.unique(outputs.reshape(-1, 2).round(9), axis=0, return_index=True, return_inverse=True)
    rows = outputs.reshape(-1, 2)[first]
    assert len(rows) == 9  # three places, and three sets
    u, ratio = separating_direction(rows, rng=0)
    order = np.argsort(rows @ u)
    labels = rng.uniform(0.0, 1.0, 9)
    network = ReluNetwork.piecewise_linear((rows @ u)[order], labels[order])
    np.testing.assert_allclose(network(outputs.reshape(-1, 2) @ u[:, None])[:, 0], labels[which.reshape(-1)], atol=1e-9)
    off = 1e-4 * rng.standard_normal((9, 2))
    slope = np.ptp(labels) / (ratio * result.separation)
    errors = np.abs(network((rows + off) @ u[:, None])[:, 0] - labels)
    assert (errors <= slope * np.linalg.norm(off, axis=1) + 1e-9).all()
