"""
One transformer, four prompts
=============================

An executor is a transformer with fixed weights that reads a ReLU network from its prompt and runs it. Four prompts make
the same weights compute four functions, each within a proven error.
"""

import numpy as np
from matplotlib.figure import Figure

from bounds.prompts import executor_budget
from spherapprox.prompts.executor import ReluNetwork

networks = {
    "ridge": ReluNetwork([[[1.0, 1.0], [-1.0, -1.0]], [[-0.5, -0.5]]], [[0.0, 0.0], [0.5]]),
    "corner": ReluNetwork([[[1.0, 1.0], [1.0, -1.0]], [[0.5, -0.5]]], [[-0.5, -0.5], [0.0]]),
    "roof": ReluNetwork([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], [[0.5, -1.0, 0.5]]], [[0.0, 0.0, 0.0], [0.0]]),
    "plane": ReluNetwork([[[0.5, 0.0]]], [[0.0]]),
}
budget = executor_budget((2, 4, 1), 0.03)
executor = budget.executor()

axis = np.linspace(-1.0, 1.0, 33)
x = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
figure = Figure(figsize=(8.8, 2.7), layout="constrained")
for axes, (name, network) in zip(figure.subplots(1, 4), networks.items(), strict=True):
    values = executor.run(executor.encode(network), x)
    error = np.abs(values - network(x)).max()
    assert error <= budget.bound.value
    image = axes.imshow(values.reshape(33, 33), origin="lower", cmap="RdBu_r", vmin=-0.6, vmax=0.6,
                        interpolation="bicubic")  # fmt: skip
    axes.set(xticks=[], yticks=[], title=f"{name}, error {error:.3f}")
figure.suptitle(f"{executor.n_weights} weights, the same four times; proven: error at most {budget.bound.value:.3f}")
