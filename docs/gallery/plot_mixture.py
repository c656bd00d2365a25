"""
A mixture of three densities
============================

Samples of three von Mises-Fisher distributions, and the density of the mixture that is fitted to them. Nobody says
which point came from where.
"""

import numpy as np
from matplotlib.figure import Figure

from spherapprox import VonMisesFisher, directional, sphere

means = sphere.from_latitude_longitude([30.0, -20.0, 5.0], [-70.0, 20.0, 110.0])
parts = [VonMisesFisher(mean, rate) for mean, rate in zip(means, (60.0, 8.0, 25.0), strict=True)]
counts = (100, 180, 120)
draws = np.concatenate([part.rvs(n, random_state=n) for n, part in zip(counts, parts, strict=True)])

mixture = directional.VonMisesFisherMixture(3, random_state=0).fit(draws)

figure = Figure(figsize=(7.6, 3.9), layout="constrained")
axes = figure.add_subplot(projection="mollweide")
directional.draw_globe(mixture, draws, ax=axes, cmap="Blues", color="0.15", markersize=2.0)
axes.set_title("400 points, and the mixture fitted to them", fontsize=15)
figure.colorbar(axes.collections[0], ax=axes, shrink=0.7).set_label("density per steradian", size=12)

# %%
# Its three parts: share, latitude and longitude of the mean, concentration. The samples are 0.25, 0.3 and 0.45 of the
# points, and were drawn with concentrations 60, 25 and 8.

for i in np.argsort(mixture.weights_):
    place = sphere.to_latitude_longitude(mixture.means_[i])
    print(mixture.weights_[i].round(2), np.round(place), mixture.concentrations_[i].round(1))
