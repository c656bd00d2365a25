"""
The Earth's magnetic field in some thirty tokens
================================================

One attention head whose keys are points of the sphere computes the radial magnetic field of 2025 to 0.3 %. The search
moves the keys, chooses their values and one concentration, and picks the fewest tokens that suffice.
"""

import numpy as np
from matplotlib.figure import Figure

from bounds.report import plot
from bounds.report.plot.maps import draw_coastlines, map_grid
from spherapprox import shortest_head, sphere, targets
from spherapprox.shortest import SearchOptions

field = targets.geomagnetic_field(2025.0)  # radial, in microtesla
found = shortest_head(field, 0.003, relative=True, search=SearchOptions(lower=False, starts=1))
print(found.head, found.error.lower)

# %%
# The head's own map, with a dot at each key.

latitude, longitude, x = map_grid(181)
figure = Figure(figsize=(8.0, 5.0), layout="constrained")
axes = figure.add_subplot(projection="mollweide")
image = axes.pcolormesh(np.radians(longitude), np.radians(latitude), found.head(x).reshape(181, -1), cmap="RdBu_r",
                        vmin=-67.0, vmax=67.0, shading="gouraud", rasterized=True)  # fmt: skip
draw_coastlines(axes)
south_north, west_east = np.radians(sphere.to_latitude_longitude(found.head.control_points))
axes.scatter(west_east, south_north, s=45.0, color="#E69F00", edgecolors="black", zorder=3)
axes.set(xticks=[], yticks=[])
axes.set_title(f"The magnetic field, computed by {found.n} tokens", fontsize=16)
figure.colorbar(image, ax=axes, shrink=0.7, pad=0.03).set_label("microtesla", size=13)

# %%
# The truth, the head and the error, on its own scale.

maps = plot.maps_figure(found.head, field, found.error.lower)
