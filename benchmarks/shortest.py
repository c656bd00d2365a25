"""The fewest tokens for one target, beside what other methods make of as many tokens or stored numbers.

Three tables on the Earth's magnetic field and other targets: tokens for an error, with lower bounds; errors of methods
with N tokens (Riemann sums, interpolation, least squares on centres of k-means, f-greedy, sparse Gaussian processes
with free inducing points, multilayer perceptrons, spherical harmonics, spectral values on Gauss rules); errors of free
points on other targets. The figure is the README's. The peers with fixed points get the concentration of least true
error; perceptrons and Gaussian processes the best of some starts. About twenty minutes on two cores::

    python benchmarks/shortest.py --out docs/shortest.png
    python benchmarks/shortest.py --tables errors --n 10 20
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from tabulate import tabulate
from tqdm import tqdm

import bounds
from bounds.report import plot
from spherapprox import (  # fmt: skip
    CoreHead,
    EqualMeasurePartition,
    PointSet,
    SplitHead,
    Target,
    harmonics,
    points,
    shortest_head,
    sphere,
    sup_error,
    targets,
)
from spherapprox.shortest import SearchOptions, ShortestHead, TokenFormat, token_lower_bound

Array = NDArray[np.float64]
FIELD = targets.geomagnetic_field(2025.0)
REFERENCE = {
    ("core", "unit"): (6, 10, 19, 30, 43, 57, 69),
    ("core", "free"): (4, 8, 14, 26, 34, 53, 60),
    ("split", "unit"): (5, 11, 17, 28, 41, 58, 80),
    ("split", "free"): (5, 9, 16, 25, 33, 47, 80),
}
"""Tokens for the errors EPS when the method was designed: no more than 1.15 times as many + 1 are due."""
EPS = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)
CONCENTRATIONS = 2.0 ** np.arange(-2.0, 10.0)
OTHERS: dict[str, Callable[[], Target]] = {
    "field as vectors": lambda: targets.geomagnetic_vector(2025.0),
    "smooth": lambda: targets.random_smooth(2, rng=0),
    "zonal harmonic 8": lambda: targets.zonal_harmonic(2, 8),
    "distance": lambda: targets.distance(2),
}


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--tables", nargs="+", choices=["lengths", "errors", "targets"], default=["lengths", "errors", "targets"])
    add("--eps", type=float, nargs="+", default=list(EPS), help="errors over the largest value")
    add("--n", type=int, nargs="+", default=[10, 20, 45, 80], help="tokens")
    add("--out", type=Path, help="where to write the figure")
    return parser.parse_args()


def relative(head: Callable[[Array], Array], target: Target = FIELD) -> float:
    """Measure a sup error over the target's largest value."""
    return sup_error(head, target).lower / largest(target)


def largest(target: Target) -> float:
    """Return the target's largest value, as it is known or seen."""
    values = target(sphere.uniform(target.dim, 20_000, rng=0))
    return target.sup_norm or float(np.linalg.norm(values.reshape(len(values), -1), axis=1).max())


def best(make: Callable[[float], CoreHead | SplitHead]) -> float:
    """Return the least error of heads over some concentrations."""
    with warnings.catch_warnings():  # of concentrations that do not suit the points
        warnings.simplefilter("ignore", RuntimeWarning)
        return min(relative(make(float(lam))) for lam in CONCENTRATIONS)


def free(kind: str, keys: str, n: int, target: Target = FIELD) -> float:
    """Return the error of the best head of n tokens that the search finds."""
    with warnings.catch_warnings():  # that it is above 1e-9
        warnings.simplefilter("ignore", RuntimeWarning)
        found = shortest_head(
            target, 1e-9, kind, relative=True, tokens=TokenFormat(keys=keys), search=SearchOptions(max_tokens=n)
        )
    return found.error.lower / largest(target)


def samples() -> tuple[Array, Array]:
    """Return the points and values that peers are fitted to."""
    x = points.fibonacci(4000).points
    return x, FIELD(x) / largest(FIELD)


def least_squares(n: int) -> float:
    """Fit kernels at centres of k-means by least squares."""
    centres = KMeans(n, n_init=4, random_state=0).fit(samples()[0]).cluster_centers_
    b = PointSet(centres / np.linalg.norm(centres, axis=1, keepdims=True))
    return best(lambda lam: CoreHead.from_target(FIELD, b, lam, "least_squares", regularization=1e-12))


def greedy(n: int) -> float:
    """Interpolate at samples taken one after another, each where the error is largest (Santin and Haasdonk's VKOGA)."""
    x, y = samples()

    def head(lam: float) -> CoreHead:
        basis, residual, chosen = np.zeros((len(x), 0)), y.copy(), []
        for _ in range(n):
            at = int(np.abs(residual).argmax())
            column = np.exp(lam * (x @ x[at] - 1.0)) - basis @ basis[at]
            if not column[at] > 1e-14:
                break
            basis = np.column_stack([basis, column / math.sqrt(column[at])])
            residual = residual - basis[:, -1] * (residual[at] / basis[at, -1])
            chosen.append(at)
        return CoreHead.from_target(FIELD, x[chosen], lam, "interpolation")

    return best(head)


def gaussian_process(n: int, seconds: float = 10.0) -> float:
    """Fit Titsias's sparse Gaussian process with free inducing points, kernel width and noise, by L-BFGS."""
    import torch

    x, y = (torch.tensor(part) for part in samples())
    begin = torch.tensor(EqualMeasurePartition(2, n).centers())

    def pieces(flat: torch.Tensor) -> tuple[torch.Tensor, ...]:
        b = torch.nn.functional.normalize(flat[:-3].reshape(n, 3), dim=1)
        lam, scale, noise = torch.exp(flat[-3]), torch.exp(flat[-2]), torch.exp(flat[-1]) + 1e-12
        between = scale * torch.exp(lam * (b @ b.T - 1.0)) + 1e-10 * scale * torch.eye(n)
        return b, lam, noise, torch.linalg.cholesky(between), scale * torch.exp(lam * (b @ x.T - 1.0)), scale

    def bound(flat: torch.Tensor) -> torch.Tensor:
        _, _, noise, factor, across, scale = pieces(flat)
        a = torch.linalg.solve_triangular(factor, across, upper=False) / torch.sqrt(noise)
        b = torch.linalg.cholesky(a @ a.T + torch.eye(n))
        c = torch.linalg.solve_triangular(b, (a @ y)[:, None], upper=False) / torch.sqrt(noise)
        m = len(y)
        loss = 0.5 * m * torch.log(noise) + torch.log(torch.diagonal(b)).sum()
        return loss + 0.5 * (y @ y) / noise - 0.5 * (c**2).sum() + 0.5 * (m * scale / noise - (a**2).sum())

    stop = time.perf_counter() + seconds

    def value(flat: Array) -> tuple[float, Array]:
        leaf = torch.tensor(flat, requires_grad=True)
        loss = bound(leaf)
        loss.backward()
        return float(loss.detach()), leaf.grad.numpy()

    def late(_: Array) -> None:
        if time.perf_counter() > stop:
            raise StopIteration

    start = np.append(begin.numpy().ravel(), [math.log(n / 2.0), 0.0, math.log(1e-4)])
    found = minimize(value, start, jac=True, method="L-BFGS-B", callback=late, options={"maxiter": 5000})
    with torch.no_grad():
        b, lam, noise, factor, across, scale = pieces(torch.tensor(found.x))
        values = torch.linalg.solve(factor @ factor.T + across @ across.T / noise, across @ y) / noise * scale
    return relative(CoreHead(b.numpy(), largest(FIELD) * values.numpy(), float(lam)))


def perceptron(n: int) -> float:
    """Fit a perceptron of one layer of tanh, with about as many numbers as n tokens: the best of three starts."""
    x, y = samples()
    width = max(1, round((3 * n - 1) / 5))
    models = [MLPRegressor(hidden_layer_sizes=(width,), activation="tanh", solver="lbfgs", alpha=0.0, max_iter=3000,
                           tol=1e-12, max_fun=10**6, random_state=seed) for seed in range(3)]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [model.fit(x, y) for model in models]
    return min(relative(lambda z, fit=fit: largest(FIELD) * fit.predict(np.asarray(z))) for fit in fits)


def truncated(n: int) -> float:
    """Cut spherical harmonics off at a degree, with at most as many numbers as n tokens."""
    degree = math.isqrt(3 * n + 1) - 1
    coefficients = harmonics.project(FIELD, degree, band_limit=max(degree, 13))
    return relative(lambda x: harmonics.synthesize(coefficients, x))


def spectral(n: int) -> float:
    """Correct values by eigenvalues, on the largest Gauss rule of at most n points."""
    rules = [points.gauss_product(2, degree) for degree in range(1, 2 * math.isqrt(n) + 2)]
    rule = max((rule for rule in rules if len(rule) <= n), key=len)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return best(lambda lam: CoreHead.from_target(FIELD, rule, lam, "spectral"))


METHODS: dict[str, tuple[Callable[[int], float], Callable[[int], int]]] = {
    "Riemann sums, split": (
        lambda n: best(lambda lam: SplitHead.from_target(FIELD, EqualMeasurePartition(2, n), lam)), lambda n: 3 * n + 1,
    ),
    "interpolation, Fibonacci": (
        lambda n: best(lambda lam: CoreHead.from_target(FIELD, points.fibonacci(n), lam, "interpolation")),
        lambda n: 3 * n + 1,
    ),
    "spectral, Gauss": (spectral, lambda n: 3 * n + 1),
    "least squares, k-means": (least_squares, lambda n: 3 * n + 1),
    "f-greedy": (greedy, lambda n: 3 * n + 1),
    "sparse Gaussian process": (gaussian_process, lambda n: 3 * n + 1),
    "perceptron, tanh": (perceptron, lambda n: 5 * max(1, round((3 * n - 1) / 5)) + 1),
    "spherical harmonics": (truncated, lambda n: math.isqrt(3 * n + 1) ** 2),
    "free points, core, unit keys": (lambda n: free("core", "unit", n), lambda n: 3 * n + 1),
    "free points, split, unit keys": (lambda n: free("split", "unit", n), lambda n: 3 * n + 1),
    "free points, core, free keys": (lambda n: free("core", "free", n), lambda n: 4 * n),
    "free points, split, free keys": (lambda n: free("split", "free", n), lambda n: 4 * n),
}  # fmt: skip
"""Each method's error for n tokens, and the numbers that it stores."""


def lengths(wanted: list[float]) -> dict[tuple[str, str], list[ShortestHead]]:
    """Print the tokens for errors; returns the searches."""
    found: dict[tuple[str, str], list[ShortestHead]] = {}
    rows, floors = [], [token_lower_bound(FIELD, eps, relative=True).n for eps in tqdm(wanted, disable=None)]
    for (kind, keys), reference in REFERENCE.items():
        cells: list[object] = [f"{kind}, {keys} keys"]
        for eps in tqdm(wanted, desc=f"{kind}, {keys}", disable=None):
            start = time.perf_counter()
            result = shortest_head(FIELD, eps, kind, relative=True, tokens=TokenFormat(keys=keys))
            seconds = time.perf_counter() - start
            found.setdefault((kind, keys), []).append(result)
            known = f"/{reference[EPS.index(eps)]}" if eps in EPS else ""
            cells.append(f"{result.n}{known} ({seconds:.1f} s)" if result.reached else "not reached")
        rows.append(cells)
    rows.append(["core, unit keys: at least", *floors])
    print(tabulate(rows, headers=["tokens found/when designed", *map(str, wanted)], disable_numparse=True), "\n")
    return found


def errors(counts: list[int]) -> None:
    """Print the errors of all methods."""
    rows = []
    for name, (method, numbers) in tqdm(METHODS.items(), disable=None):
        rows.append([name, *(f"{method(n):.2g} ({numbers(n)})" for n in counts)])
    print(tabulate(rows, headers=["error (numbers stored)", *(f"N={n}" for n in counts)], disable_numparse=True), "\n")


def other_targets(counts: list[int]) -> None:
    """Print the errors of free points on other targets."""
    rows = []
    for name, make in tqdm(OTHERS.items(), disable=None):
        target = make()
        for kind, keys in REFERENCE:
            rows.append([name, kind, keys, *(f"{free(kind, keys, n, target):.2g}" for n in counts)])
    print(tabulate(rows, headers=["target", "head", "keys", *(f"N={n}" for n in counts)], disable_numparse=True), "\n")


def draw(out: Path) -> None:
    """Draw the README's figure: from the thesis's bound through Riemann sums to free points and the lower bound."""
    found = shortest_head(FIELD, 1e-3, "core", relative=True)
    others = bounds.report.compare_fixed_points(FIELD, (4, 8, 16, 32, 64, 128, 256, 1024, 4096, 16384), least=found.eps)
    eps = np.geomspace(0.3, 1e-3, 12)
    floor = [
        (token_lower_bound(FIELD, share, relative=True, certified=True).n, share * largest(FIELD)) for share in eps
    ]
    known = {"lipschitz": FIELD.lipschitz, "sup_norm": FIELD.sup_norm}
    thesis = bounds.prefix_length(found.eps, dim=8, theorem="thesis-core", **known)
    remark = f"The thesis's bound for this error and these constants, on $S^8$: $10^{{{thesis.log10:.0f}}}$ tokens"
    plot.write(plot.shortest_figure(found, FIELD, others=others, floor=floor, remark=remark), out)


def main() -> None:
    """Print the tables, and draw the figure."""
    chosen = options()
    if "lengths" in chosen.tables:
        lengths(chosen.eps)
    if "errors" in chosen.tables:
        errors(chosen.n)
    if "targets" in chosen.tables:
        other_targets(chosen.n)
    if chosen.out is not None:
        draw(chosen.out)


if __name__ == "__main__":
    main()
