"""
Attention sorts
===============

Two attention layers whose prefix holds control sequences compute functions of several tokens. Here they sort pairs of
directions of the circle: the picture is the first of the sorted pair, over both inputs.
"""

import numpy as np
from matplotlib.figure import Figure

from spherapprox import EqualMeasurePartition
from spherapprox.prompts.sequences import SequenceHead


def pairs(n):
    """Return the pairs (n, n, 2, 2) of n directions of the circle, their angles from -pi to pi."""
    angle = np.linspace(-np.pi, np.pi, n)
    rows = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.stack(np.broadcast_arrays(rows[:, None], rows[None]), axis=2)


def by_height(x):
    """Sort directions (batch, T, 2) by their second coordinate."""
    return np.take_along_axis(x, np.argsort(x[..., 1:], axis=1), axis=1)


figure = Figure(figsize=(8.8, 2.9), layout="constrained")
inputs = pairs(181).reshape(-1, 2, 2)
heads = [SequenceHead.from_target(by_height, EqualMeasurePartition(1, n), n**2 / 12.0, length=2) for n in (12, 60)]
titles = ["Sorted", *(f"{head.n_tokens} tokens" for head in heads)]
for axes, function, title in zip(figure.subplots(1, 3), [by_height, *heads], titles, strict=True):
    first = function(inputs)[:, 0]
    image = axes.imshow(np.degrees(np.arctan2(first[:, 1], first[:, 0])).reshape(181, 181), cmap="twilight",
                        vmin=-180, vmax=180, extent=(-180, 180, -180, 180), origin="lower")  # fmt: skip
    axes.set_title(title, fontsize=14)
    axes.tick_params(labelsize=11)
    axes.set(xticks=[-180, 0, 180], yticks=[-180, 0, 180], xlabel="second input, degrees")
figure.axes[0].set_ylabel("first input, degrees")
figure.colorbar(image, ax=figure.axes, shrink=0.8).set_label("first output, degrees")
