"""The error of a head on a target: at centres of cells, and the tests that cells may pass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._types import Bools, Float64
from ...harmonics.forms import tangent_frame
from ...summation.plan import Wish, evaluated
from ...summation.problem import Problem
from . import taylor
from .function import Function
from .riesz import Riesz, degree_for, log_mean
from .search import Passes

_RTOL = 1e-11
"""What methods of summation may leave out of each row, whose sums proofs take no others of: 4.9 (d) is measured."""
_TRIED = 16
"""Beside Riesz's test Taylor's is for one cell in so many, and for all where enough of these pass."""
_TERMS = 5000
"""Terms whose moments take as long as the sums at a point by the fastest method. Tuned."""
_SAMPLE = 20_000
"""Points at which the largest denominator is looked for: any number would do, a large one lets fewer cells pass."""
TAIL_SHARE = 1e-4
"""Share of the bound's room that the parts of the head beyond Riesz's degree may take. Tuned."""


@dataclass(frozen=True)
class HeadError:
    """The error ``|f - h|`` of a head with control points b (N, d) and values (N, p), in units of `unit`."""

    function: Function
    b: Float64
    values: Float64
    concentration: float
    normalize: bool
    unit: float
    deviation: float = 0.0
    """Largest distance of b from the true control points."""

    @classmethod
    def of(cls, head: Any, function: Function) -> HeadError:
        """Return the error of a head on a target of which enough is known."""
        values = head.values.reshape(len(head), -1).astype(np.float64)
        # a power of 2, so that values divided by it keep their digits
        unit = math.ldexp(1.0, min(math.frexp(max(float(np.abs(values).max()), function.size))[1], 1023))
        rows = head.control_points.astype(np.float64)
        return cls(function, rows, values / unit, head.concentration, head.family == "split", unit)

    @cached_property
    def terms(self) -> taylor.Terms:
        """The terms as Taylor's test takes them."""
        columns = np.ascontiguousarray(self.b.T)
        return taylor.Terms(self.b, columns, self.values, self.concentration, self.normalize)

    @cached_property
    def total(self) -> float:
        """Bound of a head's sum of absolute terms: the largest value, or for core heads all of them."""
        sizes = np.linalg.norm(self.values, axis=1)
        return float(sizes.max() if self.normalize else sizes.sum()) * (1.0 + 1e-12)

    @property
    def ceiling(self) -> float:
        """Bound of the error everywhere."""
        return (self.total + self.function.size / self.unit) * (1.0 + 1e-12)

    def sums(self, x: Float64) -> tuple[Float64, Float64, float]:
        """Return the head (n, p), the logarithm of its denominator (n,), 0 for core heads, and the relative error."""
        problem = Problem(x, self.b, 0.5 * self.concentration, np.dtype(np.float64), self.values, self.normalize)
        partial, plan = evaluated(problem, Wish("auto", _RTOL, 1), True)
        # 6.5, rounding: the lengths of the centres are off by a rounding
        exponent = min(2.0 * self.concentration, 745.0)
        error = plan.rtol + 4e-16 * exponent + 4.0 * self.deviation * math.sqrt(2.0 * self.concentration * exponent)
        log_scale = -0.5 * self.concentration * partial.shift
        if not self.normalize:
            return partial.numerators * np.exp(log_scale)[:, None], np.zeros(len(x)), error
        return partial.numerators / partial.denominator[:, None], log_scale + np.log(partial.denominator), error

    def errors(self, x: Float64) -> tuple[Float64, Float64, float]:
        """Return |f - h| (n,), the logarithms of the denominators (n,), and a bound of the errors' errors."""
        h, log_sums, relative = self.sums(x)
        errors = np.linalg.norm(self.function.values(x) / self.unit - h, axis=1)
        function = (self.function.value_error + 4e-16 * self.function.size) / self.unit
        return errors, log_sums, (relative * self.total + function) * (1.0 + 1e-9) + 1e-300

    def riesz(self, bound: float, room: float, x: Float64) -> Riesz | None:
        """Return Riesz's test for a bound with some room; x are points that show how large the denominator is."""
        function, (n, d) = self.function, self.b.shape
        if function.degree is None or room <= 0.0 or self.total == 0.0:
            return None
        size = (function.size + function.remainder) / self.unit
        if self.normalize:
            rows = np.concatenate([self.b[:: -(-n // _SAMPLE)], x[:: -(-len(x) // _SAMPLE)]])
            log_scale = float(self.sums(rows)[1].max()) + 0.02
            log_factor = math.log(size + self.total + bound) + math.log(n)
        else:
            log_scale, log_factor = 0.0, math.log(self.total)
        log_factor += log_mean(d - 1, self.concentration) - log_scale
        found = degree_for(d - 1, self.concentration, math.log(TAIL_SHARE * room) - log_factor)
        if found is None:
            return None
        degree, log_tail = found
        # 6.5, rounding: rows of other lengths have kernels of other concentrations
        defect = float(np.abs(np.linalg.norm(self.b, axis=1) - 1.0).max())
        log_tail += 2.0 * defect * (self.concentration + 2.0 * (degree + d)) + 1e-6
        degree = degree + function.degree if self.normalize else max(degree, function.degree)
        return Riesz(degree, math.exp(log_tail + log_factor), log_scale, room)

    def passed(
        self, x: Float64, radii: Float64, errors: Float64, log_sums: Float64, bound: float, rounding: float,
        riesz: Riesz | None,
    ) -> Passes:  # fmt: skip
        """Tell which cells pass Riesz's test, and which of the others Taylor's."""
        known = errors + rounding + self.function.remainder / self.unit
        by_riesz, by_taylor = np.zeros((2, len(x)), dtype=bool)
        if riesz is not None:
            fall = self.concentration * radii if self.normalize else np.zeros(len(x))
            by_riesz = riesz.passed(radii, known, log_sums, fall, bound, rounding)
        rows = np.flatnonzero(~by_riesz & (known < bound))
        if riesz is not None and len(rows) > _TRIED**2:
            tried = rows[::_TRIED]
            share = self._taylor(x[tried], radii[tried], known[tried], log_sums[tried], bound, riesz).mean()
            # moments over all N terms, against the sums at the halves of a cell
            rows = rows if share > min(len(self.b) / (_TERMS * 2.0 ** (x.shape[1] - 1)), 0.9) else rows[:0]
        if len(rows):
            by_taylor[rows] = self._taylor(x[rows], radii[rows], known[rows], log_sums[rows], bound, riesz)
        return Passes(by_riesz, by_taylor)

    def _taylor(
        self, x: Float64, radii: Float64, errors: Float64, log_sums: Float64, bound: float, riesz: Riesz | None
    ) -> Bools:
        """Tell which cells pass Taylor's test."""
        frames = tangent_frame(x)  # (n, m, d)
        sizes = errors + self.function.size / self.unit
        found = taylor.moments(x, radii, frames, self.terms, sizes)
        # 6.5 (T): the target by its modulus, or by its slope at the centre
        base = errors + found.rest + taylor.OMITTED * self.total
        with np.errstate(over="ignore", invalid="ignore"):
            upper = base + found.first_order(radii) + self.function.change(radii) / self.unit * (1.0 + 1e-12)
            if self.function.curvature < math.inf:
                bend = found.bend(radii) + 0.5 * self.function.curvature / self.unit * radii**2 * (1.0 + 1e-12)
                rows = np.flatnonzero((base + bend < bound) & ~(upper <= bound))
                linear = self._linear(x[rows], radii[rows], frames[rows], found.along[rows])
                upper[rows] = np.fmin(upper[rows], (base + bend)[rows] + linear)
            passed = upper <= bound
            if riesz is not None and self.normalize:
                # 6.5 (RT): |f - h| d + B |dbar - d| <= B dbar over the cell
                top = log_sums + found.log_growth + np.log((upper + bound) / (2.0 * bound))
                passed &= top <= riesz.log_scale - 1e-9
        return np.asarray(passed)

    def _linear(self, x: Float64, radii: Float64, frames: Float64, along: Float64) -> Float64:
        """Bound the first-order change of f - h over caps, (n,)."""
        if not len(x):
            return np.empty(0)
        slopes, slip = self.function.gradients(x, frames)
        if slip == math.inf:
            return np.full(len(x), math.inf)
        differences = (slopes / self.unit - along).reshape(len(x), -1)
        return np.asarray(radii * (np.linalg.norm(differences, axis=1) + slip / self.unit) * (1.0 + 1e-9))
