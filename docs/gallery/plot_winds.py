"""
Roses of winds
==============

Directions of winds at one place in two seasons, simulated. A sector's area is its share of the hours, and the black
curve is a fitted density on the same scale. The red line is the mean direction, the arc its 95 % confidence.
"""

import numpy as np
from matplotlib.figure import Figure

from spherapprox import VonMisesFisher, directional, sphere

summer = sphere.from_polar(np.radians([[240.0]]))[0], sphere.from_polar(np.radians([[60.0]]))[0]
hours = {
    "Summer": np.concatenate([VonMisesFisher(summer[0], 3.0).rvs(260, random_state=0),
                              VonMisesFisher(summer[1], 8.0).rvs(90, random_state=1)]),
    "Winter": VonMisesFisher(sphere.from_polar(np.radians([[290.0]]))[0], 1.4).rvs(350, random_state=2),
}  # fmt: skip

figure = Figure(figsize=(9.2, 4.9), layout="constrained")
for ax, (season, winds) in zip(figure.subplots(1, 2, subplot_kw={"projection": "polar"}), hours.items(), strict=True):
    directional.draw_rose(winds, VonMisesFisher.fit(winds)[1], sectors=24, color="#56B4E9", ax=ax)
    ax.set_title(season, fontsize=14)

# %%
# One curve does not fit the summer: its sea breeze and land breeze are two.

for season, winds in hours.items():
    print(season, round(directional.goodness_of_fit(winds, VonMisesFisher, rng=0).pvalue, 3))
