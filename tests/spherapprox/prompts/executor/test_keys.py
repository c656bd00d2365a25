"""Margins of keys: measured, and met by points that repel each other."""

import numpy as np
import pytest

from spherapprox import points
from spherapprox.prompts.executor import Executor, key_margin
from spherapprox.prompts.executor.keys import _margin


def test_a_margin_is_that_of_the_nearest_pair():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    products = rows @ rows.T
    np.fill_diagonal(products, -1.0)
    assert key_margin(rows) == pytest.approx(1.0 - products.max(), rel=1e-13)
    assert key_margin(np.eye(4)) == key_margin([[1.0, 0.0]]) == key_margin([[1.0, 0.0], [-1.0, 0.0]]) == 1.0
    assert key_margin(np.vstack([rows, rows[:1]])) == pytest.approx(0.0, abs=1e-15)
    keys = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]
    assert Executor((1, 2, 1), (4, 4), (9.0, 9.0), (1.0, 3.0), keys=keys).margin == 1.0


@pytest.mark.parametrize("block", [1, 2, 7, 16, 100])
def test_a_margin_is_the_same_in_blocks_of_any_size(block):
    signs = np.array([[1.0 if bin(i & j).count("1") % 2 == 0 else -1.0 for j in range(16)] for i in range(16)])
    rows, total = 0.25 * signs, 0.25 * (0.25 * signs).sum(axis=0)  # whose products are exact
    rows[5], rows[11] = total, total - 0.5 * (rows[0] + rows[1])  # the nearest, in blocks that differ
    assert _margin(rows, block) == 0.25
    assert _margin(rows[:5], block) == 1.0


@pytest.mark.parametrize(("dim", "margin"), [(3, 0.391), (7, 0.748), (11, 0.857)])
def test_points_that_repel_each_other_are_keys(dim, margin):
    keys = points.relax(points.uniform(dim, 33, rng=1), exponent=60.0, steps=1000)
    assert key_margin(keys) == pytest.approx(margin, abs=0.01)
