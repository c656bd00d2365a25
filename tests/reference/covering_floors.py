"""The floors of coverings against every cover that is promised, and the floor's angles against simplices of S^3.

    python tests/reference/covering_floors.py [--cases 4000] [--simplices 200000] [--seed 0]

A case is a dimension from 2 to 64, a radius from 1e-12 to pi/4, log-uniform for every other case, and each method that
promises a cover there. It fails where a floor is above a promise, or where the angles of a simplex whose circumscribed
cap is at most pi/4 add up to less than 4.L says; the smallest quotients are printed.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
import tqdm

from bounds import covering_number
from bounds.covering import NECESSARY, SUFFICIENT
from spherapprox import sphere

_AT_ONCE = 20_000


def least_quotient(cases: int, rng: np.random.Generator) -> tuple[int, float]:
    """Return the number of promises that were held against the floors, and the least log of promise over floor."""
    promises, least = 0, math.inf
    for case in tqdm.trange(cases, desc="covers", disable=None):
        dim = int(rng.integers(2, 65))
        radius = math.pi / 4.0 * (10.0 ** rng.uniform(-11.8, 0.0) if case % 2 else rng.uniform(0.01, 1.0))
        floor = max(covering_number(radius, dim=dim, method=method).log for method in NECESSARY)
        uppers = [covering_number(radius, dim=dim, method=method) for method in SUFFICIENT]
        logs = [bound.log for bound in uppers if bound.holds and math.isfinite(bound.log)]
        promises, least = promises + len(logs), min(least, min(logs) - floor)
    return promises, least


def angle_sums(vertices: np.ndarray) -> np.ndarray:
    """Return the sum of the shares of the solid angles of simplices of S^3, (n, 4, 4): excesses of triangles."""
    total = np.zeros(len(vertices))
    for i in range(4):
        v, rest = vertices[:, i], np.delete(vertices, i, axis=1)
        e = rest - np.einsum("nij,nj->ni", rest, v)[:, :, None] * v[:, None, :]
        e /= np.linalg.norm(e, axis=2, keepdims=True)
        a, b, c = (np.einsum("ni,ni->n", e[:, j], e[:, j - 1]) for j in range(3))
        volume = np.sqrt(np.maximum(1.0 - a * a - b * b - c * c + 2.0 * a * b * c, 0.0))
        total += 2.0 * np.arctan2(volume, 1.0 + a + b + c) / (4.0 * math.pi)  # van Oosterom and Strackee
    return total


def regular_integral(c: np.ndarray) -> np.ndarray:
    """Return I(c) of 4.L for dim 3: a regular cone of three edges, over the root of the form's determinant."""
    cosine = (c - c * c) / (1.0 - c * c)
    share = (3.0 * np.arccos(cosine / (1.0 + cosine)) - math.pi) / (4.0 * math.pi)
    return np.asarray(share / np.sqrt((1.0 - c) ** 3 * (1.0 + 3.0 * c)))


def least_angles(simplices: int, rng: np.random.Generator) -> tuple[int, float]:
    """Return the number of simplices with R <= pi/4, and the least quotient of their angles and 4 D I(c)."""
    kept, least = 0, math.inf
    while kept < simplices:
        v = sphere.uniform(3, 4 * _AT_ONCE, rng=rng).reshape(-1, 4, 4)
        v += rng.uniform(0.0, 3.0, len(v))[:, None, None] * np.eye(4)[0]  # about one point, to be small more often
        v /= np.linalg.norm(v, axis=2, keepdims=True)
        cosines = 1.0 / np.linalg.norm(np.linalg.solve(v, np.ones((len(v), 4, 1)))[:, :, 0], axis=1)
        v, cosines = v[cosines > math.sqrt(0.5)], cosines[cosines > math.sqrt(0.5)]
        floor = 4.0 * np.abs(np.linalg.det(v)) * regular_integral((4.0 * cosines**2 - 1.0) / 3.0)
        least, kept = min(least, float((angle_sums(v) / floor).min())), kept + len(v)
    return kept, least


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=4000)
    parser.add_argument("--simplices", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    promises, quotient = least_quotient(options.cases, rng)
    print(f"{promises} promises of covers, the least 10^{quotient / math.log(10.0):.3f} of its floor")
    kept, angles = least_angles(options.simplices, rng)
    print(f"{kept} simplices of S^3, the least sum of angles {angles:.6f} of its floor")
    if not (quotient >= 0.0 and angles >= 1.0 - 1e-9):
        raise SystemExit("a floor is too high")


if __name__ == "__main__":
    main()
