"""
From 10⁶⁶⁸ tokens to 10¹⁰
=========================

How many tokens approximate every function on :math:`S^8` of Lipschitz constant 1 to 0.1? By the thesis, with the
constants that it leaves open set to 1, 10⁶⁶⁸ suffice; this library proves that 10¹⁰ do and 10⁸ do not.
"""

import numpy as np
from matplotlib.figure import Figure

import bounds
from bounds.report import plot

shown = {
    "thesis-core": ("thesis, core head", "#882255"),
    "sharp-core": ("core head, sharper kernel", "#0072B2"),
    "sharp-core-quadrature": ("core head, quadrature", "#0072B2"),
    "sharp-split-nearest": ("split head", "#D55E00"),
    "lower": ("necessary", "#333333"),
}
figure = Figure(figsize=(7.6, 4.2), layout="constrained")
axes = figure.subplots()
printed = bounds.theorems.state_all(jackson_constant=1.0)
rungs = bounds.ladder(0.1, dim=8, theorems=printed)
counts = {bound.theorem: bound.log10 for bound in rungs}
for place, (theorem, (_, colour)) in enumerate(shown.items()):
    tokens = counts[theorem]
    axes.barh(-place, tokens, color=colour)
    axes.annotate(
        f"$10^{{{tokens:.1f}}}$", (tokens, -place), (6, 0), textcoords="offset points", va="center", fontsize=15
    )
axes.set_xscale("log")
axes.set_yticks(-np.arange(len(shown)), [name for name, _ in shown.values()], fontsize=14)
axes.set(xlim=(1.0, 3000.0), xticks=[1, 10, 100, 1000])
axes.set_xticklabels([f"$10^{{{exponent}}}$" for exponent in (1, 10, 100, 1000)], fontsize=13)
axes.set_xlabel("tokens for error 0.1", fontsize=13)
axes.spines[["top", "right"]].set_visible(False)

# %%
# All theorems, over the error: those of the thesis as printed and corrected, this library's, and the floors.

every = plot.ladder_figure(bounds.report.evaluate_ladder(np.geomspace(0.5, 0.05, 25), dim=8, theorems=printed))

# %%
# And over the dimension of the sphere, for one error.

over_dim = plot.ladder_figure(bounds.report.evaluate_ladder(0.1, dim=[1, 2, 3, 4, 8, 16, 32, 64], theorems=printed))
