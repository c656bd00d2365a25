"""
Ten thousand tokens, compressed
===============================

A head in closed form stores the function at 10 000 points. ``compress`` finds a few tokens with keys of their own
lengths that compute the same to 1 %.
"""

import numpy as np
from matplotlib.figure import Figure

from bounds.report import plot
from spherapprox import EqualMeasurePartition, SplitHead, shortest_head, targets
from spherapprox.shortest import SearchOptions, TokenFormat

field = targets.geomagnetic_field(2025.0)
long = SplitHead.from_target(field, EqualMeasurePartition(2, 10_000), 1500.0)
short = shortest_head(
    long, 0.01, relative=True, tokens=TokenFormat(keys="free"), search=SearchOptions(lower=False, starts=1)
)

figure = Figure(figsize=(8.6, 3.0), layout="constrained")
for place, (head, size) in enumerate(((long, 1.5), (short.head, 60.0))):
    axes = figure.add_subplot(1, 2, place + 1, projection="mollweide")
    marks = {"c": head.values, "s": size, "cmap": "RdBu_r", "vmin": -67, "vmax": 67, "linewidths": 0.7 * place}
    dots = plot.draw_map(axes, points=head.control_points, marks=marks).points
    axes.set_title(f"{len(head):,} tokens".replace(",", " "), fontsize=15)
figure.colorbar(dots, ax=figure.axes, shrink=0.8, extend="both").set_label("value, µT", size=12)
print(f"they differ by at most {short.error.lower:.3g} of {np.abs(long.values).max():.3g} microtesla")
