"""
Which points cover the sphere best?
===================================

The largest distance of any place on the sphere to the nearest of N points bounds the error of a head at these points.
It is drawn over the least that N caps of any kind could have.
"""

from bounds.report import makers, plot

names = ["partition", "partition, relaxed", "greedy", "fibonacci", "gauss_product", "sobol", "uniform"]
figure = plot.covering_figure(makers.compare(2, (10, 30, 100, 300, 1000), makers=names))
