"""Programs for recurrent models: noise of weights, the magnetic field by one LSTM, prompts against bounds, seconds.

1. Gaussian noise on all weights that are not 0 of a dictionary (keys of 10 tokens, vocabulary 20, 20 pairs, 4 queries),
   and the share of wrong tokens, for plain and robust programs. (conditionals.py does it for the thesis's listings.)
2. The Earth's magnetic field at 300 tokens: one torch.nn.LSTM that reads an attention head's prompt, beside the head.
3. Lengths of prompts: the error of `Grid` and `Extension` on |x - 0.4| on [0, 1]^2, what
   is proven for all functions of Lipschitz constant 1, and what is needed by any model.
4. Seconds of the compiled kernel, of torch.nn.LSTM, and of NumPy with one product of matrices for each layer.

Some two minutes; ``--quick`` takes 20 seconds::

    python benchmarks/recurrent.py --out docs/recurrent.png
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from listings import noisy
from matplotlib.figure import Figure
from numpy.typing import NDArray
from tabulate import tabulate
from timing import Timed, machine
from tqdm import tqdm

from bounds.prompts.recurrent import prompt_length
from spherapprox import EqualMeasurePartition, SplitHead, sphere, targets
from spherapprox.prompts.recurrent import Network
from spherapprox.prompts.recurrent.programs import Dictionary, Extension, Grid, KernelSum

Array = NDArray[np.float64]

SIGMAS = (0.0, 1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3)
SPACINGS = (0.8, 0.4, 0.2, 0.1)
CELLS = (4, 8, 16, 32)
BLUE, RED, DARK, GREEN = "#0072B2", "#D55E00", "#222222", "#009E73"


def noise(seeds: int) -> list[list[float]]:
    """Return rows of sigma and the shares of wrong tokens, plain and robust."""
    rows = []
    for sigma in tqdm(SIGMAS, desc="noise"):
        wrong: list[list[float]] = [[], []]
        for seed, robust in product(range(seeds), (False, True)):
            rng = np.random.default_rng(seed)
            keys = rng.permutation(np.unique(rng.integers(1, 21, (30, 10)), axis=0))[:20]
            values = rng.integers(1, 21, keys.shape)
            model, chosen = Dictionary(10, 20, robust), rng.integers(0, 20, 4)
            x = model.sequences(keys[chosen], model.prompt(keys, values))
            with np.errstate(over="ignore"):
                answers = model.answers(noisy(model.network, sigma, rng)(x))
            wrong[robust].append(float(np.mean(np.rint(answers) != values[chosen])))
        rows.append([sigma, *(float(np.mean(each)) for each in wrong)])
    return rows


def field(spacings: tuple[float, ...], n: int) -> tuple[list[list[float]], float]:
    """Return rows of a spacing, the width, and the largest errors against the head, by program and by LSTM."""
    function = targets.geomagnetic_field(2025.0)
    head = SplitHead.from_target(function, EqualMeasurePartition(2, 300), 60.0)
    x, rows = sphere.uniform(2, n, rng=0), []
    for spacing in tqdm(spacings, desc="field"):
        model = KernelSum(2, 1, spacing, bound=128.0, length=300)
        prompt = model.prompt(head)
        ours = model.run(x, prompt)[:, 0]
        module = model.network.to_torch("lstm")
        lstm = np.concatenate(
            [
                model.answers(module(torch.tensor(model.sequences(part, prompt))).numpy())
                for part in np.array_split(x, 8)
            ]
        )[:, 0]
        rows.append([spacing, model.network.width, float(abs(ours - head(x)).max()), float(abs(lstm - head(x)).max())])
    return rows, float(abs(head(x) - np.asarray(function(x)).reshape(-1)).max())


def lengths(cells: tuple[int, ...]) -> list[list[float]]:
    """Return rows of N, errors of grid and extension on a function, and eps of N tokens by theorem."""

    def function(x: Array) -> Array:
        return np.asarray(np.linalg.norm(x - 0.4, axis=1))

    x, rows, slope = np.random.default_rng(0).random((4000, 2)), [], 2.0**20
    for count in cells:
        centres = (np.array(list(product(range(count), repeat=2))) + 0.5) / count
        cellular, central = Grid(2, 1, slope), Extension(2, 1, np.sqrt(2.0))
        by_grid = abs(cellular.run(x, cellular.prompt(function, count))[:, 0] - function(x)).max()
        by_extension = abs(central.run(x, central.prompt(centres, function(centres)))[:, 0] - function(x)).max()
        rows.append([float(count**2), float(by_grid), float(by_extension), np.sqrt(0.5) / count])
    return rows


def needed(eps: Array, theorem: str) -> Array:
    """Return numbers of tokens for errors eps, L = 1 in the Euclidean norm."""
    return np.array([prompt_length(float(each), dim=2, theorem=theorem, norm="euclidean").value for each in eps])


def layer_by_layer(network: Network, x: Array) -> Array:
    """Return the outputs of a network by NumPy: for each layer a product with all steps, then a loop."""
    values = x
    for layer in network.layers:
        first = values @ layer.weight.T + layer.bias
        if layer.op == "product":
            values = first * (values @ layer.other.T + layer.other_bias)
            continue
        if layer.recurrent.any():
            state = np.broadcast_to(layer.start, first[:, 0].shape)
            for t in range(first.shape[1]):
                state = state @ layer.recurrent.T + first[:, t]
                first[:, t] = state = np.maximum(state, 0.0) if layer.op == "relu" else state
        elif layer.op == "relu":
            np.maximum(first, 0.0, out=first)
        values = first
    return np.asarray(values @ network.readout.T + network.readout_bias)


def ratios(steps: int, rounds: int) -> list[list[Any]]:
    """Return seconds of the kernel, of torch.nn.LSTM and of NumPy on a dictionary's sequences, one thread each."""
    torch.set_num_threads(1)
    rng, rows = np.random.default_rng(0), []
    for length, batch in ((10, 1), (10, 8)):
        keys = rng.permutation(np.unique(rng.integers(1, 21, (steps // 20 + 50, length)), axis=0))[: steps // 20]
        model = Dictionary(length, 20)
        x = model.sequences(np.resize(keys, (batch, length)), model.prompt(keys, keys[::-1]))
        module, tensor = model.network.to_torch("lstm"), torch.tensor(x)
        calls = [
            Timed(partial(model.network, x, workers=1)),
            Timed(partial(module, tensor)),
            Timed(partial(layer_by_layer, model.network, x)),
        ]
        ours, lstm, numpy = np.min([[call() for call in calls] for _ in range(rounds)], axis=0)
        first, second, third = (np.asarray(call.result) for call in calls)
        gap = max(abs(first - second).max(), abs(first - third).max())
        rows.append(
            [x.shape[1], batch, *(f"{v:.3g}" for v in (ours, lstm, numpy, lstm / ours, numpy / ours)), f"{gap:.0e}"]
        )
    return rows


def styled(panel: Any, title: str, xlabel: str, ylabel: str) -> None:
    """Set what all panels have."""
    panel.set_title(title, fontsize=13, loc="left")
    panel.set_xlabel(xlabel, fontsize=12)
    panel.set_ylabel(ylabel, fontsize=12)
    panel.grid(color="0.92")
    panel.tick_params(labelsize=11)
    panel.spines[["top", "right"]].set_visible(False)


def drawn(noises: list[list[float]], fields: tuple[list[list[float]], float], found: list[list[float]]) -> Figure:
    """Draw noise, the field, and lengths of prompts, one below another."""
    figure = Figure(figsize=(5.6, 10.4), layout="constrained")
    panels: Any = figure.subplots(3, 1)
    sigma, plain, robust = np.array(noises[1:]).T
    panels[0].semilogx(sigma, 100 * plain, "o-", color=RED, label="plain, 14 layers")
    panels[0].semilogx(sigma, 100 * robust, "o-", color=BLUE, label="robust, 21 layers")
    styled(panels[0], "A dictionary with noisy weights", "standard deviation of the noise", "wrong tokens (%)")
    spacing, _, program, lstm = np.array(fields[0]).T
    panels[1].loglog(spacing, program, "o-", color=DARK, label="the program")
    panels[1].loglog(spacing, lstm, "x", color=RED, ms=9, mew=2, label="one torch.nn.LSTM")
    panels[1].axhline(fields[1], color="#7F7F7F", lw=1.4)
    placed = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "ha": "right", "va": "top"}
    label = "the head itself misses the field by this"
    panels[1].annotate(label, (0.98, fields[1]), (0, -4), fontsize=11, color="0.35", **placed)
    panels[1].set_xticks(spacing, [f"{each:g}" for each in spacing])
    panels[1].minorticks_off()
    title = "The magnetic field, by attention's prompt"
    styled(panels[1], title, "spacing of the knots of exp", "difference to the head (µT)")
    N, by_grid, by_extension, _ = np.array(found).T
    eps = np.geomspace(0.5 / CELLS[-1], 1.0 / CELLS[0], 200)
    panels[2].loglog(N, by_grid, "s", color=RED, label="grid: |x − 0.4|")
    panels[2].loglog(N, by_extension, "o", color=BLUE, label="extension: |x − 0.4|")
    panels[2].loglog(needed(eps, "extension"), eps, color=BLUE, lw=1.8, label="suffices for all functions")
    panels[2].loglog(needed(eps, "lower"), eps, color=DARK, ls="--", lw=1.8, label="needed, by any model")
    styled(panels[2], "Lipschitz functions of two numbers", "tokens of the prompt", "largest error")
    panels[2].set_yticks(ticks := [0.02, 0.05, 0.1, 0.2], [f"{each:g}" for each in ticks])
    panels[2].minorticks_off()
    for panel in panels:
        panel.legend(frameon=False, fontsize=11)
    return figure


def main() -> None:
    """Print the tables and write the figure, whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("recurrent.png"))
    parser.add_argument("--quick", action="store_true", help="fewer seeds, points and steps")
    options = parser.parse_args()
    quick = options.quick
    print(machine("numpy", "numba", "torch"))
    noises = noise(4 if quick else 25)
    rows = [[f"{s:.0e}", *(f"{100 * share:.1f}" for share in shares)] for s, *shares in noises]
    print(tabulate(rows, ["noise", "plain: % wrong", "robust: % wrong"], disable_numparse=True))
    fields = field(SPACINGS[:2] if quick else SPACINGS, 50 if quick else 200)
    rows = [[f"{s:g}", f"{int(width)}", f"{ours:.2g}", f"{lstm:.2g}"] for s, width, ours, lstm in fields[0]]
    print(tabulate(rows, ["spacing", "width", "program - head (uT)", "LSTM - head (uT)"], disable_numparse=True))
    print(f"the head misses the field by {fields[1]:.3g} uT")
    found = lengths(CELLS[:3] if quick else CELLS)
    rows = [
        [
            f"{N:.0f}",
            *(f"{v:.3g}" for v in values),
            *(f"{needed(np.array(values[-1:]), t)[0]:.0f}" for t in ("grid-printed", "extension", "lower")),
        ]
        for N, *values in found
    ]
    header = ["tokens", "grid", "extension", "eps proven", "grid as printed: tokens for eps", "extension", "needed"]
    print(tabulate(rows, header, disable_numparse=True))
    header = ["steps", "batch", "kernel (s)", "LSTM (s)", "NumPy (s)", "LSTM/kernel", "NumPy/kernel", "disagreement"]
    print(tabulate(ratios(1000 if quick else 4000, 2), header, disable_numparse=True))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    drawn(noises, fields, found).savefig(unfinished := options.out.with_suffix(".part"), dpi=150, format="png")
    os.replace(unfinished, options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
