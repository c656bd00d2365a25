"""The thesis's figures: the numbers of their curves, to the digits that were computed apart from this library."""

import io
import math

import numpy as np
import pytest

from bounds.report import plot
from bounds.report.plot.thesis import CLOSENESS


def test_kernels_have_their_peaks_and_antipodes():
    figure = plot.kernel_figure()
    *globes, axes = figure.axes
    drawn = np.array([curve.get_ydata() for curve in axes.lines])
    assert drawn[:, 0] == pytest.approx([2.313035285499, 10.00045401991, 20.00000004122], rel=1e-12)
    assert drawn[:, -1] == pytest.approx([0.3130352854993, 4.540199e-4, 4.12231e-8], rel=1e-6)
    for globe, peak in zip(globes, drawn[:, 0], strict=True):
        image = globe.images[0].get_array()
        assert 0.999 * peak < np.nanmax(image) <= peak
    assert len(plot.kernel_figure([3.0], dim=7).axes) == 1
    figure.savefig(io.BytesIO(), format="png")


def test_eigenvalues_lie_between_their_bounds():
    (axes,) = plot.eigenvalue_figure().axes
    curves = [curve.get_ydata() for curve in axes.lines if len(curve.get_xdata())]
    exact, printed = np.array(curves[::2]), np.array(curves[1::2])
    assert axes.lines[0].get_xdata()[200] == pytest.approx(10.0)
    assert exact[:, 200] == pytest.approx([0.900000004122, 0.729999998763, 0.535000004741], abs=1e-12)
    assert np.log(printed[:, 200]) == pytest.approx([-0.149443120185, -0.494932923095, -1.029664665258], abs=1e-12)
    assert (printed <= exact).all()
    for values, band in zip(exact, axes.collections[:3], strict=True):
        outline = band.get_paths()[0].vertices  # lower edge forth, upper edge back
        low, high = outline[1 : 1 + values.size, 1], outline[2 + values.size : -1, 1][::-1]
        assert (low <= values * (1 + 1e-13)).all()
        assert (values <= high * (1 + 1e-13)).all()
        assert (high - low).max() < 0.04


def test_the_dot_product_is_closeness_on_the_circle_alone():
    for title, points in CLOSENESS.items():
        x, near, far = np.array(points)
        assert np.linalg.norm(x - near) < np.linalg.norm(x - far)
        assert (x @ near > x @ far) == (title == "on the circle")
        assert np.allclose(np.linalg.norm([x, near, far], axis=1), 1.0) == (title == "on the circle")
    assert ["<" in axes.get_xlabel().splitlines()[1] for axes in plot.closeness_figure().axes] == [True, False]


@pytest.mark.parametrize("vocabulary", [2, 10, 50])
def test_each_symbol_is_the_largest_where_it_is_thick(vocabulary):
    (axes,) = plot.decoder_figure(vocabulary).axes
    lines = [line.get_xydata() for line in axes.lines[::3]]
    slopes = np.array([(end[1] - start[1]) / (end[0] - start[0]) for start, end in lines])
    for i, thick in enumerate(axes.lines[1::3]):
        low, high = thick.get_xdata()
        for x in np.linspace(low + 1e-6, high - 1e-6, 5):
            values = slopes * x + [start[1] for start, _ in lines]
            assert values.argmax() == i
            assert values.max() <= (x - 0.5) ** 2 + 1e-15


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.kernel_figure(range(9)), "'concentrations' must have 1 to 8 entries to be drawn, got 9"),
        (lambda: plot.kernel_figure([-1.0]), "'concentration' must be"),
        (lambda: plot.kernel_figure(dim=0), "'dim' must be"),
        (lambda: plot.eigenvalue_figure([]), "'degrees' must have 1 to 8 entries to be drawn, got 0"),
        (lambda: plot.eigenvalue_figure([0]), "'degrees' must be"),
        (lambda: plot.decoder_figure(51), "'vocabulary' must be"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bounds_meet_at_both_ends():
    """Where lambda is small or large, the printed bound's ratio to a_1 tends to 1."""
    exact, printed = (line.get_ydata() for line in plot.eigenvalue_figure([1], dim=3).axes[0].lines[:2])
    assert math.isclose(printed[-1], exact[-1], rel_tol=2e-3)
    assert math.isclose(printed[0], exact[0], rel_tol=2e-2)
