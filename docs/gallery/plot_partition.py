"""
Cells of equal measure
======================

The sphere in 400 cells of the same area, with a centre in each: the control points of heads in closed form. The colour
says how wide a cell is; a cap of the same area would have 1.
"""

from bounds.report import plot
from spherapprox import EqualMeasurePartition

figure = plot.partition_figure(EqualMeasurePartition(2, 400))
