"""
Ten thousand tokens, compressed
===============================

A head in closed form stores the function at 10 000 points. ``compress`` finds a few tokens with keys of their own
lengths that compute the same to 1 %.
"""

import numpy as np
from matplotlib.figure import Figure

from spherapprox import EqualMeasurePartition, SplitHead, shortest_head, sphere, targets
from spherapprox.shortest import SearchOptions, TokenFormat

field = targets.geomagnetic_field(2025.0)
long = SplitHead.from_target(field, EqualMeasurePartition(2, 10_000), 1500.0)
found = shortest_head(
    long, 0.01, relative=True, tokens=TokenFormat(keys="free"), search=SearchOptions(lower=False, starts=1)
)

figure = Figure(figsize=(8.6, 3.0), layout="constrained")
for place, (head, size) in enumerate(((long, 1.5), (found.head, 60.0))):
    axes = figure.add_subplot(1, 2, place + 1, projection="mollweide")
    north, east = np.radians(sphere.to_latitude_longitude(head.control_points))
    dots = axes.scatter(east, north, c=head.values, s=size, cmap="RdBu_r", vmin=-67.0, vmax=67.0,
                        edgecolors="black", linewidths=0.0 if place == 0 else 0.7)  # fmt: skip
    axes.set(xticks=[], yticks=[])
    axes.set_title(f"{len(head):,} tokens".replace(",", " "), fontsize=15)
figure.colorbar(dots, ax=figure.axes, shrink=0.8, extend="both").set_label("value, µT", size=12)
print(f"they differ by at most {found.error.lower:.3g} of {np.abs(long.values).max():.3g} microtesla")
