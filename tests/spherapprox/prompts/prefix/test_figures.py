"""Figures of attention: what is drawn is what was given."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

from spherapprox.prompts.prefix import draw_shares, draw_weights

mpl.use("agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_maps_of_weights():
    weights = np.random.default_rng(0).dirichlet(np.ones(7), (5, 4))
    tokens = ["a", "b", "c", "d", "e"]
    figure = draw_weights(weights, heads=[4, 1], tokens=tokens, prefix=2, title="layer 3")
    maps = [ax for ax in figure.axes if ax.images and ax.get_title()]
    assert [ax.get_title() for ax in maps] == ["head 4", "head 1"]
    for ax, head in zip(maps, (4, 1), strict=True):
        np.testing.assert_allclose(ax.images[0].get_array(), np.sqrt(weights[head]))
        assert ax.lines[0].get_xdata()[0] == 1.5
    assert [text.get_text() for text in maps[0].get_xticklabels()] == tokens
    assert [text.get_text() for text in maps[0].get_yticklabels()] == tokens[1:]
    assert figure.get_suptitle() == "layer 3"
    assert figure.get_size_inches()[0] == 5.6
    inside = draw_weights(weights[:1, :, :5], tokens=tokens[:3], prefix=2)  # those of the prefix ask, too
    assert [text.get_text() for text in inside.axes[0].get_yticklabels()] == ["", *tokens[:3]]
    many = draw_weights(np.ones((20, 3, 60)) / 60.0, asking=[5, 30, 59])
    maps = [ax for ax in many.axes if ax.get_title()]
    assert len(maps) == 12
    assert [text.get_text() for text in maps[0].get_yticklabels()] == ["5", "59"]


def test_the_map_of_shares():
    shares = np.random.default_rng(1).random((3, 4))
    shares[2, 3] = np.nan
    figure = draw_shares(shares, layers=["0", "5", "9"])
    ax = figure.axes[0]
    np.testing.assert_array_equal(ax.images[0].get_array().filled(np.nan), shares)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "5", "9"]
    assert len(ax.texts) == 11
    assert float(ax.texts[0].get_text()) == pytest.approx(shares[0, 0], abs=0.005)
