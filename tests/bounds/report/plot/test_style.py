"""Figures as notebooks and files take them."""

import io
import itertools

import pytest

from bounds.report import plot
from bounds.report.plot.style import Figure, count_axis
from spherapprox import EqualMeasurePartition


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
