"""The least error of prefixes at one query: constraints on pairs of contexts, and means of values that come near it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...._norms import lengths
from ...._types import Bools, Float64, Indices

_SLACK = 1e-13
"""Intervals are this much wider, so that those of small masses still meet beside those of large ones."""
_SPREAD = 600.0
"""Log masses that differ by less keep all digits as masses over the largest one."""
_ABOVE = 1.0 + 1e-15
"""So much above a ratio the ends of large intervals have the right sign, and do not hide the small ones."""


def share(gap: Float64) -> Float64:
    """Return 1 / (1 + exp(-gap)), right to some units in the last place, also at infinity."""
    with np.errstate(under="ignore"):
        small = np.exp(-np.abs(gap))
    return np.asarray(np.where(gap < 0.0, small, 1.0) / (1.0 + small))


def farthest_pairs(y: Float64, log_radius: Float64, euclidean: bool) -> tuple[Indices, Indices]:
    """Return pairs i, j with the largest ``|r_i y_i - r_j y_j| / (r_i + r_j)``, of each coordinate or each row i."""
    if euclidean:  # the farthest row of each
        partners = [int(np.argmax(lengths(_differences(y, log_radius, row)))) for row in range(len(y))]
        return np.arange(len(y)), np.array(partners)
    spread = float(log_radius.max() - log_radius.min())
    return _of_coordinates(y, log_radius) if spread < _SPREAD else _of_all(y, log_radius)


def _of_coordinates(y: Float64, log_radius: Float64) -> tuple[Indices, Indices]:
    """Find them in some passes over the rows: a ratio falls where intervals about r_i y_i all meet (8.2, pairs)."""
    radius = np.exp(log_radius - log_radius.max())[:, None]
    middle, columns, error = radius * y, np.arange(y.shape[1]), np.zeros(y.shape[1])
    best = np.zeros((2, len(columns)), dtype=np.intp)
    while True:
        above = radius * (error * _ABOVE)
        i, j = np.argmax(middle - above, axis=0), np.argmin(middle + above, axis=0)
        ratios = (middle[i, columns] - middle[j, columns]) / (radius[i, 0] + radius[j, 0])
        better = ratios > error
        if not better.any():
            return best[0], best[1]
        best[:, better], error[better] = np.stack([i, j])[:, better], ratios[better]


def _of_all(y: Float64, log_radius: Float64) -> tuple[Indices, Indices]:
    """Find those of coordinates by all pairs, whatever the radii are."""
    columns = np.arange(y.shape[1])
    best, i, j = np.full(len(columns), -1.0), np.zeros_like(columns), np.zeros_like(columns)
    for row in range(len(y)):
        ratios = np.abs(_differences(y, log_radius, row))
        k = np.argmax(ratios, axis=0)
        better = ratios[k, columns] > best
        best[better], i[better], j[better] = ratios[k, columns][better], row, k[better]
    return i, j


def _differences(y: Float64, log_radius: Float64, row: int) -> Float64:
    """Return ``(r_i y_i - r_j y_j) / (r_i + r_j)`` for one i."""
    gap = log_radius[row] - log_radius
    return np.asarray(share(gap)[:, None] * y[row] - share(-gap)[:, None] * y)


class Point(NamedTuple):
    """The least error that was found, and the log mass of the prefix there; rows of the worst constraint."""

    error: float
    log_mass: float
    rows: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Errors that no mean can avoid, ``|(1 - rho) start + rho end| - rho V``, as functions of the share of the prefix.

    This is ``rho = psi / (psi + exp(log_mass))``, psi the mass of the prefix (8.2, pairs). In the maximum norm each has
    one coordinate, in the Euclidean norm all; `rows` holds the rows i, j, with j = -1 for the bound V of values, and
    the coordinate.
    """

    rows: Indices
    log_mass: Float64
    start: Float64
    end: Float64
    bound: Float64

    def errors(self, log_psi: float) -> tuple[Float64, Float64]:
        """Return the errors (k,), and the vectors (k, 1 or p) whose lengths they are."""
        rho = share(log_psi - self.log_mass)
        vectors = share(self.log_mass - log_psi)[:, None] * self.start + rho[:, None] * self.end
        least: Float64 = lengths(vectors)
        limited = np.isfinite(self.bound)
        least[limited] -= rho[limited] * self.bound[limited]
        return least, vectors

    def slope(self, k: int, vector: Float64) -> float:
        """Return a number that has the sign of the slope of an error in psi."""
        size = float(lengths(vector[None])[0])
        along = float(np.sum((vector / size) * (self.end[k] - self.start[k])))
        return along - self.bound[k] if math.isfinite(self.bound[k]) else along

    def lowest(self, low: float, high: float) -> Point:
        """Return the minimum of the largest error over log masses in [low, high] by bisection to adjacent floats."""
        best, log_psi = Point(math.inf, 0.0, ()), min(max(0.0, low), high)
        if not len(self.rows):
            return Point(0.0, log_psi, ())
        while True:
            values, vectors = self.errors(log_psi)
            k = int(np.argmax(values))
            best = min(best, Point(max(float(values[k]), 0.0), log_psi, tuple(map(int, self.rows[k]))))
            slope = self.slope(k, vectors[k]) if values[k] > 0.0 else 0.0
            if slope > 0.0:
                high = log_psi
            elif slope < 0.0:
                low = log_psi
            log_psi = low + 0.5 * (high - low)
            if not slope or high - low <= 1e-16 * (1.0 + abs(low)) or log_psi in (low, high):
                return best


@dataclass(frozen=True, eq=False)
class QueryContexts:
    """What contexts of one query ask of a prefix, in units in which nothing overflows.

    Targets, changes (targets less means) and log masses (less the largest), a row for each; V bounds values.
    """

    target: Float64
    change: Float64
    log_mass: Float64
    euclidean: bool
    bound: float

    def floor(self, low: float, high: float) -> Point:
        """Return the least error over log masses in [low, high], which are finite, by adding constraints not met."""
        active = self.constraints(np.empty((0, 3), dtype=np.intp))
        while True:
            point = active.lowest(low, high)
            rows = self._unmet(point.log_mass, point.error)
            sets = set(map(tuple, active.rows.tolist()))
            added = [row for row in rows.tolist() if tuple(row) not in sets]
            if not added:
                return point
            active = self.constraints(np.concatenate([active.rows, np.array(added, dtype=np.intp)]))

    def at(self, log_psi: float) -> Point:
        """Return the least error at one log mass, which may be infinite."""
        active = self.constraints(self._unmet(log_psi, -1.0))
        if not len(active.rows):
            return Point(0.0, log_psi, ())
        values = active.errors(log_psi)[0]
        k = int(np.argmax(values))
        return Point(max(float(values[k]), 0.0), log_psi, tuple(map(int, active.rows[k])))

    def slope(self, point: Point) -> float:
        """Return a number that has the sign of the slope in psi of the worst constraint at a point; 0 for roundings."""
        active = self.constraints(np.array([point.rows], dtype=np.intp).reshape(-1, 3))
        if not len(active.rows) or not point.error > 0.0:
            return 0.0
        slope = active.slope(0, active.errors(point.log_mass)[1][0])
        return slope if abs(slope) > 1e-13 * float(np.abs(active.start[0]).max() + np.abs(active.end[0]).max()) else 0.0

    def weights(self, log_psi: float) -> tuple[Float64, Float64]:
        """Return outputs less the prefix's own part, less targets, and log masses in all: c_i / r_i and log r_i."""
        lam, heights = share(log_psi - self.log_mass), np.zeros(len(self.log_mass))
        if log_psi < math.inf:
            heights = np.logaddexp(log_psi, self.log_mass)
        y = lam[:, None] * (self.target - self.target[0]) + share(self.log_mass - log_psi)[:, None] * self.change
        return y, heights

    def mean(self, log_psi: float) -> Float64:
        """Return the mean (p,) of the values of a prefix of a log mass that reaches the least error, or comes near."""
        y, _ = self.weights(log_psi)
        steps = np.logaddexp(0.0, self.log_mass - log_psi)  # log r_i / psi
        with np.errstate(over="ignore", invalid="ignore"):
            if self.euclidean:
                mean = self.target[0] + centre(y, steps, self.target[0], bound=self.bound)
                if math.isfinite(self.bound) and not np.isfinite(mean).all():  # a mass so small that all do as well
                    return np.zeros_like(mean)
                size = float(lengths(mean[None])[0])
                return np.asarray(mean * min(1.0, self.bound / size)) if size > 0.0 else mean
            i, j = farthest_pairs(y, steps, False)
            c = np.arange(len(i))
            error = np.abs(share(steps[i] - steps[j]) * y[i, c] - share(steps[j] - steps[i]) * y[j, c])
            mean = self.target[0] + middle(y, steps, error)
            return np.asarray(np.clip(mean, -self.bound, self.bound))

    def constraints(self, rows: Indices) -> Constraints:
        """Return the constraints of pairs of rows, and of rows and the bound of values."""
        i, j, c = rows.T
        own: Bools = j < 0
        half = np.logaddexp(self.log_mass[i], self.log_mass[j]) - math.log(2.0)
        gap = self.log_mass[i] - self.log_mass[j]
        start = share(gap)[:, None] * self.change[i] - share(-gap)[:, None] * self.change[j]
        end = 0.5 * (self.target[i] - self.target[j])
        start[own], end[own] = self.change[i[own]], self.target[i[own]]
        if not self.euclidean:
            start, end = (np.take_along_axis(part, c[:, None], 1) for part in (start, end))
        return Constraints(
            rows, np.where(own, self.log_mass[i], half), start, end=end, bound=np.where(own, self.bound, np.inf)
        )  # fmt: skip

    def _unmet(self, log_psi: float, error: float) -> Indices:
        """Return the constraints with a larger error, the worst one of each coordinate (or row) and kind."""
        i, j = farthest_pairs(*self.weights(log_psi), self.euclidean)
        c = np.zeros_like(i) if self.euclidean else np.arange(len(i))
        rows = np.stack([i, j, c], axis=1)[i != j]
        if math.isfinite(self.bound):
            lam = share(log_psi - self.log_mass)[:, None]
            vectors = lam * self.target + share(self.log_mass - log_psi)[:, None] * self.change
            least = (lengths(vectors)[:, None] if self.euclidean else np.abs(vectors)) - lam * self.bound
            c = np.arange(least.shape[1])
            rows = np.concatenate([rows, np.stack([least.argmax(axis=0), np.full_like(c, -1), c], axis=1)])
        return np.asarray(rows[self.constraints(rows).errors(log_psi)[0] > error])


def middle(y: Float64, steps: Float64, error: Float64) -> Float64:
    """Return F (p,) with ``|F - exp(steps_i) y_i| <= error exp(steps_i)`` in each coordinate, but for roundings."""
    wide = error * (1.0 + _SLACK) + 1e-15 * np.abs(y).max(axis=0)
    times = np.exp(steps)[:, None]
    low = np.max(np.where(y == wide, 0.0, (y - wide) * times), axis=0)
    high = np.min(np.where(y == -wide, 0.0, (y + wide) * times), axis=0)
    ends = np.where(np.isfinite(low), low, high), np.where(np.isfinite(high), high, low)
    return np.asarray(ends[0] + 0.5 * (ends[1] - ends[0]))


def centre(y: Float64, steps: Float64, origin: Float64, bound: float) -> Float64:
    """Return nearly the F (p,) with the least largest length of ``exp(-steps_i) F - y_i``.

    Of several rows ``|origin + F| <= bound``; of one row, F may be longer: then the nearest one within is best.
    """
    if len(y) == 1:
        return np.asarray(y[0] * np.exp(steps[0]))
    if len(y) == 2:  # where the errors are equal, between the two
        mean = np.asarray((y[0] + y[1]) * np.exp(steps[0] + steps[1] - np.logaddexp(steps[0], steps[1])))
        if bound == np.inf or float(lengths((origin + mean)[None])[0]) <= bound:
            return mean
    return _lawson(y, steps, origin, bound=bound)


def _lawson(y: Float64, steps: Float64, origin: Float64, bound: float) -> Float64:
    """Return it by least squares whose weights are multiplied by the errors (Lawson 1961), the best one met.

    Within the bound the best F of a pass is the one nearest to that of least squares, whose level sets are balls.
    """
    least = float(steps.min())
    unit, own = float(np.exp(-least)), np.exp(least - steps)[:, None]
    origin, bound = origin * unit, bound * unit
    weights, best, error = np.full((len(y), 1), 1.0 / len(y)), np.zeros(y.shape[1]), np.inf
    for _ in range(300):
        below = float(np.sum(weights * own * own))
        if not below > 0.0:  # what is left cannot see the prefix
            break
        mean = np.sum(weights * own * y, axis=0) / below
        size = float(lengths((origin + mean)[None])[0])
        mean = mean if not size > bound else (origin + mean) * (bound / size) - origin
        residuals = lengths(own * mean - y)
        if float(residuals.max()) < error:
            best, error = mean, float(residuals.max())
        total = float(np.sum(weights[:, 0] * residuals))
        if not total > 0.0:
            break
        weights = weights * (residuals / total)[:, None]
    return np.asarray(best * np.exp(least))
