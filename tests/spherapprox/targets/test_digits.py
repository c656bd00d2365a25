"""Handwritten digits as points of a sphere."""

import sys

import numpy as np
import pytest

from spherapprox import CoreHead, SplitHead, sphere, targets

datasets = pytest.importorskip("sklearn.datasets", reason="the extra `learn`")


def test_they_are_the_images_on_the_sphere():
    x, y = targets.digits()
    bunch = datasets.load_digits()
    assert x.dtype == y.dtype == np.float64
    assert x.shape == (1797, 64)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(x * np.linalg.norm(bunch.data, axis=1)[:, None], bunch.data, rtol=1e-14)
    np.testing.assert_array_equal(y.argmax(axis=1), bunch.target)
    np.testing.assert_array_equal(y.sum(axis=1), 1.0)
    assert len(np.unique(x, axis=0)) == 1797
    assert sphere.distance(x[:1], x[1:2]) > 0.1


@pytest.mark.parametrize("kind", [CoreHead, SplitHead])
def test_heads_read_them(kind):
    x, y = targets.digits()
    head = kind.fit(x[:700], y[:700], n=100, rng=0)
    assert np.mean(head(x[1000:]).argmax(axis=1) == y[1000:].argmax(axis=1)) > 0.9


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match=r"pip install \"spherapprox\[learn\]\""):
        targets.digits()
