"""Prove the cover of S^8 by orbits under W(E8) x W(A1): docs/theorems/4.M-orbit-cover.md says what is checked, and why.

    python tests/reference/orbit_cover.py

It reads orbit_cover.txt, a line for each orbit: the eight Dynkin labels of a dominant point of R^8 and, in twentieths,
its height over R^8. Qhull proposes cones; nothing is believed of them but what is checked here. It takes some minutes
and gigabytes, prints the number of points and the radius, and fails if a check does.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull

from bounds.covering.polytope import ORBITS

FILE = Path(__file__).with_suffix(".txt")
ORDER = 696_729_600
"""Of W(E8)."""
ROUNDING = 1e-13
"""Of a sum of nine products of numbers below 10."""


def require(condition: object, what: str) -> None:
    """End the run where a check fails."""
    if not condition:
        raise SystemExit(f"not proved: {what}")


def simple_roots() -> np.ndarray:
    """Return the simple roots of E8, rows of squared length 2 (Bourbaki)."""
    roots = np.zeros((8, 8))
    roots[0] = 0.5 * np.array([1, -1, -1, -1, -1, -1, -1, 1])
    roots[1, :2] = 1.0
    for i in range(2, 8):
        roots[i, [i - 2, i - 1]] = -1.0, 1.0
    return roots


def group_order(nodes: set[int], roots: np.ndarray) -> int:
    """Return the order of the group that the reflections of some simple roots generate."""
    order, left = 1, set(nodes)
    while left:
        part, last = {left.pop()}, None
        while part != last:
            last = set(part)
            part |= {j for j in left if any(roots[i] @ roots[j] < -0.5 for i in part)}
        left -= part
        order *= _irreducible(part, roots)
    return order


def _irreducible(part: set[int], roots: np.ndarray) -> int:
    """Return the order for a connected diagram: A_n, D_n or E_n."""
    n, degrees = len(part), {i: sum(bool(roots[i] @ roots[j] < -0.5) for j in part) for i in part}
    if max(degrees.values()) < 3:
        return math.factorial(n + 1)
    fork = next(i for i in part if degrees[i] == 3)
    ends = sum(degrees[j] == 1 for j in part if roots[fork] @ roots[j] < -0.5)
    return 2 ** (n - 1) * math.factorial(n) if ends >= 2 else {6: 51840, 7: 2903040, 8: ORDER}[n]


def read_centers() -> tuple[np.ndarray, int]:
    """Return the centres in the chamber, (K, 9), not of unit length, and the number of points of their orbits."""
    table, roots = np.loadtxt(FILE, dtype=int), simple_roots()
    weights = np.rint(2.0 * np.linalg.inv(roots).T) / 2.0  # the fundamental weights of E8 are of its lattice
    require(np.array_equal(weights @ roots.T, np.eye(8)), "weights")
    count = sum(
        ORDER // group_order({i for i in range(8) if row[i] == 0}, roots) * (2 if row[8] else 1)
        for row in table.tolist()
    )
    require((table >= 0).all(), "chamber")
    return np.column_stack([table[:, :8] @ weights, table[:, 8] / 20.0]), count


def propose_cones(centers: np.ndarray, walls: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return index sets of nine generators, (n, 9), and a vector for each, near their common support, by Qhull."""
    generators = np.vstack([centers, walls])
    room = np.append(np.ones(len(centers)), np.zeros(9)) - generators @ inside
    hull = ConvexHull(generators / room[:, None], qhull_options="QJ Pp")
    return hull.simplices, inside - hull.equations[:, :-1] / hull.equations[:, -1:]


def check_ridges(simplices: np.ndarray) -> None:
    """Check that each set of eight generators is in an even number of cones."""
    rows = np.sort(simplices, axis=1).astype(np.uint64)
    keys = []
    for left in range(9):
        ridge = np.delete(rows, left, axis=1)
        keys.append(np.stack([(ridge[:, part] << np.array([48, 32, 16, 0], np.uint64)).sum(axis=1, dtype=np.uint64)
                              for part in (slice(0, 4), slice(4, 8))], axis=1))  # fmt: skip
    ridges = np.concatenate(keys)
    ridges = ridges[np.lexsort(ridges.T)]
    new = np.flatnonzero(np.append(True, (ridges[1:] != ridges[:-1]).any(axis=1)))
    require((np.diff(np.append(new, len(ridges))) % 2 == 0).all(), "ridges")


def support(
    centers: np.ndarray, walls: np.ndarray, inside: np.ndarray, simplices: np.ndarray, near: np.ndarray
) -> np.ndarray:
    """Return vectors with a product of at least 1 with each centre, and above 0 with each wall, of its cone."""
    generators = np.vstack([centers, walls])
    products = np.stack([np.einsum("ij,ij->i", near, generators[simplices[:, i]]) for i in range(9)], axis=1)
    needed = (simplices < len(centers)).astype(float)
    lack = np.maximum((needed - products).max(axis=1), 0.0) + ROUNDING
    # less of an inner vector raises products with walls by at least this a unit; then all is scaled
    vectors = near - (lack / -(walls @ inside).max())[:, None] * inside
    least = np.full(len(vectors), np.inf)
    for i in range(9):
        product = np.einsum("ij,ij->i", vectors, generators[simplices[:, i]])
        require((product[needed[:, i] == 0.0] > 0.5 * ROUNDING).all(), "products with walls")
        least = np.minimum(least, np.where(needed[:, i] == 1.0, product, np.inf))
    scale = np.where(np.isfinite(least), least - ROUNDING, 1.0)
    require((scale > 0.5).all(), "products with centres")
    return vectors / scale[:, None] * (1.0 + ROUNDING)


def count_cones(generators: np.ndarray, simplices: np.ndarray, vectors: np.ndarray, x: np.ndarray) -> int:
    """Return the number of cones that have a point inside; every other one is separated from it."""
    inside = 0
    for part in np.array_split(np.arange(len(simplices)), 1 + len(simplices) // 50_000):
        cones = generators[simplices[part]]  # (n, generators, coordinates)
        duals = np.linalg.inv(cones).transpose(0, 2, 1)  # row i: 1 with generator i, 0 with the others
        duals /= np.linalg.norm(duals, axis=2, keepdims=True)  # a flat cone's are its normals
        shares = duals @ x
        w = duals[np.arange(len(part)), shares.argmin(axis=1)]
        products = np.einsum("nij,nj->ni", cones, w)
        # a little of the cone's own vector makes all products positive
        lift = np.maximum(-products.min(axis=1), 0.0) + ROUNDING * np.abs(w).sum(axis=1)
        least = np.einsum("nij,nj->ni", cones, vectors[part]).min(axis=1)
        w = w + (2.0 * lift / least)[:, None] * vectors[part]
        rounding = 0.5 * ROUNDING * np.abs(w).sum(axis=1)
        separated = (np.einsum("nij,nj->ni", cones, w).min(axis=1) > rounding) & (w @ x < -rounding)
        # of the others the matrices are far from singular and the shares far from 0
        require((np.linalg.cond(cones[~separated]) < 1e6).all(), "cones about a point")
        require((shares[~separated] > 1e-6).all(), "cones about a point")
        inside += int((~separated).sum())
    return inside


def prove_radius(centers: np.ndarray) -> tuple[float, int]:
    """Return the covering radius of the orbits of unit vectors in the chamber, at most, and the number of cones."""
    roots = simple_roots()
    walls = np.zeros((9, 9))
    walls[:8, :8], walls[8, 8] = -roots, -1.0
    inside = np.append(np.linalg.inv(roots).sum(axis=1), 1.0)
    inside *= 0.5 / np.linalg.norm(inside)
    require((walls @ inside < 0.0).all(), "inner vector")
    simplices, near = propose_cones(centers, walls, inside)
    check_ridges(simplices)
    vectors = support(centers, walls, inside, simplices, near)
    point = np.sin(np.arange(1.0, 10.0))
    hits = count_cones(np.vstack([centers, walls]), simplices, vectors - 0.5 * inside, point)
    require(hits % 2 == 1, "number of cones about a point")
    return math.acos(1.0 / (float(np.linalg.norm(vectors, axis=1).max()) * (1.0 + 1e-14))), len(simplices)


def main() -> None:
    """Prove it."""
    raw, count = read_centers()
    radius, cones = prove_radius(raw / np.linalg.norm(raw, axis=1, keepdims=True))
    print(f"{len(raw)} orbits, {count} points, {cones} cones, radius {radius:.9f}")
    require(radius <= ORBITS[0], "radius")
    require(count == ORBITS[1], "number of points")


if __name__ == "__main__":
    main()
