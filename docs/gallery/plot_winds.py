"""
Roses of winds
==============

Directions of winds at one place in two seasons, simulated. A sector's area is its share of the hours, and the black
curve, a mixture of two distributions, is on the same scale. The red line is the mean direction, with its arc of 95 %
confidence.
"""

import numpy as np
from matplotlib.figure import Figure

from spherapprox import VonMisesFisher, directional, sphere

sea, land, west = sphere.from_polar(np.radians([[240.0], [60.0], [290.0]]))
breezes = [VonMisesFisher(sea, 3.0).rvs(260, random_state=0), VonMisesFisher(land, 8.0).rvs(90, random_state=1)]
hours = {"Summer": np.concatenate(breezes), "Winter": VonMisesFisher(west, 1.4).rvs(350, random_state=2)}

figure = Figure(figsize=(9.2, 4.9), layout="constrained")
for ax, (season, winds) in zip(figure.subplots(1, 2, subplot_kw={"projection": "polar"}), hours.items(), strict=True):
    mixture = directional.VonMisesFisherMixture(2, random_state=0).fit(winds)
    directional.draw_rose(winds, mixture, sectors=24, color="#56B4E9", ax=ax)
    ax.set_title(season, fontsize=14)

# %%
# One von Mises-Fisher distribution does not fit the summer, whose breezes come from land and sea.

for season, winds in hours.items():
    print(season, round(directional.goodness_of_fit(winds, VonMisesFisher, rng=0).pvalue, 3))
