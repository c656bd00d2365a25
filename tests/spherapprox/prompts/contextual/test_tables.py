"""Transformers whose prompts are tables: all of small ones, exactly; and prompts that reach any outputs."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from spherapprox.prompts.contextual import TableTransformer


def cells_of(x, cells):
    """Return the number of the cell of each sequence."""
    flat = x.reshape(len(x), -1)
    digits = np.minimum(np.floor(cells * flat), cells - 1).astype(int)
    return digits @ cells ** np.arange(flat.shape[1])


def off_ramps(rng, cells, count, n, d):
    """Return sequences of different cells, at random places off the ramps."""
    index = rng.permutation(cells ** (n * d))[:count]
    digits = index[:, None] // cells ** np.arange(n * d) % cells
    return ((digits + rng.uniform(0.0, 0.998, digits.shape)) / cells).reshape(-1, n, d)


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("prompt", ["tokens", "number"])
@pytest.mark.parametrize("cells", [2, 3])
def test_one_transformer_has_all_tables(cells, prompt, deep):
    transformer = TableTransformer(cells, prompt=prompt, deep=deep)
    x = (np.arange(cells) + 0.4)[:, None, None] / cells
    if not deep:  # 8.11 (sum)
        knots = transformer.after[0].knots
        assert (len(knots), min(np.diff(knots))) == (cells ** (cells + 1), Fraction(1, 2 * cells**cells))
    for table in itertools.product(range(cells), repeat=cells):
        expected = (np.array(table)[:, None, None] + 0.5) / cells
        code = transformer.encode(lambda z, expected=expected: expected[cells_of(z, cells)])
        assert code.shape == ((cells, 1) if prompt == "tokens" else (1, 1))
        assert np.array_equal(transformer.run(code, x), expected)


@pytest.mark.parametrize(
    ("cells", "length", "dim", "deep", "prompt"),
    [(4, 1, 1, False, "tokens"), (5, 1, 1, True, "number"), (2, 2, 1, False, "number"), (2, 2, 1, True, "tokens"),
     (2, 1, 2, True, "tokens"), (2, 1, 2, False, "number"), (3, 2, 1, True, "number")],
)  # fmt: skip
def test_tables_of_more_tokens_and_columns(cells, length, dim, deep, prompt):
    transformer = TableTransformer(cells, length=length, token_dim=dim, deep=deep, prompt=prompt)
    rng = np.random.default_rng(0)
    table = rng.integers(0, cells, (cells ** (length * dim), length, dim))
    x = off_ramps(rng, cells, 2, length, dim)
    result = transformer.run(transformer.encode(lambda z: table[cells_of(z, cells)] / cells), x)
    assert np.array_equal(result, (table[cells_of(x, cells)] + 0.5) / cells)
    k, n = cells ** (length * dim), length
    assert len(transformer.before) == (sum(len(layer.knots) for layer in transformer.before) // 4 if deep else 1)
    reads = sum(cells ** (dim * (i + 1)) for i in range(n))
    assert len(transformer.after) == (1 + n * k + n * k * k * (k - 1) // 2 + reads + dim if deep else 1)
    assert len(transformer.after) <= 2 * n * k**3 + dim + 1
    assert all(len(layer.knots) <= 4 for layer in transformer.after) == deep


@pytest.mark.parametrize("deep", [False, True])
def test_errors_of_lipschitz_maps_and_outputs_on_ramps(deep):
    rng = np.random.default_rng(0)
    function = lambda z: np.clip(0.5 * z + 0.5 * z[:, ::-1] ** 2, 0.0, 1.0)  # noqa: E731  constant 2 for alpha = inf
    transformer = TableTransformer(4, length=2, ramp=0.25, function=function, deep=deep)
    x = rng.random((60, 2, 1))
    place = 4.0 * x % 1.0
    ramp = ((place > 0.75) & (x < 0.75)).any(axis=(1, 2))
    assert 10 < ramp.sum() < 40
    result = transformer.run(None, x)
    assert np.abs(result - function(x))[~ramp].max() <= 2.0 / 8.0
    assert (result >= 0.0).all()
    assert (result <= 1.0).all()
    prompted = TableTransformer(3, ramp=0.5, deep=deep)
    result = prompted.run(prompted.encode(lambda z: 1.0 - z), rng.random((40, 1, 1)))
    assert (result >= 0.0).all()
    assert (result <= 1.0).all()
    ends = prompted.run(prompted.encode(lambda z: 1.0 - z), [[[0.0]], [[1.0]]]).ravel()
    np.testing.assert_allclose(ends, [5.0 / 6.0, 1.0 / 6.0], rtol=1e-15)


def test_data_need_no_lipschitz_function():
    # Hu et al., Theorem 2.5: inputs 0.1 apart, outputs as they come
    x, y = np.array([0.31, 0.42, 0.9])[:, None, None], np.array([1.0, 0.0, 0.7])[:, None, None]
    transformer = TableTransformer(11, deep=True, prompt="number", ramp=1e-9)
    code = transformer.encode(lambda z: y[np.argmin(np.abs(z[:, 0] - x[:, 0, 0]), axis=1)])
    assert np.abs(transformer.run(code, x) - y).max() <= 1.0 / 22.0 + 1e-15


@pytest.mark.parametrize("cells", [2, 3, 5, 8])
def test_prompts_of_real_numbers_reach_any_outputs_with_few_units(cells):
    # 8.11 (smooth): what one head of size one adds to inputs x_i takes all values near those of a first prompt
    rng = np.random.default_rng(cells)
    x, start = np.linspace(-1.0, 1.0, cells), 3.0 * np.cos(np.pi * (np.arange(cells) + 0.5) / cells)

    def means(y):
        powers, own = np.exp(2.0 * x[:, None] * y), np.exp(2.0 * x * x)
        total = powers.sum(axis=1) + own
        mean = (powers @ y + own * x) / total
        return mean, powers * (1.0 + 2.0 * x[:, None] * (y - mean[:, None])) / total[:, None]

    centre, slopes = means(start)
    eta = 0.05 / np.linalg.norm(np.linalg.inv(slopes), np.inf)
    knots = np.stack([x + centre - eta, x + centre + eta], axis=1).ravel()  # 2 c units
    assert (np.diff(knots) > 0.0).all()
    for _ in range(5):
        wanted, y = rng.random(cells), start
        for _ in range(20):
            mean, slopes = means(y)
            y = y - np.linalg.solve(slopes, mean - centre - eta * (2.0 * wanted - 1.0))
        result = np.interp(x + means(y)[0], knots, np.tile([0.0, 1.0], cells))
        np.testing.assert_allclose(result, wanted, atol=1e-11)
