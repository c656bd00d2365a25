"""Where control points should be: makers of points, one target or the worst, and what training moves.

On S^2 (800 points), S^8 and S^63 (200) each maker's points carry a split head for two targets about one axis: a wave,
cos 3 theta, and a bump of width 1/sqrt(10 dim). "clustered" points are von Mises-Fisher about the axis; "half near" are
an equal-measure partition with half the points so. Three errors stand side by side, all at the concentration that is
best for the first: values of the target; values fitted by least squares; points and values trained from there by Adam
(`to_torch(trainable=True)`, an 8-norm of errors, the best step kept). Errors are the largest found on a sample that is
half uniform, half even in the angle to the axis, and from its worst points uphill. W is the largest error over all
targets of Lipschitz constant 1 (`worst_case_error`), at the best of four concentrations, of the points as made and as
trained::

    python benchmarks/control_points.py --out results
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import Experiment, main
from makers import MAKERS
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray
from tabulate import tabulate

from bounds.report.plot.style import BLUE, GREEN, ORANGE, grid
from spherapprox import EqualMeasurePartition, SplitHead, VonMisesFisher, sphere, sup_error, targets
from spherapprox.error import worst_case_error

Array = NDArray[np.float64]

SIZES = {2: 800, 8: 200, 63: 200}
NAMES = ("partition", "partition, relaxed", "fibonacci", "greedy", "sobol", "uniform", "half near", "clustered")
TARGETS = ("wave", "bump")
STAGES = {"as made": GREEN, "values fitted": BLUE, "trained": ORANGE}
SAMPLE, BATCH, STEPS, RATES = 4000, 512, 400, (0.005, 0.001)
EXCEPT = {("fibonacci", 8), ("fibonacci", 63), ("partition", 63), ("greedy", 63), ("partition, relaxed", 63)}
"""Makers that have no points of a sphere, or too few to differ from uniform ones."""


def axis_of(dim: int) -> Array:
    """Return the axis of the targets, which no maker knows."""
    return sphere.uniform(dim, 1, rng=1)[0]


def target_of(name: str, dim: int) -> Any:
    """Return a target about the axis."""
    axis = axis_of(dim)
    return (
        targets.bump(dim, 10.0 * dim, pole=axis)
        if name == "bump"
        else lambda x: 4.0 * (x @ axis) ** 3 - 3.0 * (x @ axis)
    )


def points_of(maker: str, dim: int, n: int) -> Array:
    """Return the control points of a maker."""
    if maker in MAKERS:
        made = MAKERS[maker](dim, n, 0)
        if isinstance(made, str):
            raise ValueError(f"{maker} on S^{dim}: {made}")
        return made.points
    if maker == "clustered":
        return np.asarray(VonMisesFisher(axis_of(dim), 1.5 * dim).rvs(n, random_state=0))
    near = np.asarray(VonMisesFisher(axis_of(dim), 5.0 * dim).rvs(n // 2, random_state=0))
    return np.concatenate([EqualMeasurePartition(dim, n - n // 2).centers(), near])


def sample(dim: int, n: int, rng: np.random.Generator) -> Array:
    """Draw points, half of them uniform and half even in the angle to the axis."""
    x, axis, half = sphere.uniform(dim, n, rng), axis_of(dim), n // 2
    across = x[:half] - (x[:half] @ axis)[:, None] * axis  # (half, dim+1), tangent at the axis
    angle = rng.uniform(0.0, np.pi, half)[:, None]
    x[:half] = np.cos(angle) * axis + np.sin(angle) * across / np.linalg.norm(across, axis=1)[:, None]
    return x


def trained(head: SplitHead, f: Any, x: Array, steps: int) -> SplitHead:
    """Return the head of the least error on a sample, of the steps of Adam."""
    import torch

    module: Any = head.to_torch(trainable=True)
    points, values = module.control_points, module.values
    groups = [{"params": [part], "lr": rate} for part, rate in zip((values, points), RATES, strict=True)]
    optimizer = torch.optim.Adam(groups)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    rng, best, found = np.random.default_rng(0), abs(head(x) - f(x)).max(), head
    for step in range(1, steps + 1):
        rows = sample(head.dim, BATCH, rng)
        loss = (module(torch.tensor(rows)) - torch.tensor(f(rows))).abs().pow(8).mean() ** 0.125
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            points /= points.norm(dim=1, keepdim=True)
        if step % 25 == 0:
            now = SplitHead(points.detach().numpy().copy(), values.detach().numpy().copy(), head.concentration)
            if (error := abs(now(x) - f(x)).max()) < best:
                best, found = error, now
    return found


def worst(points: Array) -> float:
    """Return the largest error over all targets of Lipschitz constant 1, at the best of four concentrations."""
    dim = points.shape[1] - 1
    candidates = np.geomspace(20.0 * dim, 3000.0 * dim, 4)
    return min(worst_case_error(points, c, n=2000, refine=8).lower for c in candidates)


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Measure the three heads of one maker on one target."""
    dim, f = case["dim"], target_of(case["target"], case["dim"])
    points, x = points_of(case["maker"], dim, case["n"]), sample(dim, SAMPLE, np.random.default_rng(2))
    heads = [SplitHead(points, f(points), c) for c in np.geomspace(dim, 1000.0 * dim, 25)]
    made = min(heads, key=lambda head: float(abs(head(x) - f(x)).max()))
    some = sample(dim, 2 * SAMPLE, np.random.default_rng(3))
    values = SplitHead.from_target(f, points, made.concentration, "least_squares", samples=some)
    moved = trained(values, f, x, case["steps"])
    errors = {
        stage: sup_error(head, f, points=x, refine=8).lower
        for stage, head in zip(STAGES, (made, values, moved), strict=True)
    }
    angle = np.arccos(np.clip(np.sum(moved.control_points * points, axis=1), -1.0, 1.0))
    return [{
        **{name: case[name] for name in ("dim", "n", "target", "maker")}, "concentration": made.concentration, **errors,
        "W as made": worst(points), "W trained": worst(moved.control_points), "mean move": angle.mean(),
    }]  # fmt: skip


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return the makers, spheres and targets, with numbers of points and of training steps."""
    sizes = {2: 200, 8: 100} if quick else SIZES
    names = ("partition", "uniform", "half near") if quick else NAMES
    return [
        {"dim": dim, "n": n, "target": target, "maker": maker, "steps": 100 if quick else STEPS}
        for dim, n in sizes.items() for target in TARGETS for maker in names if (maker, dim) not in EXCEPT
    ]  # fmt: skip


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw the three errors of each maker, a panel for each sphere and target."""
    kinds = list(dict.fromkeys((row["dim"], row["target"]) for row in rows))
    heights = [sum((row["dim"], row["target"]) == kind for row in rows) + 1.2 for kind in kinds]
    figure = Figure(figsize=(5.6, 0.31 * sum(heights) + 1.2), layout="constrained")
    panels: Any = figure.subplots(len(kinds), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    for panel, (dim, target) in zip(panels, kinds, strict=True):
        here = [row for row in rows if (row["dim"], row["target"]) == (dim, target)]
        here.sort(key=lambda row: row["as made"], reverse=True)
        for stage, colour in STAGES.items():
            panel.semilogx([row[stage] for row in here], range(len(here)), "o", color=colour, ms=7, label=stage)
        panel.hlines(range(len(here)), *np.array([[f(row[s] for s in STAGES) for f in (min, max)] for row in here]).T,
                     color="0.75", lw=1.5, zorder=0)  # fmt: skip
        panel.set_yticks(range(len(here)), [row["maker"] for row in here])
        panel.set_ylim(-0.6, len(here) - 0.4)
        panel.set_title(f"$S^{{{dim}}}$, {here[0]['n']} points: {target}", fontsize=12, loc="left")
        panel.tick_params(labelsize=10.5)
        panel.spines[["top", "right"]].set_visible(False)
        grid(panel)
    panels[-1].xaxis.set_minor_formatter(NullFormatter())
    errors = [row[stage] for row in rows for stage in STAGES]
    panels[-1].set_xlim(min(errors) / 1.5, 1.5 * max(errors))
    panels[-1].set_xlabel("largest error (height of the target: 1)", fontsize=11)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=3, frameon=False, fontsize=11)
    return figure


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the table, and which makers are best for a target and for the worst one."""
    columns = ("concentration", *STAGES, "W as made", "W trained")
    cells = [
        [f"S^{row['dim']}", row["target"], row["maker"], *(f"{row[name]:.3g}" for name in columns)] for row in rows
    ]
    table = tabulate(cells, ["", "target", "points", *columns], tablefmt="github", disable_numparse=True)
    said = []
    for dim, target in dict.fromkeys((row["dim"], row["target"]) for row in rows):
        here = [row for row in rows if (row["dim"], row["target"]) == (dim, target)]
        by_error, by_worst = (min(here, key=lambda row: row[name]) for name in ("as made", "W as made"))
        if by_error["as made"] < 0.98 * by_worst["as made"]:
            said.append(f"{target} on S^{dim}: {by_error['maker']} {by_error['as made']:.3g}, against "
                        f"{by_worst['as made']:.3g} of {by_worst['maker']}")  # fmt: skip
    gains = sorted(row["values fitted"] / row["trained"] for row in rows)
    return (
        f"{table}\n\nThe points that are best for the worst target are not the best for this one: {'; '.join(said)}. "
        f"Training both divides the error of fitted values by {gains[len(gains) // 2]:.2g} in the median, by "
        f"{gains[-1]:.2g} at most."
    )


EXPERIMENT = Experiment(
    name="control_points",
    question="Which control points are best, and does training move them?",
    cases=cases, measure=measure, draw=draw, summary=summary, requires=("torch",), packages=("torch",),
)  # fmt: skip

if __name__ == "__main__":
    main(EXPERIMENT)
