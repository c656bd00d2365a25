"""
Too wide, too narrow: the concentration
=======================================

A head with wide kernels smears the function, one with narrow kernels jumps from point to point: in between lies the
best concentration. Theory finds it without measuring an error, by a bound of second order.
"""

import numpy as np
from matplotlib.figure import Figure

import bounds
from spherapprox import EqualMeasurePartition, SplitHead, sup_error, targets

target = targets.zonal_harmonic(2, 3)
figure = Figure(figsize=(7.6, 4.8), layout="constrained")
axes = figure.subplots()
for n, colour in ((30, "#56B4E9"), (300, "#0072B2"), (3000, "#D55E00")):
    cells = EqualMeasurePartition(2, n)
    rates = n * np.geomspace(0.01, 10.0, 13)
    errors = [sup_error(SplitHead.from_target(target, cells, rate), target, n=1000).lower for rate in rates]
    axes.loglog(rates, errors, color=colour, lw=2.5, label=f"{n} tokens")
    best = bounds.best_concentration(target=target, points=cells, theorem="second-order-local").concentration
    error = sup_error(SplitHead.from_target(target, cells, best), target, n=1000).lower
    axes.plot(best, error, "*", color=colour, ms=18, mec="black")
axes.plot([], [], "*", color="white", mec="black", ms=14, label="chosen by theory")
axes.set_xlabel("concentration $\\lambda$", fontsize=13)
axes.set_ylabel("largest error", fontsize=13)
axes.set_title("Error of split heads for the third zonal harmonic", fontsize=14)
axes.legend(frameon=False, fontsize=12)
axes.grid(color="0.9")
