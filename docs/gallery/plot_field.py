"""
The Earth's magnetic field in some thirty tokens
================================================

One attention head whose keys are points of the sphere computes the radial magnetic field of 2025 to 0.3 %. The search
moves the keys, chooses their values and one concentration, and picks the fewest tokens that suffice.
"""

from matplotlib.figure import Figure

from bounds.report import plot
from spherapprox import shortest_head, targets
from spherapprox.shortest import SearchOptions

field = targets.geomagnetic_field(2025.0)  # radial, in microtesla
search = shortest_head(field, 0.003, relative=True, search=SearchOptions(lower=False, starts=1))
print(search.head, search.error.lower)

# %%
# The head's own map, with a dot at each key.

figure = Figure(figsize=(8.0, 5.0), layout="constrained")
axes = figure.add_subplot(projection="mollweide")
image = plot.draw_map(axes, search.head, search.head.control_points, coastlines=True, vmin=-67, vmax=67).image
axes.set_title(f"The magnetic field, computed by {search.n} tokens", fontsize=16)
figure.colorbar(image, ax=axes, shrink=0.7, pad=0.03).set_label("microtesla", size=13)

# %%
# The truth, the head and the error, on its own scale.

maps = plot.maps_figure(search.head, field, search.error.lower)
