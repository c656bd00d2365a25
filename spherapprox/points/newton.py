"""Spherical designs by Newton's method: orbits of a finite group whose invariant harmonics sum to zero."""

from __future__ import annotations

import functools
import math

import numpy as np

from .. import sphere
from .._norms import directions
from .._types import Float64
from ..harmonics import recurrences
from ..harmonics.hyperspherical import sizes
from .symmetry import Group

_ROUNDING = 1e-13  # more than the residual of any solution here: the size that docs/theorems/5.9-designs.md takes
_SEPARATION = 1e-6  # points nearer to each other than this count as one
_STEPS = 200  # the most steps from one start
_PAIRS = 1e9  # the most distances that the relaxation of one start computes: some ten seconds


class Invariants:
    """The invariant harmonics of the degrees 1, ..., degree: singular vectors of orbit sums at random points.

    They are orthonormal for the normalised measure.
    """

    def __init__(self, group: Group, degree: int) -> None:
        counts = group.invariants(degree)
        self._degree, self._bases = degree, dict[int, Float64]()
        n = int(counts.max()) + 8
        images = group.orbits(sphere.uniform(2, n, 0)) if len(group) > 1 else np.eye(3)
        for k, values in recurrences.by_degree(degree, images):
            if k == 0 or not counts[k]:
                continue
            if len(group) == 1:
                basis = np.eye(2 * k + 1)
            else:
                basis = np.linalg.svd(values.reshape(2 * k + 1, n, -1).mean(2))[0][:, : counts[k]]  # (2k+1, N_k)
            self._bases[k] = math.sqrt(2 * k + 1) * basis.T

    def __call__(self, x: Float64) -> tuple[Float64, Float64, Float64]:
        """Return at x (q, 3) values (N, q), slopes (N, q, 2) and the tangents (q, 2, 3) that these belong to."""
        z, s, azimuth = recurrences.polar(x)
        cos, sin = recurrences.cosines_and_sines(azimuth, self._degree)
        before, parts = z[:0, None], []
        for k, row in enumerate(recurrences.legendre_rows(self._degree, z, s)):
            if k in self._bases:
                south, east = recurrences.derivative_rows(k, row, before)
                order_rows = recurrences.order_rows
                table = np.stack([order_rows(row, cos, sin), order_rows(south, cos, sin), order_rows(east, -sin, cos)])
                parts.append(self._bases[k] @ table)  # (3, N_k, q)
            before = row
        values, south, east = np.concatenate(parts, axis=1)  # (N, q) each
        tangents = np.array([[z * cos[1], z * sin[1], -s], [-sin[1], cos[1], np.zeros_like(s)]])
        return values, np.stack([south, east], axis=-1), np.moveaxis(tangents, 2, 0)


_invariants = functools.lru_cache(maxsize=4)(Invariants)


def solve(
    group: Group, degree: int, n_orbits: int, *, attempts: int, rng: np.random.Generator, certified: bool = True
) -> Float64 | None:
    """Return a design of orbits of the group, (n_orbits * order, dim+1), or None where no start leads to one.

    Starts are orbits that repel each other, more or less relaxed: a minimum of the energy may be too symmetric to lead
    to a design. If `certified`, only solutions count that have an exact design near to them for certain.
    """
    free = not group.invariants(degree)[1:].any()  # every orbit is a design
    functions = None if free else _invariants(group, degree)
    for _ in range(attempts):
        # Step 1: a start, more or less relaxed
        x = sphere.uniform(group.elements.shape[1] - 1, n_orbits, rng)
        x = _relax(group, x, min(int(rng.integers(61)), int(_PAIRS / (n_orbits**2 * len(group)))))
        # Step 2: Newton's method for F(x) = 0 (5.9)
        if functions is not None:
            x, mean, slopes = _levenberg_marquardt(functions, x)
            if np.linalg.norm(mean) > 0.3 * _ROUNDING or (certified and not _is_certified(group, degree, slopes)):
                continue
        # Step 3: the orbits of the solution, one after the other, if no two points coincide
        points = group.orbits(x)  # (n_orbits * order, dim+1)
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        squares = 2.0 - 2.0 * (points[:: len(group)] @ points.T)  # (n_orbits, n_orbits * order)
        rows = np.arange(n_orbits)
        squares[rows, len(group) * rows] = np.inf  # the identity comes first
        if squares.min() > _SEPARATION**2:
            return points
    return None


def _is_certified(group: Group, degree: int, slopes: Float64) -> bool:
    """Tell whether an exact design is at most 2e-13 / s away, s the smallest singular value.

    docs/theorems/5.9-designs.md. Points farther than `_SEPARATION` from each other stay distinct: twice that is at
    most half of it.
    """
    counts = group.invariants(degree)
    dim = group.elements.shape[1] - 1
    size = int(sizes(degree, dim)[1:][counts[1:] > 0].sum())
    # 5.9: Lambda = t^2 sqrt(D)/q, with D = size
    curvature = degree**2 * math.sqrt(size) * dim / slopes.shape[1]  # n_orbits is the number of columns over dim
    smallest = np.linalg.eigvalsh(slopes @ slopes.T)[0]
    # 5.9: s^2 > 4 Lambda epsilon, and 4 epsilon/s below half of `_SEPARATION`
    return bool(smallest > max(4.0 * curvature * _ROUNDING, (8.0 * _ROUNDING / _SEPARATION) ** 2))


def _levenberg_marquardt(functions: Invariants, x: Float64) -> tuple[Float64, Float64, Float64]:
    """Return points near x that make the means of all functions vanish, the means, and their slopes (N, q dim).

    Damped minimum-norm Newton steps -J' (J J' + damping)^-1 F. It stops where the norm of F no longer falls, and where
    it does not halve in 15 steps.
    """

    def means(x: Float64) -> tuple[Float64, Float64, Float64]:
        values, slopes, tangents = functions(x)
        return values.mean(1), slopes.reshape(len(values), -1) / len(x), tangents  # (N,), (N, q dim), (q, dim, dim+1)

    mean, slopes, tangents = means(x)
    norms = [float(np.linalg.norm(mean))]
    normal = slopes @ slopes.T
    unit = float(np.trace(normal)) / len(normal)
    damping, identity = 1e-3, np.eye(len(normal))
    for _ in range(_STEPS):
        # Step 1: the damped minimum-norm step along the tangents
        try:
            step = slopes.T @ np.linalg.solve(normal + damping * unit * identity, mean)
        except np.linalg.LinAlgError:
            damping *= 10.0
            continue
        # Step 2: the trial points, back on the sphere
        trial = x - np.einsum("qu,qui->qi", step.reshape(tangents.shape[:2]), tangents)
        trial /= np.linalg.norm(trial, axis=1, keepdims=True)
        result = means(trial)
        # Step 3: less damping where it is better, more where not
        norm = float(np.linalg.norm(result[0]))
        if norm < norms[-1]:
            x, (mean, slopes, tangents) = trial, result
            normal, damping = slopes @ slopes.T, max(0.15 * damping, 1e-15)
        else:
            damping *= 5.0
        # Step 4: the end, at rounding or where it stalls
        if norm >= norms[-1] and (norms[-1] < _ROUNDING or damping > 1e8):
            break
        norms.append(min(norm, norms[-1]))
        if len(norms) > 15 and norms[-1] > max(0.5 * norms[-16], _ROUNDING):
            break
    return x, mean, slopes


def _relax(group: Group, x: Float64, iterations: int) -> Float64:
    """Return points whose orbits repel each other with energy |x - y|^-m, after some steps of L-BFGS."""
    q, width = x.shape
    own = np.zeros((q, q, len(group)), dtype=bool)
    own[np.arange(q), np.arange(q), 0] = True  # the identity comes first

    def energy(flat: Float64) -> tuple[float, Float64]:
        y = flat.reshape(q, width)
        length = np.linalg.norm(y, axis=1, keepdims=True)
        y = y / length
        images = group.orbits(y)  # (q order, d)
        squares = np.maximum(2.0 - 2.0 * (y @ images.T).reshape(q, q, -1), 1e-12)
        squares[own] = np.inf  # (q, q, order)
        terms = squares ** (-0.5 * (width - 1))
        total = terms.sum()
        gradient = (2.0 * (width - 1) * terms / squares).reshape(q, -1) @ images
        gradient -= (gradient * y).sum(1, keepdims=True) * y
        return math.log(total), (gradient / (length * total)).ravel()

    from scipy.optimize import minimize  # not before it is needed, as it loads much

    y = minimize(energy, x.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations}).x.reshape(q, width)
    return directions(y)
