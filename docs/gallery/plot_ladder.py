"""
From 10 to the 668 tokens to 10 to the 9
========================================

How many tokens approximate every function on :math:`S^8` with Lipschitz constant 1? Each curve is a theorem: those of
the thesis as printed and corrected, this library's, and the floors below which no head can be.
"""

import numpy as np

import bounds
from bounds import plot

eps = np.geomspace(0.5, 0.05, 25)
figure = plot.ladder_figure(bounds.rungs.curves(eps, dim=8, ragozin=1.0))

# %%
# The same for one error over the dimension of the sphere.

over_dim = plot.ladder_figure(bounds.rungs.curves(0.1, dim=[1, 2, 3, 4, 8, 16, 32, 64], ragozin=1.0))
