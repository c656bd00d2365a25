"""The figure of errors by rule: curves, their names, and the rounding unit."""

import io

from bounds.report import plot


def test_each_curve_is_drawn_with_its_name():
    curves = [
        plot.Curve("slow", [10, 100], [0.1, 0.01], side="below"),
        plot.Curve("fast", [10, 20, 40], [1e-2, 1e-5, 1e-14], place=1, side="left"),
    ]
    figure = plot.coefficients_figure(curves, "a title")
    (axes,) = figure.axes
    drawn = [line for line in axes.lines if len(line.get_xdata()) in (2, 3) and line.get_marker() != "None"]
    assert [list(line.get_ydata()) for line in drawn] == [curve.error for curve in curves]
    labels = {text.get_text(): text for text in axes.texts}
    assert labels["fast"].xy == (20, 1e-5)
    assert labels["slow"].xy == (100, 0.01)
    assert labels["fast"].get_color() == drawn[1].get_color() != drawn[0].get_color()
    assert "machine precision" in labels
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_ylim()[0] < 2.2e-16
    figure.savefig(io.BytesIO(), format="png")
