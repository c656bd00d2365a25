"""One transformer, five prompts: functions that an executor computes, and its error beside the bound it has to keep.

An executor of sizes 2, 16, 16, 1 is made from the budget for an error eps, as a module of torch, and gets five prompts:
a sine, a step, the exclusive or, a network that was trained, and the identity, all on the square [-1, 1]^2. Its weights
are compared before and after. The table has the largest error at random points and corners of each prompt, the proven
bound, and what torch adds in both precisions; the script fails where an error exceeds the bound, or the bound eps. The
figure has the functions as the module computes them, and errors against eps; some four minutes on one core::

    python benchmarks/executor.py --out docs/executor.png
"""

from __future__ import annotations

import argparse
import copy
import itertools
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _one_thread  # noqa: F401 - before NumPy, which reads the limits
import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from tabulate import tabulate
from timing import machine
from tqdm import tqdm

from bounds.prompts import ExecutorBudget, executor_budget
from spherapprox.prompts.executor import ReluNetwork

Array = NDArray[np.float64]

SIZES = (2, 16, 16, 1)
EPS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
COLOURS = {"sine": "#0072B2", "step": "#D55E00", "xor": "#009E73", "trained": "#CC79A7", "identity": "#222222"}
LABELS = {"sine": "sine", "step": "step", "xor": "exclusive or", "trained": "trained network", "identity": "identity"}


def trained() -> ReluNetwork:
    """Train a network for sin(3 x) y / 2 by Adam."""
    torch.manual_seed(0)
    nn = torch.nn
    mlp = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)).double()
    x = torch.rand(2000, 2, dtype=torch.float64) * 2.0 - 1.0
    wanted = 0.5 * torch.sin(3.0 * x[:, :1]) * x[:, 1:]
    optimizer = torch.optim.Adam(mlp.parameters(), 1e-2, weight_decay=1e-4)
    for _ in range(800):
        optimizer.zero_grad()
        ((mlp(x) - wanted) ** 2).mean().backward()
        optimizer.step()
    return ReluNetwork.from_torch(mlp)


def networks() -> dict[str, ReluNetwork]:
    """Return the five networks, of at most these sizes."""
    knots = np.linspace(-1.0, 1.0, 16)
    along = {
        "sine": ReluNetwork.piecewise_linear(knots, 0.5 * np.sin(3.0 * knots)),
        "step": ReluNetwork.piecewise_linear([-0.25, 0.25], [-0.5, 0.5]),
    }
    found = {  # of the first variable
        name: ReluNetwork([np.pad(network.weights[0], [(0, 0), (0, 1)]), network.weights[1]], network.biases)
        for name, network in along.items()
    }
    # for signs x and y, z = |x - y| is 0 or 2, and z - 1 is cut off at -1/2 and 1/2
    rows = [[1.0, -1.0], [-1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, -1.0]]
    found["xor"] = ReluNetwork(rows, [[0.0, 0.0], [-0.5, -1.5], [-0.5]])
    found["trained"] = trained()
    found["identity"] = ReluNetwork([[[1.0, 0.0]]], [[0.0]])
    return found


@dataclass(frozen=True)
class Result:
    """What was measured for one eps: the largest error of each prompt, and what torch adds."""

    eps: float
    budget: ExecutorBudget
    weights: int
    errors: dict[str, float]
    torch_errors: dict[str, float]
    seconds: float


def points(count: int) -> Array:
    """Return random points of the square, and its corners."""
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=2)))
    return np.concatenate([corners, np.random.default_rng(0).uniform(-1.0, 1.0, (count, 2))])


def measured(eps: float, of: dict[str, ReluNetwork], options: dict[str, Any], count: int) -> Result:
    """Return the errors for one eps, and fail where one is too large or weights have changed."""
    budget = executor_budget(SIZES, eps, **options)
    executor = budget.executor()
    x = points(count)
    start = time.perf_counter()
    prompts = {name: executor.encode(network) for name, network in of.items()}
    outputs = {name: executor.run(prompt, x) for name, prompt in prompts.items()}
    seconds = time.perf_counter() - start
    errors = {name: float(np.abs(outputs[name] - network(x)).max()) for name, network in of.items()}
    if not max(errors.values()) <= budget.bound.value <= eps:
        raise SystemExit(f"an error exceeds the bound, or the bound eps: {errors}, {budget.bound}")
    added = {}
    for dtype in (torch.float64, torch.float32):
        module = executor.to_torch(dtype=dtype)
        before = copy.deepcopy(module.state_dict())
        found = {name: module(prompt, x[:8]).double().numpy() for name, prompt in prompts.items()}
        if any(not torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items()):
            raise SystemExit("weights have changed")
        added[str(dtype)] = max(float(np.abs(found[name] - outputs[name][:8]).max()) for name in of)
    return Result(eps, budget, executor.n_weights, errors, added, seconds)


def maps(of: dict[str, ReluNetwork], options: dict[str, Any], cells: int) -> dict[str, Array]:
    """Return the functions on a grid as one module of torch computes them, for eps = 0.1."""
    executor = executor_budget(SIZES, 0.1, **options).executor()
    module = executor.to_torch(dtype=torch.float32)
    axis = np.linspace(-1.0, 1.0, cells)
    x = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return {
        name: module(executor.encode(network), x).double().numpy().reshape(cells, cells)
        for name, network in tqdm(of.items(), desc="maps")
    }


def drawn(results: list[Result], functions: dict[str, Array]) -> Figure:
    """Draw the functions above, and errors against eps below."""
    figure = Figure(figsize=(5.6, 6.6), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.0, 2.9))
    for panel, (name, values) in zip(top.subplots(1, len(functions)), functions.items(), strict=True):
        panel.imshow(values, origin="lower", cmap="RdBu_r", vmin=-0.55, vmax=0.55, extent=(-1, 1, -1, 1))
        panel.set_title(LABELS[name].replace("trained ", "trained\n").replace("exclusive ", "exclusive\n"), fontsize=12,
                        color=COLOURS[name])  # fmt: skip
        panel.set_xticks([])
        panel.set_yticks([])
    figure.suptitle("One transformer, five prompts, no weight changed", fontsize=14.5, x=0.03, ha="left")
    panel = bottom.subplots()
    eps = [result.eps for result in results]
    panel.loglog(eps, eps, color="0.6", lw=1.2, ls="--")
    panel.loglog(eps, [result.budget.bound.value for result in results], "_", color="#222222", ms=18, mew=2.0)
    for name, colour in COLOURS.items():
        panel.loglog(eps, [result.errors[name] for result in results], "o-", color=colour, lw=1.6, ms=5)
    panel.text(eps[-1], 0.35, "asked for (dashes)\nand proven (bars)", fontsize=12, linespacing=1.4)
    ends = sorted((results[0].errors[name], name) for name in COLOURS)
    place = 0.0
    for value, name in ends:
        place = max(value, 2.0 * place)
        panel.text(1.25 * eps[0], place, LABELS[name], color=COLOURS[name], fontsize=12, va="center")
    panel.set_xlim(0.6 * eps[-1], 18.0 * eps[0])
    panel.set_xlabel("error that was asked for, eps", fontsize=13)
    panel.set_title("Largest error of each function", fontsize=13, loc="left")
    panel.set_xticks([1e-3, 1e-2, 1e-1, 1.0])
    panel.minorticks_off()
    panel.tick_params(labelsize=12)
    panel.grid(color="0.92")
    panel.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    """Print the table and write the figure, whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("executor.png"))
    parser.add_argument("--quick", action="store_true", help="three errors, fewer points")
    arguments = parser.parse_args()
    of = networks()
    padded = [network.padded(SIZES) for network in of.values()]
    options = {
        "weight_bound": max(network.largest for network in padded),
        "row_bound": [max(rows) for rows in zip(*(network.row_sums for network in padded), strict=True)],
    }
    print(machine("numpy", "torch"))
    print(
        f"bounds of all five: weights {options['weight_bound']:.3g}, sums of rows", *np.round(options["row_bound"], 3)
    )
    every = EPS[:5:2] if arguments.quick else EPS
    results = [measured(eps, of, options, 500 if arguments.quick else 20_000) for eps in tqdm(every, desc="errors")]
    rows = [
        [f"{r.eps:g}", f"{r.weights / 1e6:.1f}", r.budget.segments, f"{r.budget.bound.value:.4g}",
         *(f"{r.errors[name]:.1e}" for name in of), *(f"{value:.0e}" for value in r.torch_errors.values()),
         f"{r.seconds:.2f}"]
        for r in results
    ]  # fmt: skip
    header = ["eps", "million weights", "segments", "bound", *LABELS.values(), "torch, 64 bits", "32 bits", "seconds"]
    print(tabulate(rows, header, disable_numparse=True))
    functions = maps(of, options, 9 if arguments.quick else 45)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    drawn(results, functions).savefig(unfinished := arguments.out.with_suffix(".part"), dpi=150, format="png")
    os.replace(unfinished, arguments.out)
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
