"""Maps of targets and heads."""

import numpy as np
import pytest

from bounds.report import plot
from spherapprox import CoreHead, EqualMeasurePartition, Target, VonMisesFisher

POLE = np.array([[0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("function", "colours", "lowest"),
    [
        (VonMisesFisher([0.0, 0.6, 0.8], 8.0).pdf, "viridis", 0.0),
        (lambda x: x[:, 0] * x[:, 1], "RdBu_r", -0.5),
        (lambda x: x[:, :2], "viridis", 0.0),  # of which lengths are drawn
    ],
)
def test_colours_are_signed_where_values_are(function, colours, lowest):
    target = Target(function, 2, name="drawn", n_outputs=2 if function(POLE).ndim == 2 else None)
    head = CoreHead.from_target(target, EqualMeasurePartition(2, 20), 5.0)
    figure = plot.maps_figure(head, target, 0.4, resolution=37)
    truth, approximation, error = (axes.collections[0] for axes in figure.axes if axes.name == "mollweide")
    for image in (truth, approximation):
        assert image.get_cmap().name == colours
        assert image.norm.vmin == pytest.approx(lowest, abs=0.01)
    vectors = target.n_outputs == 2
    assert (error.get_cmap().name, error.norm.vmin) == (("viridis", 0.0) if vectors else ("RdBu_r", -0.4))
