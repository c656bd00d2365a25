"""Measure the rounding errors of the harmonic method's transforms, for docs/theorems/4.9-harmonic-sums.md (d).

Run it as ``python tests/reference/harmonic_rounding.py``: it prints, for each dimension and concentration, the largest
error at the points as the grid has them (so that the rounding of directions does not count), in units of 2^-53 of the
largest sum of |w| K, over adversarial sets of points, beside twice of what the method assumes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from sums import Array, sphere, truth, unit

from spherapprox.harmonics.nonuniform.scattered import Scattered, scattered
from spherapprox.summation.harmonic import SAMPLE_ROWS
from spherapprox.summation.harmonic.columns import column
from spherapprox.summation.harmonic.expansion import Design, design

UNIT = 2.0**-53
PI = np.longdouble("3.14159265358979323846264338327950288")


def point_sets(n: int, dim: int, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    """Yield sets of control points that are hard for a grid."""
    eye = np.eye(dim + 1)
    half, axes = sphere(n // 2, dim, rng), np.concatenate([eye, -eye])
    yield "uniform", sphere(n, dim, rng)
    yield "clusters", unit(sphere(5, dim, rng)[rng.integers(0, 5, n)] + 0.02 * rng.standard_normal((n, dim + 1)))
    yield "one", sphere(1, dim, rng)
    yield "equal", np.tile(sphere(1, dim, rng), (n, 1))
    yield "poles", unit(axes[[dim, -1]][rng.integers(0, 2, n)] + 1e-3 * rng.standard_normal((n, dim + 1)))
    yield "antipodes", np.concatenate([half, -half])
    yield "axes", axes[rng.integers(0, len(axes), n)]
    ring = sphere(n, dim, rng)
    ring[:, -1] = 0.3
    yield "ring", unit(ring)


def as_gridded(points: Scattered, cells: int) -> Array:
    """Return the points that the grid's cells and fractions stand for, in long double and in the points' own order."""
    angle = (points.place.T + (points.fraction.T.astype(np.longdouble) + 1) / 2) * (2 * PI / cells)
    if len(angle) == 1:
        rows = np.stack([np.cos(angle[0]), np.sin(angle[0])], axis=1)
    else:
        sine = np.sin(angle[0])
        rows = np.stack([sine * np.cos(angle[1]), sine * np.sin(angle[1]), np.cos(angle[0])], axis=1)
    result = np.empty_like(rows)
    result[points.order] = rows
    return result


def error(chosen: Design, x: Array, b: Array, w: Array) -> float:
    """Return the largest error beyond what the expansion leaves out, in units of the largest sum of |w| K."""
    source, target = (scattered(points, chosen.window, 1) for points in (b, x))
    computed = column(chosen, source, w, target, workers=1, sample=SAMPLE_ROWS).values
    x, b = (as_gridded(points, chosen.window.n) for points in (target, source))
    worst = scale = np.longdouble(0)
    for rows, values in zip(np.array_split(x, 16), np.array_split(computed, 16), strict=True):
        exact, size = truth(rows, b, w, chosen.concentration)
        worst, scale = max(worst, np.abs(exact - values).max()), max(scale, size.max())
    return float((worst - chosen.omitted * np.abs(w).sum()) / scale) / UNIT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=2000, help="control points of a set (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="default: %(default)s")
    chosen = parser.parse_args()
    print("dim  lambda   width  degree  largest error  of points  assumed / error")
    for dim, rtol, octave in ((1, 1e-16, 0), (2, 1e-16, 0), (1, 1e-12, 40), (2, 1e-12, 40)):
        for concentration in (0.0, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 1e3, 1e4, 3e4):
            expansion, worst = design(dim, concentration, rtol, octave), (0.0, "")
            for seed in range(chosen.seeds):
                rng = np.random.default_rng(seed)
                for name, b in point_sets(chosen.n, dim, rng):
                    x = np.concatenate([sphere(100, dim, rng), b[:50], -b[:20], np.eye(dim + 1), -np.eye(dim + 1)])
                    for w in (rng.random(len(b)) + 0.1, rng.standard_normal(len(b))):
                        worst = max(worst, (error(expansion, x, b, w), name))
            degree, width = len(expansion.eigenvalues) - 1, expansion.window.width
            line = f"{dim}    {concentration:<8g} {width:<6d} {degree:<7d} {worst[0]:<14.3g} {worst[1]:<10s}"
            print(f"{line} {expansion.rounding / UNIT / max(worst[0], 1e-3):.2f}", flush=True)


if __name__ == "__main__":
    main()
