"""Labels of maps and of validations: large enough for a phone, and apart."""

from itertools import pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

import bounds
from bounds.report import plot
from spherapprox import EqualMeasurePartition, SplitHead, targets


def texts(figure):
    """Return the words that a figure shows, after drawing it."""
    FigureCanvasAgg(figure).draw()
    return [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]


@pytest.fixture(scope="module")
def narrow():
    """Return a validation whose errors and bounds lie within a decade."""
    target = targets.distance(1)
    return bounds.validate(SplitHead.from_target(target, EqualMeasurePartition(1, 30), 100.0), target, n=500)


def test_labels_can_be_read_on_a_phone(narrow):
    wave = targets.zonal_harmonic(2, 2)
    head = SplitHead.from_target(wave, EqualMeasurePartition(2, 20), 9.0)
    on_sphere = plot.validation_figure(narrow.checks, bounds.validate(head, wave, n=100).error, head, wave)
    along = plot.validation_figure(narrow.checks, narrow.error, narrow.head, narrow.target)
    for figure in (plot.maps_figure(head, wave, 1.0, resolution=9), along, on_sphere):
        smallest = min(text.get_fontsize() for text in texts(figure))
        assert smallest * 5.6 / figure.get_figwidth() >= 9.99


def test_numbers_of_the_logarithmic_axis_are_plain_and_apart(narrow):
    figure = plot.validation_figure(narrow.checks, narrow.error, None, None)
    texts(figure)
    (axes,) = figure.axes
    assert not [label for label in axes.get_xticklabels(minor=True) if label.get_text()]
    low, high = axes.get_xlim()
    inside = [label for label in axes.get_xticklabels() if low <= label.get_position()[0] <= high]
    assert len(inside) >= 2
    assert all(float(label.get_text()) == pytest.approx(label.get_position()[0]) for label in inside)
    boxes = [label.get_window_extent() for label in inside]
    assert all(first.x1 < second.x0 for first, second in pairwise(boxes))
