"""Figures as notebooks and files take them."""

import io
import itertools

import numpy as np
import pytest

import bounds
import bounds.certify
from bounds.report import plot
from bounds.report.plot.style import Figure, count_axis
from spherapprox import EqualMeasurePartition, SplitHead, targets

HEAD = SplitHead(np.eye(3), np.ones(3), 2.0)


def test_notebooks_show_a_figure_without_pyplot():
    figure = plot.partition_figure(EqualMeasurePartition(2, 20))
    plot.write(figure, file := io.BytesIO())
    assert figure._repr_png_() == file.getvalue()
    assert file.getvalue().startswith(b"\x89PNG")
    assert b"spherapprox" in file.getvalue()


@pytest.mark.parametrize(
    "counts", [[2, 10, 16, 29, 30], [10, 11, 12, 13, 14, 90], [5], [2000, 2100, 2200, 3000, 9000, 9999], [10, 1000]]
)
def test_numbers_of_counts_are_not_overprinted(counts):
    figure = Figure(figsize=(9.5, 5.4))
    axes = figure.add_subplot()
    count_axis(axes, counts)
    plot.write(figure, io.BytesIO())
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    assert boxes
    assert all(a.x1 + 2.0 <= b.x0 for a, b in itertools.pairwise(boxes))


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("'coastlines' must be True or False", lambda: plot.maps_figure(HEAD, targets.bump(2), 0.1, coastlines=1)),
    ],
)
def test_numbers_that_cannot_be_drawn_are_refused(message, call):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        call()


@pytest.mark.parametrize("wrong", [None, "abc", 3.0, np.ones(3), [None]], ids=str)
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("curves", plot.ladder_figure),
        ("study", plot.error_figure),
        ("partition", plot.partition_figure),
        ("search", lambda v: plot.shortest_figure(v, v)),
        ("search", lambda v: plot.control_points_figure(v, v)),
        ("checks", lambda v: plot.validation_figure([v], v, None, None)),
        ("target", lambda v: plot.maps_figure(v, v, 0.1)),
        ("figure", lambda v: plot.write(v, "x.png")),
        ("bound", lambda v: bounds.certify.certified(v, v)),
    ],
)
def test_what_is_drawn_is_named_where_it_is_something_else(name, call, wrong):
    with pytest.raises(TypeError, match=f"^'{name}' must be an? "):
        call(wrong)
