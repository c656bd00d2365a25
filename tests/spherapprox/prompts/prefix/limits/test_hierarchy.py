"""Prompts, soft prompts, prefixes and suffixes: the floors of docs/theorems/8.12-prompts-and-prefixes.md."""

import itertools

import numpy as np
import pytest

from spherapprox.prompts.prefix import AttentionLayer, Limits, reachable

WORDS = np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [0.0, -2.0]])
"""Embeddings of a vocabulary; the layer's inputs are these, scaled to length 1."""
LAYER = AttentionLayer([[0.5, 0.2], [0.0, 0.3]], [[1.0, 0.0], [0.4, 0.8]], np.eye(2), scale=1.0, heads=1)
CONTENT = [0, 1, 1, 3]


def normed(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def answer(tokens):
    """The output at the last row of the content, behind tokens of any lengths."""
    return LAYER.attend(normed(WORDS[CONTENT[-1:]]), np.vstack([normed(tokens), normed(WORDS[CONTENT])]))[0]


@pytest.mark.parametrize("size", [1.1, 1.25, 3.0])
def test_prompts_soft_prompts_and_prefixes(size):
    direction = np.full(2, np.sqrt(0.5))
    target, rows = size * direction, normed(WORDS[CONTENT])
    query, key, value = (part[0] for part in LAYER.head_inputs(rows[-1:], rows))

    def floor(values, wanted, **limits):
        found = reachable(
            query, key[None], values[None], [wanted], scale=1.0, norm="euclidean", limits=Limits(**limits)
        )
        assert found.exact
        return found.error

    # prefixes reach the target, soft prompts have values of length 1, prompts components of sqrt(1/2) toward it
    assert floor(value, target) == pytest.approx(0.0, abs=1e-15)
    soft = floor(value, target, value_bound=1.0)
    hard = floor(value @ direction[:, None], [size], value_bound=np.sqrt(0.5))
    assert soft == pytest.approx(size - 1.0, rel=1e-12)
    assert hard == pytest.approx(size - np.sqrt(0.5), rel=1e-12)
    # nothing that prompts can say is better; and long ones come near
    said = itertools.chain.from_iterable(itertools.combinations_with_replacement(range(4), n) for n in range(7))
    errors = [np.linalg.norm(answer(WORDS[list(words)]) - target) for words in said]
    assert hard <= min(errors) < hard + 0.4
    assert hard <= np.linalg.norm(answer(np.repeat(WORDS[:2], [400, 400], axis=0)) - target) < hard + 0.05
    rng = np.random.default_rng(0)
    assert all(np.linalg.norm(answer(rng.standard_normal((n, 2))) - target) >= soft for n in range(1, 50))
    assert soft <= np.linalg.norm(answer(np.tile(direction, (4000, 1))) - target) < soft + 0.01


def suffixed(query, key, value, suffix_key, suffix_value, own):
    """The output at a suffix of one token, by the definition."""
    weights = np.exp(np.append(key @ own, suffix_key @ own))
    return weights @ np.append(value, suffix_value) / weights.sum()


def test_a_suffix_can_ask_what_no_prefix_can():
    key = np.array([[0.0, 1.0], [0.0, -1.0], [0.0, 0.0]])  # the last token's value is 0, its query (1, 0)
    values = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]])
    ask = [[1.0, 0.0]] * 2
    floor = reachable(ask, [key, key], values[..., None], [[1.0], [-1.0]], scale=1.0)
    assert floor.exact
    assert floor.error == 1.0
    for steepness in (5.0, 20.0):
        outputs = [suffixed(None, key, v, np.zeros(2), 0.0, np.array([0.0, steepness])) for v in values]
        assert np.abs(outputs - np.array([1.0, -1.0])).max() <= 3.0 * np.exp(-steepness)


def test_a_suffix_does_not_see_what_came_last():
    layer = AttentionLayer([[1.0, 0.0]], [[0.0, 1.0]], [[0.0, 1.0]], scale=1.0, heads=1)
    x = np.array([[1.0, 2.0], [-1.0, 3.0]])
    orders = x, x[::-1]
    before = [layer.attend(rows, causal=True)[-1] for rows in orders]
    queries, keys, values = zip(*(layer.head_inputs(rows[-1:], rows) for rows in orders), strict=True)
    asked = np.array([query[0, 0] for query in queries])
    floor = reachable(asked, [k[0] for k in keys], [v[0] for v in values], before, scale=1.0)
    assert floor.error == 0.0  # the empty prefix, for one
    assert len(floor.prefix) == 0
    suffix = np.random.default_rng(0).standard_normal((3, 2))
    after = [layer.attend(np.vstack([rows, suffix]), causal=True)[-1] for rows in orders]
    assert np.abs(after[0] - after[1]).max() <= 1e-15
    assert np.abs(before[0] - before[1]).max() > 0.4


def test_a_soft_prefix_is_a_prefix_in_all_layers_and_a_soft_suffix_is_none():
    rng = np.random.default_rng(0)
    layers = [AttentionLayer(*rng.standard_normal((4, 6, 6)), heads=2) for _ in range(2)]
    soft, contents = rng.standard_normal((2, 6)), rng.standard_normal((5, 4, 6))

    def second(rows):
        """Inputs of the second layer."""
        return rows + layers[0].attend(rows, causal=True)

    before = [second(np.vstack([soft, x]))[:2] for x in contents]
    behind = [second(np.vstack([x, soft]))[-2:] for x in contents]
    assert np.ptp(before, axis=0).max() <= 1e-14
    assert np.ptp(behind, axis=0).min() > 0.1
    # and what stands before a suffix does not see it
    assert np.abs(second(np.vstack([contents[0], soft]))[:4] - second(contents[0])).max() <= 1e-14
    # in one layer rows behind either see the same
    row = rng.standard_normal((1, 6))
    both = (layers[0].attend(row, np.vstack(parts)) for parts in ([soft, contents[0], row], [contents[0], soft, row]))
    assert np.ptp([*both], axis=0).max() <= 1e-13


def widened(layer, place, count, penalty):
    """The layer whose rows are (state, payload, number of a layer): it sees content and the payload of its own."""
    d, h, s = layer.width, layer.heads, layer.head_dim
    own = np.ones(count + 1)
    own[[0, place]] = 0.0
    query, key = (np.zeros((h, s + 1, 2 * d + count + 1)) for _ in range(2))
    query[:, :s, :d] = layer.query.reshape(h, s, d)
    query[:, s, 2 * d :] = 1.0
    key[:, :s, :d] = key[:, :s, d : 2 * d] = layer.key.reshape(h, s, d)
    key[:, s, 2 * d :] = -penalty / layer.scale * own
    value = np.hstack([layer.value, layer.value, np.zeros((len(layer.value), count + 1))])
    flat = (part.reshape(h * (s + 1), -1) for part in (query, key))
    return AttentionLayer(*flat, value, out=layer.out, scale=layer.scale, heads=h)


@pytest.mark.parametrize(("penalty", "error"), [(1e3, 1e-12), (30.0, 1e-9)])
def test_prefixes_of_all_layers_are_soft_tokens_of_a_wider_model(penalty, error):
    rng = np.random.default_rng(0)
    count, length, d = 3, 4, 6
    layers = [AttentionLayer(*0.5 * rng.standard_normal((3, d, d)), out=0.2 * rng.standard_normal((d, d)), heads=2)
              for _ in range(count)]  # fmt: skip
    mixing = 0.3 * rng.standard_normal((count, d, d))
    prefixes, x = rng.standard_normal((count, length, d)), rng.standard_normal((5, d))
    wide = [widened(layer, k, count, penalty) for k, layer in enumerate(layers, 1)]

    def run(rows, numbers, payload=None):
        """Run the wide model on rows of content, 0, or soft tokens of a layer, whose payloads are found without one."""
        soft = np.zeros_like(rows) if payload is None else payload
        for k, layer in enumerate(wide, 1):
            if payload is None:
                soft[numbers == k] = prefixes[k - 1] - rows[numbers == k]
            rows = rows + layer.attend(np.hstack([rows, soft, np.eye(count + 1)[numbers]]), causal=True)
            rows = rows + np.tanh(rows @ mixing[k - 1])
        return rows, soft

    numbers = np.repeat(np.arange(1, count + 1), length)
    payload = run(np.zeros((count * length, d)), numbers)[1]  # without the content
    start = np.vstack([np.zeros_like(payload), x])
    rows = run(start, np.append(numbers, [0] * len(x)), np.vstack([payload, np.zeros_like(x)]))[0]
    expected = x
    for layer, prefix, matrix in zip(layers, prefixes, mixing, strict=True):
        expected = expected + layer.attend(expected, prefix=layer.prefix(prefix), causal=True)
        expected = expected + np.tanh(expected @ matrix)
    assert np.abs(rows[-len(x) :] - expected).max() <= error * np.abs(expected).max()
    assert np.abs(rows[-len(x) :]).max() > 0.1


def test_digits_are_added_up_by_even_attention():
    v, places, rng = 10, 3, np.random.default_rng(0)
    digits = rng.integers(0, v, (4, places))  # of four numbers, most significant first
    rows = np.eye(places)  # places of the symbols of one number
    for number in digits:
        gated = np.maximum(number[:, None] / v + rows - 1.0, 0.0)  # ReLUs leave each digit at its place
        head = AttentionLayer(np.zeros((1, places)), np.zeros((1, places)), [places * v ** -np.arange(3.0)], heads=1)
        assert head.attend(gated)[0, 0] == pytest.approx(int("".join(map(str, number))) / v**places, rel=1e-14)
