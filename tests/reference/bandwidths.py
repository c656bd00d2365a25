"""Hold bandwidths of kernel densities against the one that is best by integration, for 20 densities.

    python tests/reference/bandwidths.py [--rows 500] [--samples 5]

Columns: the concentration of least integrated squared error of the first sample, those of "cv" and "rule" there, and
the ratios of their errors to the least one, geometric means over samples. On S^1 to S^3 integrals are Gauss sums, in
more dimensions sums over pairs: two von Mises-Fisher kernels have a product whose integral is a normaliser.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from tqdm import tqdm

from spherapprox import VonMisesFisher, evaluate, points, special
from spherapprox.directional import Kent, SphericalKernelDensity, Watson

Array = NDArray[np.float64]
DEGREES = {1: 2000, 2: 300, 3: 90}  # of the Gauss rules
GRID = np.linspace(-4.0, 10.0, 57)  # logarithms of concentrations among which the search begins
E = np.eye(12)


class Mixture:
    """A mixture of distributions of S^dim."""

    def __init__(self, dim: int, *parts: tuple[float, Any]) -> None:
        self.dim, self.parts = dim, [part for _, part in parts]
        self.weights = np.array([weight for weight, _ in parts])

    def rvs(self, n: int, rng: np.random.Generator) -> Array:
        """Draw rows."""
        counts = rng.multinomial(n, self.weights)
        return np.concatenate([part.rvs(size=int(k), rng=rng) for part, k in zip(self.parts, counts, strict=True)])

    def pdf(self, x: Array) -> Array:
        """Return densities."""
        return sum(weight * part.pdf(x) for weight, part in zip(self.weights, self.parts, strict=True))


def fisher(axis: Sequence[float] | Array, concentration: float) -> VonMisesFisher:
    """Return a von Mises-Fisher distribution about a vector of any length."""
    return VonMisesFisher(np.array(axis) / np.linalg.norm(axis), concentration)


def ring(count: int, concentration: float) -> list[tuple[float, VonMisesFisher]]:
    """Return as many peaks on the great circle of the first two axes of S^2."""
    angles = 2.0 * math.pi * np.arange(count) / count
    return [(1.0 / count, fisher([math.cos(a), math.sin(a), 0.0], concentration)) for a in angles]


DENSITIES = {
    "S^1 one peak": Mixture(1, (1.0, fisher(E[0, :2], 4.0))),
    "S^1 narrow": Mixture(1, (1.0, fisher(E[0, :2], 100.0))),
    "S^1 nearly uniform": Mixture(1, (1.0, fisher(E[0, :2], 0.3))),
    "S^1 two peaks": Mixture(1, (0.5, fisher([1, 0], 10.0)), (0.5, fisher([-1, 0.3], 10.0))),
    "S^1 narrow and wide": Mixture(1, (0.3, fisher([1, 0], 200.0)), (0.7, fisher([0, 1], 2.0))),
    "S^2 one peak": Mixture(2, (1.0, fisher(E[0, :3], 10.0))),
    "S^2 narrow": Mixture(2, (1.0, fisher(E[0, :3], 200.0))),
    "S^2 nearly uniform": Mixture(2, (1.0, fisher(E[0, :3], 0.3))),
    "S^2 opposite peaks": Mixture(2, (0.5, fisher(E[0, :3], 20.0)), (0.5, fisher(-E[0, :3], 20.0))),
    "S^2 narrow and wide": Mixture(2, (0.3, fisher(E[0, :3], 200.0)), (0.7, fisher(E[1, :3], 3.0))),
    "S^2 peak in noise": Mixture(2, (0.5, fisher(E[0, :3], 50.0)), (0.5, fisher(E[0, :3], 0.0))),
    "S^2 girdle": Mixture(2, (1.0, Watson(E[0, :3], -10.0))),
    "S^2 axis": Mixture(2, (1.0, Watson(E[0, :3], 10.0))),
    "S^2 oval": Mixture(2, (1.0, Kent(np.eye(3), 60.0, 25.0))),
    "S^2 ring of 6": Mixture(2, *ring(6, 30.0)),
    "S^3 one peak": Mixture(3, (1.0, fisher(E[0, :4], 15.0))),
    "S^3 three peaks": Mixture(3, *((1 / 3, fisher(E[i, :4], 20.0)) for i in range(3))),
    "S^3 girdle": Mixture(3, (1.0, Watson(E[0, :4], -10.0))),
    "S^5 one peak": Mixture(5, (1.0, fisher(E[0, :6], 20.0))),
    "S^9 two peaks": Mixture(9, *((0.5, fisher(E[i, :10], 40.0)) for i in range(2))),
}


def gauss_error(density: Mixture, x: Array) -> Callable[[float], float]:
    """Return the integrated squared error as a function of the concentration, by a Gauss rule."""
    rule = points.gauss_product(density.dim, DEGREES[density.dim])
    nodes, truth = rule.points, density.pdf(rule.points)
    masses = rule.weights / rule.weights.sum() * math.exp(special.log_surface_area(density.dim))

    def error(t: float) -> float:
        peak = VonMisesFisher(density.dim, math.exp(t)).log_density(1.0, "surface")
        sums = evaluate(nodes, x, np.full(len(x), math.exp(peak) / len(x)), math.exp(t), rtol=1e-10)
        return float(masses @ np.square(sums - truth))

    return error


def pair_error(density: Mixture, x: Array) -> Callable[[float], float]:
    """Return the error of a mixture of von Mises-Fisher distributions, by sums over pairs."""
    means, rates = np.array([p.mu for p in density.parts]), np.array([p.kappa for p in density.parts])

    def log_constant(k: Any) -> Array:
        return np.asarray(VonMisesFisher(density.dim, k).log_normalizer) - special.log_surface_area(density.dim)

    def product(a: Array, b: Array) -> Array:
        return log_constant(np.linalg.norm(a[:, None] + b, axis=-1))

    scaled, own = means * rates[:, None], log_constant(rates) + np.log(density.weights)
    truth = np.exp(own[:, None] + own - product(scaled, scaled)).sum()

    def error(t: float) -> float:
        k, c = math.exp(t), float(log_constant(math.exp(t)))
        square = np.exp(2.0 * c - product(k * x, k * x)).mean()
        return float(square - 2.0 * np.exp(c + own - product(k * x, scaled)).sum(axis=1).mean() + truth)

    return error


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--samples", type=int, default=5)
    chosen = parser.parse_args()
    print(f"{'density':<22}{'best':>9}{'cv':>9}{'rule':>9}{'cv/best':>9}{'rule/best':>10}")
    every = []
    for name, density in tqdm(DENSITIES.items(), disable=None):
        table = []
        for seed in range(chosen.samples):
            x = density.rvs(chosen.rows, np.random.default_rng(seed))
            error = (gauss_error if density.dim in DEGREES else pair_error)(density, x)
            start = GRID[
                int(np.argmin([error(t) for t in GRID[:: 1 if density.dim in DEGREES else 4]]))
                * (1 if density.dim in DEGREES else 4)
            ]
            best = minimize_scalar(error, bracket=(start - 0.3, start), tol=1e-4)
            rules = [SphericalKernelDensity(rule).fit(x).concentration_ for rule in ("cv", "rule")]
            ratios = [error(math.log(k)) / best.fun for k in rules]
            table.append([math.exp(best.x), *rules, *ratios])
        ratios = np.exp(np.log(np.array(table)[:, 3:]).mean(axis=0))
        every.append(ratios)
        tqdm.write(f"{name:<22}" + "".join(f"{k:>9.4g}" for k in table[0][:3]) + f"{ratios[0]:>9.2f}{ratios[1]:>10.2f}")
    print(f"{'median':<49}" + "".join(f"{ratio:>9.2f}" for ratio in np.median(every, axis=0)))


if __name__ == "__main__":
    main()
