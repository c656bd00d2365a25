"""
A frozen layer draws the magnetic field
=======================================

A ``torch.nn.MultiheadAttention`` of random weights, which nobody trains, gets a prefix in closed form and computes the
magnetic field. Needs ``torch``.
"""

import numpy as np
import torch
from matplotlib.figure import Figure

from bounds.report.plot.maps import draw_map, map_points
from spherapprox import shortest_head, targets
from spherapprox.prompts.prefix.torch_modules import program_module
from spherapprox.shortest import SearchOptions

field = targets.geomagnetic_field(2025.0)
head = shortest_head(field, 0.03, relative=True, search=SearchOptions(lower=False, starts=1)).head

torch.manual_seed(0)
layer = torch.nn.MultiheadAttention(64, 4, batch_first=True, dtype=torch.float64).eval()
rng = np.random.default_rng(0)
embedding, readout = np.linalg.qr(rng.standard_normal((64, 3)))[0], rng.standard_normal(64) / 8.0
shift = 0.3 * rng.standard_normal(64)
module = program_module(layer, head, embedding=embedding, readout=readout, shift=shift, offset=30.0)

# %%
# The layer without the prefix, and with it: the weights are the same.

x = map_points(91)
with torch.no_grad():
    inputs = torch.tensor(x @ embedding.T + shift)[:, None]  # (points, 1 token, 64)
    before = layer(inputs, inputs, inputs)[0][:, 0].numpy() @ readout
    # rows are one sequence, whose cost is quadratic: a thousand at a time
    after = torch.cat([module(rows) for rows in torch.tensor(x).split(1000)]).numpy()
figure = Figure(figsize=(8.6, 3.0), layout="constrained")
alone = f"Frozen layer: all within {np.abs(before).max():.1g}"
for place, (values, title) in enumerate(((before, alone), (after, f"With {len(head)} tokens before its input"))):
    axes = figure.add_subplot(1, 2, place + 1, projection="mollweide")
    style = {"cmap": "RdBu_r", "vmin": -67, "vmax": 67}
    image = draw_map(axes, values.reshape(91, -1), coastlines=True, **style).image
    axes.set_title(title, fontsize=13)
figure.colorbar(image, ax=figure.axes, shrink=0.8).set_label("µT", size=12)
