"""
Two polarities on an equal-area net
===================================

Directions of magnetisation at 44 sites, simulated: the field was normal while 26 of them cooled, and reversed for 18.
Those that point up are open; stars are means, circles their cones of 95 % confidence.
"""

import numpy as np
from matplotlib.figure import Figure

from spherapprox import VonMisesFisher, directional, sphere

field = sphere.from_declination_inclination(12.0, 55.0)
normal = VonMisesFisher(field, 35.0).rvs(26, random_state=0)
reversed_sites = VonMisesFisher(-field, 35.0).rvs(18, random_state=1)

figure = Figure(figsize=(9.2, 4.9), layout="constrained")
axes = figure.subplots(1, 2)
for x, colour, name in ((normal, "#0072B2", "normal"), (reversed_sites, "#D55E00", "reversed")):
    directional.draw_net(x, cones=directional.confidence_cone(x), color=colour, label=name, ax=axes[0])
axes[0].legend(loc="upper right", frameon=False)
axes[0].set_title("As measured")

together = np.concatenate([normal, -reversed_sites])
direction, fitted = VonMisesFisher.fit(together)
cone = directional.confidence_cone(together)
directional.draw_net(together, fitted, cone, color="#0072B2", markersize=4.0, ax=axes[1])
axes[1].set_title("Reversed sites turned over")

# %%
# Before they are put together: do both groups have one mean axis, and one concentration?

print("same mean:", round(directional.same_mean(normal, -reversed_sites).pvalue, 2))
print("same concentration:", round(directional.same_concentration(normal, -reversed_sites).pvalue, 2))
print("D, I:", *np.round(sphere.to_declination_inclination(direction), 1), "a95:", round(np.degrees(cone[1]), 1))

# %%
# Axes: poles of the bedding of a fold, simulated, lie about a great circle. Its pole, the star, is the fold's axis. A
# Wulff net keeps angles, a Schmidt net areas: density is compared on the second.

folds = directional.Watson(sphere.from_azimuth_plunge(70.0, 25.0), -25.0)
poles = folds.rvs(90, rng=3)
fitted_folds = directional.Watson.fit(poles)

nets = Figure(figsize=(9.2, 4.9), layout="constrained")
for ax, net in zip(nets.subplots(1, 2), ("wulff", "schmidt"), strict=True):
    plane = fitted_folds.axis, np.pi / 2
    directional.draw_net(poles, fitted_folds, plane, net=net, axial=True, color="#009E73", markersize=4.0, ax=ax)
    ax.set_title(f"{net.capitalize()} net")
