"""The error of a head on a target: at centres of cells, and the tests that cells may pass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ... import special
from ..._types import Bools, Float64, Indices
from ...harmonics.forms import tangent_frame
from ...summation import bands
from ...summation.plan import Wish, evaluated
from ...summation.problem import Problem
from . import taylor
from .function import Function
from .riesz import Riesz, degree_for, log_mean
from .search import Passes, Sample

_RTOL = 1e-11
"""What methods of summation may leave out of each row, whose sums proofs take no others of: 4.9 (d) is measured."""
_TRIED = 16
"""Beside Riesz's test Taylor's is for one cell in so many, and for all where enough of these pass."""
_TERMS = 20.0
"""Terms whose moments take as long as an evaluation of the error. Tuned."""
_SAMPLE = 20_000
"""Points at which the largest denominator is looked for: any number would do, a large one lets fewer cells pass."""
_VARYING = 3.0
"""Logarithm of a denominator's largest over its median value from which on Riesz's test does not pay. Tuned."""
TAIL_SHARE = 0.05
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
    concentrations: Float64 | None = None
    """Those of the control points where they differ; `concentration` is the largest."""
    deviation: float = 0.0
    """Largest distance of b from the true control points."""

    @classmethod
    def of(cls, head: Any, function: Function) -> HeadError:
        """Return the error of a head on a target of which enough is known."""
        values = head.values.reshape(len(head), -1).astype(np.float64)
        # a power of 2, so that values divided by it keep their digits
        unit = math.ldexp(1.0, min(math.frexp(max(float(np.abs(values).max()), function.size))[1], 1023))
        split, concentrations = head.family == "split", np.broadcast_to(head.concentration, len(head))
        matter = values.any(axis=1) | split
        if (values == split * values[0]).all():
            # a constant is a head of one point at any concentration
            matter, concentrations = np.arange(len(head)) < 1, np.zeros(len(head))
        rows, values = head.control_points[matter].astype(np.float64), values[matter]
        rates, top = np.array(concentrations[matter]), float(concentrations[matter].max())
        return cls(function, rows, values / unit, top, split, unit, rates if rates.min() < top else None)

    @cached_property
    def terms(self) -> taylor.Terms:
        """The terms as Taylor's test takes them."""
        own = self.concentrations
        rows, columns = self.b if own is None else own[:, None] * self.b, np.ascontiguousarray(self.b.T)
        return taylor.Terms(
            rows, columns, self.values, concentration=self.concentration, normalize=self.normalize, concentrations=own
        )

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
        problem = Problem(
            x, self.b, 0.5 * self.concentration, dtype=np.dtype(np.float64), values=self.values,
            normalize=self.normalize,
        )  # fmt: skip
        # 6.5, rounding: the lengths of the centres are off by a rounding
        exponent = min(2.0 * self.concentration, 745.0)
        # 6.5, symmetry: the exponents of a quotient may all be large
        largest = 2.0 * self.concentration if self.normalize else exponent
        error = 4e-16 * exponent + 4.0 * self.deviation * math.sqrt(2.0 * self.concentration * largest)
        if self.concentrations is not None:
            h, plan = bands.sums(problem, self.concentrations, Wish("auto", None, 1), log=False)
            # 6.5, rounding: all exponents of a quotient may be large
            return h, np.zeros(len(x)), error + 4e-16 * largest + plan.rtol + plan.atol
        partial, plan = evaluated(problem, Wish("auto", _RTOL, 1), True)
        error += plan.rtol
        log_scale = -0.5 * self.concentration * partial.shift
        if not self.normalize:
            return partial.numerators * np.exp(log_scale)[:, None], np.zeros(len(x)), error
        return partial.numerators / partial.denominator[:, None], log_scale + np.log(partial.denominator), error

    def sample(self, x: Float64) -> Sample:
        """Return |f - h| at points."""
        h, log_sums, relative = self.sums(x)
        values = self.function.values(x) / self.unit
        function = (self.function.value_error + 4e-16 * self.function.size) / self.unit
        # the denominators' is relative, even where values are small beside the target's
        rounding = (relative * max(self.total, 1.0) + function) * (1.0 + 1e-9) + 1e-300
        return Sample(np.linalg.norm(values - h, axis=1), log_sums, rounding, values=values)

    def riesz(self, bound: float, room: float, x: Float64) -> Riesz | None:
        """Return Riesz's test for a bound with some room; x are points that show how large the denominator is."""
        function = self.function
        if function.degree is None or room <= 0.0 or self.total == 0.0:
            return None
        if self.normalize and self.concentrations is not None:
            return None
        size = (function.size + function.remainder) / self.unit
        if self.normalize:
            denominators = [self.sums(rows[:: -(-len(rows) // _SAMPLE)])[1] for rows in (self.b, x)]
            log_scale = max(float(log_sums.max()) for log_sums in denominators) + 0.02
            if float(np.median(denominators[1])) < log_scale - _VARYING:
                return None
            log_factor = math.log(size + self.total + bound) + math.log(len(self.b))
        else:
            log_scale, log_factor = 0.0, math.log(self.total)
        log_factor += self._log_mean() - log_scale
        tail = degree_for(self.b, self.concentration, math.log(TAIL_SHARE * room) - log_factor)
        if tail is None:
            return None
        degree, log_tail = tail
        degree = degree + function.degree if self.normalize else max(degree, function.degree)
        return Riesz(degree, math.exp(log_tail + log_factor), log_scale, room=room)

    def check(self, x: Float64, radii: Float64, sample: Sample, bound: float, riesz: Riesz | None) -> Passes:
        """Tell which cells pass Riesz's test, and which of the others Taylor's."""
        errors = sample.errors + sample.rounding + self.function.remainder / self.unit
        by_riesz, later, by_taylor = np.zeros((3, len(x)), dtype=bool)
        if riesz is not None:
            fall = self._fall(radii, sample.log_sums) if self.normalize else np.zeros(len(x))
            # those that would pass when cut once need no other test
            by_riesz, later = (
                riesz.check(
                    share * radii, errors, sample.log_sums, fall=share * fall, bound=bound, rounding=sample.rounding
                )
                for share in (1.0, 0.5)
            )
        rows = np.flatnonzero(~(by_riesz | later) & (errors < bound))
        if riesz is not None and len(rows) > _TRIED**2:
            share = self._taylor(x, radii, errors, sample=sample, rows=rows[::_TRIED], bound=bound, riesz=riesz).mean()
            # so many must pass to make the test faster than errors at the cells' quarters
            dim, near = x.shape[1] - 1, float(len(self.b))
            if self.concentrations is None:
                reach = math.sqrt(2.0 * self.terms.cut / max(self.concentration, 1e-9)) + 2.0 * float(radii.max())
                near *= math.exp(special.log_cap_measure(dim, min(reach, math.pi)))
            rows = rows if share > min(near / (_TERMS * 4.0**dim), 0.9) else rows[:0]
        if len(rows):
            by_taylor[rows] = self._taylor(x, radii, errors, sample=sample, rows=rows, bound=bound, riesz=riesz)
        return Passes(by_riesz, by_taylor)

    def _log_mean(self) -> float:
        """Return the log of the mean of a kernel over the sphere, of all by their values where these differ."""
        dim = self.b.shape[1] - 1
        if self.concentrations is None:
            return log_mean(dim, self.concentration)
        # 6.5 (keys), (R)
        sizes = np.linalg.norm(self.values, axis=1)
        means = [log_mean(dim, float(concentration)) for concentration in self.concentrations]
        return math.log(float(np.average(np.exp(means), weights=sizes)) + 1e-300)

    def _fall(self, radii: Float64, log_sums: Float64) -> Float64:
        """Bound the fall of the denominator's logarithm from the centres over cells."""
        # 6.5 (D); 1e-6 is more than the logarithms' roundings
        entropies = np.maximum(math.log(len(self.b)) - log_sums, 0.0) + 1e-6
        fall = radii * np.sqrt(2.0 * self.concentration * entropies) + 0.5 * self.concentration * radii**2
        return np.asarray(fall * (1.0 + 1e-9))

    def _taylor(
        self, x: Float64, radii: Float64, errors: Float64, *, sample: Sample, rows: Indices, bound: float,
        riesz: Riesz | None,
    ) -> Bools:  # fmt: skip
        """Tell which of some rows' cells pass Taylor's test or the spread's, from their errors and their sample."""
        assert sample.values is not None
        x, radii, errors, values = x[rows], radii[rows], errors[rows], sample.values[rows]
        frames, unit, function = tangent_frame(x), self.unit, self.function  # (n, m, d)
        sizes = errors + function.size / unit
        moments = taylor.moments(x, radii, frames, terms=self.terms, sizes=sizes, target=values)
        # 6.5 (T), (S): the target by its modulus, or by its slope at the centre
        fixed = errors + moments.second_order + moments.noise * self.total
        largest = self.total + (function.size + function.remainder) / unit
        spread = errors - sample.errors[rows] + moments.spread + moments.far * largest
        change = function.change(radii) / unit * (1.0 + 1e-12)
        curve = 0.5 * function.curvature / unit * radii**2 * (1.0 + 1e-12)
        with np.errstate(over="ignore", invalid="ignore"):
            upper = np.fmin(fixed + moments.first_order(radii), spread) + change
            fixed, spread = fixed + moments.bend(radii) + curve, spread + curve
            near = np.flatnonzero((np.fmin(fixed, spread) < bound) & ~(upper <= bound))
            slopes, slip = function.gradients(x[near], frames[near]) if len(near) else (np.empty((0, 1, 1)), 0.0)
            for base, along in ((fixed, moments.along[near]), (spread, np.zeros(1))):
                steep = np.sqrt(np.square(slopes / unit - along).sum(axis=(1, 2))) + slip / unit
                upper[near] = np.fmin(upper[near], base[near] + radii[near] * steep * (1.0 + 1e-9))
            passes = upper <= bound
            if riesz is not None and self.normalize:
                # 6.5 (RT): d <= dbar over the cell
                passes &= sample.log_sums[rows] + moments.log_growth + sample.rounding <= riesz.log_scale
        return np.asarray(passes)
