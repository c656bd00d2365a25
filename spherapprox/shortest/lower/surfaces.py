"""Lower bounds from a target's values on products of spheres and on circles, for keys of any lengths."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ... import points
from ..._norms import unit_of
from ..._types import Float64
from ...error import lengths
from ...target import Target
from .coefficients import harmonics_of_value
from .tails import tails

_OFF = 1e-13
"""Points of products and of circles are right to this angle."""
_IDLE, _CIRCLES = 150, 400
"""Products in turn that bring nothing before a search ends, and circles that are tried."""
_MOST_ROWS = 40
_MOST_VALUES = 1e9
"""Of harmonics that targets sum for one bound: half a minute."""
_LEVELS = 33


@dataclass(frozen=True)
class Values:
    """A target's values at points near exact ones, and what a head within eps may differ by from them at those."""

    target: Target
    eps: float
    certified: bool
    deadline: float = math.inf

    def __call__(self, x: Float64) -> Float64:
        """Return the values at points, (n, p)."""
        values = self.target(x / np.linalg.norm(x, axis=1, keepdims=True))
        return np.asarray(values, dtype=np.float64).reshape(len(x), -1)

    def count_tries(self, count: int, rows: int) -> Iterator[int]:
        """Count how often a target is evaluated at so many points: less often if it sums many harmonics."""
        for step in range(min(count, int(_MOST_VALUES / (rows * harmonics_of_value(self.target))))):
            if time.monotonic() > self.deadline:
                return
            yield step

    def slack(self, values: Float64) -> float:
        """Return the difference that a head within eps may have from the values at the exact points."""
        size, shift = self.target.sup_norm, self.target.modulus(_OFF)
        continuous = size is not None and math.isfinite(shift)
        if self.certified and not continuous:
            remedy = "give them (targets.with_constants proves those of polynomials), or choose certified=False"
            raise ValueError(f"'target' must state sup_norm and lipschitz for certified=True: {remedy}")
        size = float(lengths(values).max()) if size is None else size
        share = self.target.accuracy + 1e-14 + 2.0**-51 * values.shape[1]
        return float(self.eps + share * size + (shift if continuous else 0.0))


def torus_bound(values: Values, *, tries: int = 600) -> int:
    """Return the least number of tokens of a core head within eps, by products of two spheres in S^m (4.K, torus).

    Products are drawn at random, and the best is moved a little, in turn.
    """
    dim, rng = values.target.dim, np.random.default_rng(0)
    ranks = (dim + 2) // 2  # the larger sphere for rows: vectors have a column for each component
    rules = [_rule(ranks), _rule(dim + 1 - ranks)]
    weights = np.sqrt(np.outer(rules[0][1], rules[1][1]))
    best, frame, turn, largest, idle = 0, np.eye(dim + 1), 0.25 * math.pi, 0.0, 0
    for step in values.count_tries(tries, weights.size):
        if step % 2:
            trial = frame + 0.3 * rng.uniform() ** 2 * rng.standard_normal(frame.shape)
            angle = turn + 0.3 * rng.uniform() ** 2 * rng.standard_normal()
        else:
            trial, angle = rng.standard_normal(frame.shape), math.acos(1.0 - rng.uniform())
        trial = np.linalg.qr(trial)[0]
        first, second = rules[0][0] @ trial[:ranks], rules[1][0] @ trial[ranks:]
        x = math.sin(angle) * first[:, None] + math.cos(angle) * second[None]
        sample = values(x.reshape(-1, dim + 1))
        matrix = weights[:, :, None] * sample.reshape(*weights.shape, -1)
        stacked = matrix.transpose(0, 2, 1).reshape(len(matrix), -1)
        unit = unit_of(stacked)
        tail, error = tails(stacked / unit, values.certified, symmetric=False)
        tail = np.append(unit * (tail - error) - values.slack(sample), -math.inf)
        idle += 1
        if tail[best] > largest or tail[best] > 0.0:
            frame, turn, largest, idle = trial, angle, float(tail[best]), 0
            while tail[best] > 0.0:
                best, largest = best + 1, float(tail[best + 1])
        elif idle >= _IDLE:
            break
    return max(best, 1)


def circle_bound(values: Values, constants: bool) -> int:
    """Return the least number of tokens of a head within eps, by changes of sign of f - c on circles (4.K, circles).

    With `constants` a head less a constant has no more terms than tokens: for split heads, not for core heads.
    """
    dim, rng = values.target.dim, np.random.default_rng(0)
    degree = values.target.degree
    count = 256 if degree is None else min(max(16 * degree, 64), 2048)
    angle = 2.0 * math.pi * np.arange(count) / count
    best = 1
    for _ in values.count_tries(40 if dim == 1 else _CIRCLES, count):
        frame = np.linalg.qr(rng.standard_normal((dim + 1, dim + 1)))[0]
        tilt = 0.5 * math.pi if dim == 1 else math.acos(rng.uniform(-0.7, 0.7))
        x = math.sin(tilt) * (np.cos(angle)[:, None] * frame[0] + np.sin(angle)[:, None] * frame[1])
        sample = values(x if dim == 1 else x + math.cos(tilt) * frame[2])
        slack = values.slack(sample)
        if sample.shape[1] > 1:
            direction = rng.standard_normal(sample.shape[1])
            sample = (sample @ (direction / np.linalg.norm(direction)))[:, None]
        y = np.ravel(sample)
        for level in [0.0, *np.linspace(y.min(), y.max(), _LEVELS).tolist()]:
            signs = np.sign((y - level)[np.abs(y - level) > slack])
            n = least_tokens(int((signs != np.roll(signs, 1)).sum()))  # changes of sign around the circle
            best = max(best, n if constants or level == 0.0 else n - 1)
    return best


def largest_zero_count(n: int) -> int:
    """Return how many zeros on a circle a sum of n exponentials of linear functions has at most (4.K, circles)."""
    return 2 * (n - 1) if n <= 3 else 2 * (n - 1) ** 2 + 2 * (n - 1) * (n - 2) * (n - 3) // 3


def least_tokens(zeros: int) -> int:
    """Return the least number of exponentials whose sum may have so many zeros."""
    n = 1
    while largest_zero_count(n) < zeros:
        n += 1
    return n


def _rule(columns: int) -> tuple[Float64, Float64]:
    """Return points of the unit sphere of R^columns and weights of sum 1."""
    if columns == 1:
        return np.array([[1.0], [-1.0]]), np.array([0.5, 0.5])
    degree = 1
    while (degree + 2) * ((degree + 1) // 2 + 1) ** (columns - 2) <= _MOST_ROWS:
        degree += 1
    rule = points.gauss_product(columns - 1, degree)
    return rule.points, rule.weights
