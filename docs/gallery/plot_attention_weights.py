"""
What a query attends to
=======================

A split head is softmax attention over a prefix: each query looks at the tokens near it, and averages their values. The
areas of the dots are the attention weights of one query, the cross, over 500 tokens.
"""

import numpy as np
from matplotlib.figure import Figure

from bounds.report import plot
from spherapprox import ClassicalHead, EqualMeasurePartition, sphere, targets

field, query = targets.geomagnetic_field(2025.0), sphere.from_latitude_longitude([45.0], [10.0])
figure = Figure(figsize=(8.6, 3.0), layout="constrained")
for place, concentration in enumerate((10.0, 100.0)):
    head = ClassicalHead.from_target(field, EqualMeasurePartition(2, 500), concentration)
    tokens, asking = head.prefix, head.embed(query)  # rows of Z
    logits = (asking @ head.query) @ (tokens @ head.key).T / np.sqrt(head.embedding_dim)
    weight = np.exp(logits - logits.max()).ravel()
    weight /= weight.sum()
    assert np.isclose(weight @ head.values, head(query)[0])
    axes = figure.add_subplot(1, 2, place + 1, projection="mollweide")
    marks = {"c": head.values, "s": 1.0 + 110.0 * weight / weight.max(), "cmap": "RdBu_r", "vmin": -67, "vmax": 67}
    dots = plot.draw_map(
        axes, points=head.control_points, marks=marks | {"linewidths": 0.4, "edgecolors": "0.3"}, coastlines=True
    ).points
    axes.plot(np.radians(10.0), np.radians(45.0), "x", color="black", ms=10, mew=2.5, zorder=4)
    axes.set_title(f"Concentration {concentration:g}: {head(query)[0]:.1f} µT", fontsize=13)
figure.colorbar(dots, ax=figure.axes, shrink=0.8).set_label("value, µT", size=12)
