r"""
The kernel of one token
=======================

A token with key b gives an input x the weight :math:`e^{\lambda \langle x, b \rangle}`, the density of von Mises and
Fisher: the larger the concentration, the narrower the bump. In high dimension nearly all of the sphere is near 90
degrees from the key, and the peak comes near :math:`e^\lambda` times the uniform density.
"""

import numpy as np
from matplotlib.figure import Figure

from spherapprox import VonMisesFisher

angle = np.linspace(-180.0, 180.0, 721)
figure = Figure(figsize=(8.4, 4.4), layout="constrained")
left, right = figure.subplots(1, 2)
for concentration, colour in ((1.0, "#56B4E9"), (5.0, "#0072B2"), (10.0, "#D55E00")):
    density = VonMisesFisher(2, concentration)(np.cos(np.radians(angle)))
    left.fill_between(angle, density, color=colour, alpha=0.25)
    left.plot(angle, density, color=colour, lw=2.5, label=rf"$\lambda$ = {concentration:g}")
left.set_title("On $S^2$", fontsize=14)
left.set_ylabel("density over the uniform one", fontsize=12)
for dim, colour in ((2, "#D55E00"), (8, "#E69F00"), (63, "#009E73")):
    kernel = VonMisesFisher(dim, 10.0)
    right.plot(angle, kernel(np.cos(np.radians(angle))), color=colour, lw=2.5, label=f"$S^{{{dim}}}$")
right.set_title("Concentration 10", fontsize=14)
right.set_yscale("log")
for axes in (left, right):
    axes.set_xlabel("angle to the key, degrees", fontsize=12)
    axes.set_xticks([-180, -90, 0, 90, 180])
    axes.legend(frameon=False, fontsize=12)
    axes.grid(color="0.9")
