"""
A mixture of three densities
============================

Samples of three von Mises-Fisher distributions, over the density of their mixture. ``VonMisesFisher`` draws, fits and
has densities at any dimension and concentration.
"""

import numpy as np
from matplotlib.figure import Figure

from bounds.report import plot
from spherapprox import VonMisesFisher, sphere

means = sphere.from_latitude_longitude([30.0, -20.0, 5.0], [-70.0, 20.0, 110.0])
parts = [VonMisesFisher(mean, rate) for mean, rate in zip(means, (60.0, 8.0, 25.0), strict=True)]
shares = np.array([0.25, 0.45, 0.3])

draws = [part.rvs(int(400 * share), random_state=i) for i, (share, part) in enumerate(zip(shares, parts, strict=True))]

figure = Figure(figsize=(7.6, 4.4), layout="constrained")
axes = figure.add_subplot(projection="mollweide")
image = plot.draw_map(
    axes, lambda x: sum(share * part.pdf(x) for share, part in zip(shares, parts, strict=True)), np.concatenate(draws),
    marks={"s": 7.0, "color": "white", "linewidths": 0.3}, cmap="magma",
).image  # fmt: skip
axes.set_title("Density of a mixture, and 400 draws", fontsize=15)
figure.colorbar(image, ax=axes, shrink=0.7).set_label("density per steradian", size=12)

# %%
# Fits of the three parts: concentrations near 60, 8 and 25.

for rows in draws:
    direction, fitted = VonMisesFisher.fit(rows)
    print(direction.round(2), round(fitted.concentration, 1))
