"""The error of a head on a target over cells of the sphere: at the centres, and whether cells pass a test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._threads import load
from ..._types import Bools, Float64
from ...summation.plan import Wish, evaluated
from ...summation.problem import Problem
from .function import Function
from .passes import Passes, tangent_frames
from .riesz import Riesz, degree_for, log_mean

_RTOL = 1e-14
_SAMPLE = 20_000
"""Points at which the largest denominator is looked for: any number would do, a large one lets fewer cells pass."""
TAIL_SHARE = 1e-4
"""Share of the bound's room that the parts of the head beyond Riesz's degree may take. Tuned."""
_CUT = 30.0
"""Exponent beyond that of the largest term from which on terms are left out of moments."""


@dataclass(frozen=True)
class HeadError:
    """The error ``|f - h|`` of a head with control points b (N, d) and values (N, p), in units of `unit`."""

    function: Function
    b: Float64
    values: Float64
    concentration: float
    normalize: bool
    unit: float

    @classmethod
    def of(cls, head: Any, function: Function) -> HeadError:
        """Return the error of a head on a target of which enough is known."""
        values = head.values.reshape(len(head), -1).astype(np.float64)
        # a power of 2, so that values divided by it keep their digits
        unit = math.ldexp(1.0, math.frexp(max(float(np.abs(values).max()), min(function.size, 1e300)))[1])
        rows = head.control_points.astype(np.float64)
        return cls(function, rows, values / unit, head.concentration, head._normalize, unit)

    @property
    def largest_value(self) -> float:
        """Bound of |h|, of its sums' absolute terms: the largest value, or for core heads the sum of all."""
        sizes = np.linalg.norm(self.values, axis=1)
        return float(sizes.max() if self.normalize else sizes.sum()) * (1.0 + 1e-12)

    def sums(self, x: Float64) -> tuple[Float64, Float64, float]:
        """Return the head (n, p), the logarithm of its denominator (n,), 0 for core heads, and the relative error."""
        problem = Problem(x, self.b, 0.5 * self.concentration, np.dtype(np.float64), self.values, self.normalize)
        partial, plan = evaluated(problem, Wish("auto", _RTOL, 1), True)
        # the centres' lengths are off by rounding: 4.8, shown for exponents up to 745
        error = plan.rtol + 4e-16 * min(2.0 * self.concentration, 745.0)
        log_scale = -0.5 * self.concentration * partial.shift
        if not self.normalize:
            return partial.numerators * np.exp(log_scale)[:, None], np.zeros(len(x)), error
        with np.errstate(divide="ignore"):
            return partial.numerators / partial.denominator[:, None], log_scale + np.log(partial.denominator), error

    def errors(self, x: Float64) -> tuple[Float64, Float64, float]:
        """Return |f - h| (n,), the logarithms of the denominators (n,), and a bound of the errors' errors."""
        h, log_sums, relative = self.sums(x)
        f = self.function.values(x) / self.unit
        rounding = relative * self.largest_value + (self.function.value_error + 4e-16 * self.function.size) / self.unit
        return np.linalg.norm(f - h, axis=1), log_sums, rounding * (1.0 + 1e-9) + relative * 1e-300

    def riesz(self, bound: float, room: float, x: Float64) -> Riesz | None:
        """Return Riesz's test for a bound with some room; x are points that show how large the denominator is."""
        function, (n, d) = self.function, self.b.shape
        if function.degree is None:
            return None
        dim, size = d - 1, (function.size + function.remainder) / self.unit
        defect = float(np.abs(np.linalg.norm(self.b, axis=1) - 1.0).max())
        if self.normalize:
            rows = np.concatenate([self.b[:: -(-n // _SAMPLE)], x[:: -(-len(x) // _SAMPLE)]])
            log_scale = float(self.sums(rows)[1].max()) + 0.02
            log_factor = math.log(size + self.largest_value + bound) + math.log(n)
        else:
            log_scale, log_factor = 0.0, math.log(self.largest_value)
        log_factor += log_mean(dim, self.concentration) - log_scale
        found = degree_for(dim, self.concentration, math.log(TAIL_SHARE * room) - log_factor) if room > 0.0 else None
        if found is None:
            return None
        degree, log_tail = found
        # rows of other lengths have kernels of other concentrations: 6.3, rounding
        log_tail += 2.0 * defect * (self.concentration + 2.0 * (degree + d)) + 1e-6
        degree = degree + function.degree if self.normalize else max(degree, function.degree)
        return Riesz(degree, math.exp(log_tail + log_factor), log_scale, room)

    def passed(
        self, x: Float64, radii: Float64, errors: Float64, log_sums: Float64, bound: float, rounding: float,
        riesz: Riesz | None,
    ) -> Passes:  # fmt: skip
        """Tell which cells pass Riesz's test, and which of the others Taylor's."""
        chords = 2.0 * np.sin(0.5 * radii) * (1.0 + 1e-12)
        rest = np.ones(len(x), dtype=bool)
        by_riesz = np.zeros(len(x), dtype=bool)
        known = errors + rounding + self.function.remainder / self.unit
        if riesz is not None:
            fall = self.concentration * chords if self.normalize else np.zeros(len(x))
            by_riesz = riesz.passed(radii, known, log_sums, fall, bound, rounding)
            rest = ~by_riesz
        by_taylor = np.zeros(len(x), dtype=bool)
        some = np.flatnonzero(rest & (known < bound))
        if len(some):
            by_taylor[some] = self._taylor(
                x[some], radii[some], chords[some], known[some], log_sums[some], bound, riesz
            )
        return Passes(by_riesz, by_taylor)

    def _taylor(
        self, x: Float64, radii: Float64, chords: Float64, errors: Float64, log_sums: Float64, bound: float,
        riesz: Riesz | None,
    ) -> Bools:  # fmt: skip
        """Tell which cells pass Taylor's test, 6.3 (T)."""
        n, p, d = len(x), self.values.shape[1], x.shape[1]
        slopes, drifts = np.empty((n, p, d)), np.empty((n, d))
        rests, growths = np.empty(n), np.empty(n)
        cut = _CUT + math.log(len(self.b)) + math.log1p(self.concentration)
        load("spherapprox._kernels.error.moments").local_moments(
            x, chords, np.ascontiguousarray(self.b.T), self.values, 0.5 * self.concentration, self.normalize, cut,
            slopes, drifts, rests, growths,
        )  # fmt: skip
        radial = np.linalg.norm(np.einsum("npd,nd->np", slopes, x), axis=1)
        frames = tangent_frames(x)  # (n, m, d)
        along = np.einsum("npd,nmd->npm", slopes, frames)
        steep = np.linalg.norm(along.reshape(n, -1), axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            reach, factor, shortfall = self._factors(radii, chords, errors, drifts, growths)
            sag = 1.0 - np.cos(radii)
            base = errors + reach + factor * (sag * radial + rests) * (1.0 + 1e-9)
            # first order: the target by its modulus, or by its slope at the centre
            plain = self.function.change(radii) / self.unit + factor * np.sin(np.minimum(radii, 0.5 * math.pi)) * steep
            upper = base + plain * (1.0 + 1e-9)
            bend = (radii * shortfall + factor * radii**3 / 6.0) * steep
            bend += 0.5 * self.function.curvature * radii**2 / self.unit
            upper = np.minimum(
                upper, base + (self._joint(x, radii, frames, along, base + bend, bound) + bend) * (1.0 + 1e-9)
            )
            upper += 1e-12 * self.largest_value
            passed = upper <= bound
            if riesz is not None and self.normalize:
                # 6.3 (RT): |f - h| d + B |dbar - d| <= B dbar over the cell
                top = log_sums + self.concentration * chords * np.linalg.norm(drifts, axis=1) + np.log1p(growths)
                passed &= top + np.log((upper + bound) / (2.0 * bound)) <= riesz.log_scale - 1e-9
        return np.asarray(passed)

    def _joint(
        self, x: Float64, radii: Float64, frames: Float64, along: Float64, least: Float64, bound: float
    ) -> Float64:
        """Bound the linear change of f - h over cells; inf where `least` makes it useless."""
        changes = np.full(len(x), math.inf)
        some = np.flatnonzero(least < bound)
        if len(some) and self.function.curvature < math.inf:
            gradients, slip = self.function.gradients(x[some], frames[some])
            if slip < math.inf:
                differences = (gradients / self.unit - along[some]).reshape(len(some), -1)
                changes[some] = radii[some] * (np.linalg.norm(differences, axis=1) + slip / self.unit)
        return changes

    def _factors(
        self, radii: Float64, chords: Float64, errors: Float64, drifts: Float64, growths: Float64
    ) -> tuple[Float64, Float64, Float64]:
        """Return what is added, the factor of all terms and the defect of the first-order term, 6.3 (T)."""
        if not self.normalize:
            lost = -np.expm1(-self.concentration * (1.0 - np.cos(radii)))  # 1 - kappa
            size = errors + self.function.size / self.unit  # of h at the centre
            return lost * size, np.ones(len(radii)), lost
        turn = self.concentration * chords * np.linalg.norm(drifts, axis=1)
        factor = np.exp(turn)
        return np.zeros(len(radii)), factor, np.maximum(turn + growths, np.expm1(turn))
