"""The figure of a partition: its cells, centres and radii."""

import math

import numpy as np
import pytest

from bounds.report import plot
from spherapprox import EqualMeasurePartition, PointSet, special


def test_partition_figure_shows_every_centre_once():
    figure = plot.partition_figure(EqualMeasurePartition(2, 50, centers="centroid"))
    globes = figure.axes[:2]
    assert sum(len(line.get_xdata()) for axes in globes for line in axes.lines if line.get_marker() == ".") >= 50
    image = globes[0].images[0].get_array()
    shown = image[np.isfinite(image)]
    radii = EqualMeasurePartition(2, 50, centers="centroid").radii() / special.cap_angle(2, -math.log(50))
    assert shown.min() == pytest.approx(radii.min())
    assert np.isin(np.unique(shown), radii).all()
    assert "50 cells" in figure.get_suptitle()
    covering = PointSet(EqualMeasurePartition(2, 50, centers="centroid").centers()).covering_interval().upper
    largest = EqualMeasurePartition(2, 50, centers="centroid").radii().max()
    said = f"largest cell radius {largest:.4g}, covering radius of the centres {covering:.4g}"
    assert said in figure.get_suptitle()
    assert f"{largest:.4g}" != f"{covering:.4g}"
    assert "centroid" in figure.get_suptitle()
    assert "1 cell of" in plot.partition_figure(EqualMeasurePartition(2, 1)).get_suptitle()
