"""
Noisy data: do not interpolate
==============================

A head that goes through all noisy values repeats their noise. ``fit`` chooses concentration and regularisation by
cross-validation and finds the function again.
"""

import numpy as np
from matplotlib.figure import Figure

from bounds.report import plot
from spherapprox import CoreHead, points, targets

target = targets.zonal_harmonic(2, 4)
x, elsewhere = (points.uniform(2, n, rng=n).points for n in (600, 2000))
y = target(x) + 0.3 * np.random.default_rng(0).standard_normal(600)
through = CoreHead.from_target(lambda _: y, x, 100.0, "interpolation")
fitted = CoreHead.fit(x, y, n=600)

colours = {"cmap": "PiYG", "vmin": -1.0, "vmax": 1.0}
figure = Figure(figsize=(8.4, 5.2), layout="constrained")
shown = {"Truth": target, "600 values with noise 0.3": None, "Interpolation": through, "Regression": fitted}
for place, (title, function) in enumerate(shown.items()):
    axes = figure.add_subplot(2, 2, place + 1, projection="mollweide")
    if function is None:
        plot.draw_map(axes, points=x, marks={"c": y, "s": 9.0, "edgecolors": "none"} | colours)
    else:
        image = plot.draw_map(axes, function, resolution=91, **colours).image
        rms = np.sqrt(np.mean((function(elsewhere) - target(elsewhere)) ** 2))
    axes.set_title(title if function in (None, target) else f"{title}: rms error {rms:.2f}", fontsize=13)
figure.colorbar(image, ax=figure.axes, shrink=0.7, extend="both").set_label("value", size=12)
