"""The figure of a partition: its cells, centres and radii."""

import math

import numpy as np
import pytest

from bounds.report import plot
from spherapprox import EqualMeasurePartition, PointSet, special


def test_partition_figure_shows_every_centre_once():
    cells = EqualMeasurePartition(2, 50, centers="centroid")
    figure = plot.partition_figure(cells)
    globes = figure.axes[:2]
    assert sum(len(line.get_xdata()) for axes in globes for line in axes.lines if line.get_marker() == ".") >= 50
    image = globes[0].images[0].get_array()
    ratios = image[np.isfinite(image)]
    radii = cells.radii() / special.cap_angle(2, -math.log(50))
    assert ratios.min() == pytest.approx(radii.min())
    assert np.isin(np.unique(ratios), radii).all()
    covering, largest = PointSet(cells.centers()).covering_interval().upper, cells.radii().max()
    assert f"{largest:.4g}" != f"{covering:.4g}"
    words = ("50 cells", "centroid", f"largest cell radius {largest:.4g}", f"radius of the centres {covering:.4g}")
    assert all(word in figure.get_suptitle() for word in words)
    assert "1 cell of" in plot.partition_figure(EqualMeasurePartition(2, 1)).get_suptitle()
