"""
Which points cover the sphere best?
===================================

The largest distance of any place on the sphere to the nearest of N points bounds the error of a head at these points.
It is drawn over the least that N caps of any kind could have.
"""

import numpy as np
from matplotlib.figure import Figure

from spherapprox import EqualMeasurePartition, PointSet, points, special

kinds = {
    "uniform": lambda n: points.uniform(2, n, rng=0),
    "sobol": lambda n: points.sobol(2, n, 0),
    "gauss_product": lambda n: points.gauss_product(2, round(np.sqrt(2 * n)) - 1),
    "greedy": lambda n: points.greedy(np.eye(3)[-1:], n, rng=0),
    "fibonacci": points.fibonacci,
    "partition": lambda n: PointSet(EqualMeasurePartition(2, n).centers()),
    "partition, relaxed": lambda n: points.relax(EqualMeasurePartition(2, n)),
}
colours = ["0.5", "#D55E00", "#CC79A7", "#5D3A9B", "#E69F00", "#0072B2", "0.1"]
figure = Figure(figsize=(8.4, 4.8), layout="constrained")
axes = figure.subplots()
for (name, make), colour in zip(kinds.items(), colours, strict=True):
    sets = [make(n) for n in (10, 30, 100, 300, 1000)]
    least = [special.cap_angle(2, -np.log(len(points))) for points in sets]
    ratios = [points.covering_interval().upper / angle for points, angle in zip(sets, least, strict=True)]
    axes.semilogx([len(points) for points in sets], ratios, "o-", color=colour, lw=2, label=f"{name}: {ratios[-1]:.2f}")
axes.set_xlabel("points", fontsize=13)
axes.set_ylabel("covering radius over that of a cap of area 1/N", fontsize=12)
figure.legend(frameon=False, fontsize=12, loc="outside right upper", title="at 1000 points")
axes.grid(color="0.9")
