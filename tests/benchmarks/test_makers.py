"""Makers of control points: sets of at most so many points, or a reason why there are none."""

from importlib import import_module

import numpy as np
import pytest

from spherapprox import PointSet


@pytest.fixture(scope="module")
def makers():
    return import_module("makers").MAKERS


def test_every_maker_has_points_on_the_sphere(makers):
    counts = {}
    for name, make in makers.items():
        nodes = make(2, 98, 0)
        assert isinstance(nodes, PointSet)
        np.testing.assert_allclose(np.linalg.norm(nodes.points, axis=1), 1.0, rtol=1e-14)
        counts[name] = len(nodes)
    assert counts.pop("lattice_cover") <= 98
    assert set(counts.values()) == {98}


@pytest.mark.parametrize(
    ("name", "dim", "n", "reason"),
    [
        ("fibonacci", 3, 40, "on S^2 only"),
        ("gauss_product", 2, 1, "the least rule has 2 points"),
        ("partition, relaxed", 2, 1001, "at most 1000 points are relaxed"),
        ("lattice_cover", 1, 40, "from S^2 on"),
    ],
)
def test_reasons_are_named(makers, name, dim, n, reason):
    assert makers[name](dim, n, 0) == reason
