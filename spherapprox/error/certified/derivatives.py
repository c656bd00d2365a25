"""The first and second derivative of a head: their sizes at centres of cells, and the tests that cells may pass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ... import _checks
from ..._loading import load
from ..._types import Float64
from ...harmonics.forms import tangent_frame
from .changes import Local, curvature_bound, slope_bound
from .heads import TAIL_SHARE
from .riesz import Riesz, degree_for, log_mean
from .search import Passes, Sample
from .taylor import OMITTED, call_groups, cut, take

_FLOOR = 1e-11
"""More than the terms left out amount to, in the units of 6.6 (omitted)."""


@dataclass(frozen=True)
class Derivative:
    """The size of a head's derivative of order 1 or 2, for control points b (N, d) and values (N, p).

    The first is the largest singular value of the gradients, the second ``max_u (sum_i |A_i u|^2)^(1/2)`` for second
    derivatives A_i of the components and unit tangent vectors u: of one component the largest eigenvalue in size.
    """

    b: Float64
    values: Float64
    concentration: float
    order: int
    unit: float

    normalize = False

    @classmethod
    def of(cls, head: Any, order: int) -> AnyDerivative:
        """Return the derivative of an order of a head."""
        values = head.values.reshape(len(head), -1).astype(np.float64)
        split = head.family == "split"
        # a power of 2 above all |v_k|, for a softmax all |v_k - v_0|, so that values divided by it keep their digits
        largest_half = float(np.abs(0.5 * values - 0.5 * values[0] * split).max())
        exponent = 1 + math.frexp(largest_half)[1] + math.frexp(math.sqrt(values.shape[1]))[1]
        unit = math.ldexp(1.0, min(exponent, 1023))
        concentration, rows = _checks.one_concentration(head.concentration, "the proof treats"), head.control_points
        kind = SplitDerivative if split else CoreDerivative
        return kind(rows.astype(np.float64), values / unit, concentration, order=order, unit=unit)

    @cached_property
    def columns(self) -> Float64:
        """Control points with a coordinate in each row, (d, N)."""
        return np.ascontiguousarray(self.b.T)

    @property
    def floor(self) -> float:
        """Bound of what terms that are left out add to the size at a point."""
        return _FLOOR * (min(self.concentration, 1.0) if self.order == 1 else self.concentration)

    def local(self, x: Float64, radii: Float64, depth: int) -> Local:
        """Return the moments of 6.6 in cells, those of a up to a power of b, the depth."""
        (n, d), p = x.shape, self.values.shape[1]
        m = d - 1
        frames = np.concatenate([tangent_frame(x), x[:, None, :]], axis=1)  # (n, d, d)
        chords = 2.0 * np.sin(0.5 * np.minimum(radii, math.pi)) * (1.0 + 1e-12)
        kernels = load("spherapprox._kernels.error.cumulants")
        arrays = [np.zeros(shape) for shape in (
            (n, p), (n, p, d), (n, p, d, d), (n, p, m, m, m), (n, d, d), (n, kernels.SUMS)
        )]  # fmt: skip
        rate, exponent = 0.5 * self.concentration, cut(len(self.b), self.concentration)

        def call(x: Float64, chords: Float64, near: Any, own: Any, results: Any) -> None:
            terms = take(self.columns, near, 1), take(self.b, near, 0), take(self.values, near, 0)
            kernels.local_cumulants(x, *own, chords, *terms, rate, self.normalize, exponent, depth, *results)

        call_groups(call, x, chords, columns=self.columns, rate=rate, cut=exponent, arrays=[frames], results=arrays)
        # the tensors are symmetric
        for at, power, count in ((2, 2, d), (3, 3, m)):
            falling = -np.sort(-np.indices((count,) * power), axis=0)
            arrays[at] = arrays[at][(slice(None), slice(None), *falling)]
        return Local(self.concentration, self.normalize, radii, chords, *arrays)

    def forms(self, x: Float64) -> Float64:
        """Return the derivatives' coordinates in frames at points, (n, p, m) or (n, p, m, m), without the unit."""
        local = self.local(x, np.zeros(len(x)), self.order)
        return local.slope() if self.order == 1 else local.curvature()

    def sizes(self, x: Float64) -> Float64:
        """Return the sizes at points (n, d), (n,)."""
        return self.unit * self.sample(x).errors

    def sample(self, x: Float64) -> Sample:
        """Return sizes at points, in units of `unit`."""
        local = self.local(x, np.zeros(len(x)), self.order)
        forms = local.slope() if self.order == 1 else local.curvature()
        rounding = float(((OMITTED + 8.0 * local.noise) * local.terms(self.order)).max()) + self.floor
        return Sample(largest(forms), np.zeros(len(x)), rounding)


class SplitDerivative(Derivative):
    """The derivative of a quotient of sums: cells pass Taylor's test."""

    normalize = True

    @property
    def ceiling(self) -> float:
        """Bound of the size everywhere, in units of `unit`; 0 for a constant softmax."""
        if (self.values == self.values[0]).all():
            return 0.0
        spread = float(np.linalg.norm(self.values - self.values.mean(axis=0), axis=1).max()) * self.concentration
        # 6.6, (everywhere) and (vectors)
        factor = 1.0
        if self.order == 2:
            factor = (2.0 * self.concentration + 1.0) * math.sqrt(min(self.b.shape[1] - 1, self.values.shape[1]))
        return factor * spread * (1.0 + 1e-5)

    def riesz(self, bound: float, room: float, x: Float64) -> Riesz | None:
        """Return None: quotients are far from polynomials."""
        return None

    def check(self, x: Float64, radii: Float64, sample: Sample, bound: float, riesz: Riesz | None) -> Passes:
        """Tell which cells pass Taylor's test."""
        none, by_taylor = np.zeros((2, len(x)), dtype=bool)
        errors = sample.errors + sample.rounding
        rows = np.flatnonzero(errors < bound)
        if len(rows):
            local = self.local(x[rows], radii[rows], self.order + 1)
            with np.errstate(over="ignore", invalid="ignore"):
                changes = slope_bound(local) if self.order == 1 else curvature_bound(local)
                changes = changes * (1.0 + 1e-9 + 16.0 * local.noise) + self.floor * self.concentration * local.chords
                # |b - o| <= 2 bounds terms of the next order
                changes += (
                    16.0 * local.noise * local.terms(self.order) * (1.0 + 2.0 * self.concentration * local.chords)
                )
                by_taylor[rows] = errors[rows] + changes <= bound
        return Passes(none, by_taylor)


class CoreDerivative(Derivative):
    """The derivative of a plain sum, nearly of a polynomial: cells pass Riesz's test, or far from all terms another."""

    @cached_property
    def lengths(self) -> Float64:
        """Euclidean norms of the values (N,)."""
        return np.asarray(np.linalg.norm(self.values, axis=1))

    @property
    def ceiling(self) -> float:
        """Bound of the size everywhere."""
        rate, total = self.concentration, float(self.lengths.sum())
        # 6.6, (everywhere)
        factor = math.sqrt(rate / math.e) if self.order == 1 else max(rate, (2.0 * rate + 1.0) / math.e)
        return min(factor, rate * (1.0 + 4.0 * rate)) * total * (1.0 + 1e-5)

    def riesz(self, bound: float, room: float, x: Float64) -> Riesz | None:
        """Return Riesz's test for a bound with some room."""
        total = float(self.lengths.sum())
        if room <= 0.0 or total == 0.0:
            return None
        log_factor = math.log(total) + log_mean(self.b.shape[1] - 1, self.concentration)
        tail = degree_for(self.b, self.concentration, math.log(TAIL_SHARE * room) - log_factor, order=self.order)
        if tail is None:
            return None
        degree, log_tail = tail
        return Riesz(degree, math.exp(log_tail + log_factor), 0.0, room=room)

    def check(self, x: Float64, radii: Float64, sample: Sample, bound: float, riesz: Riesz | None) -> Passes:
        """Tell which cells pass Riesz's test, and in which of the others the absolute terms are small."""
        errors = sample.errors + sample.rounding
        by_riesz, by_terms = np.zeros((2, len(x)), dtype=bool)
        if riesz is not None:
            by_riesz = riesz.check(
                radii, errors, sample.log_sums, fall=np.zeros(len(x)), bound=bound, rounding=sample.rounding
            )
        rows = np.flatnonzero(~by_riesz & (errors < bound))
        if len(rows):
            changes = np.empty(len(rows))
            chords = 2.0 * np.sin(0.5 * radii[rows]) * (1.0 + 1e-12)
            load("spherapprox._kernels.error.cumulants").absolute_derivatives(
                x[rows], chords, self.columns, self.lengths, self.concentration, self.order,
                float(np.linalg.norm(self.b, axis=1).max()), changes,
            )  # fmt: skip
            by_terms[rows] = changes * (1.0 + 1e-9) <= bound
        return Passes(by_riesz, by_terms)


AnyDerivative = CoreDerivative | SplitDerivative


def largest(forms: Float64) -> Float64:
    """Return the largest singular values of forms (n, p, m), or (n, p, m, m) with p m rows each: (n,)."""
    rows = forms.reshape(len(forms), -1, forms.shape[-1])  # (n, rows, m)
    sizes = np.abs(rows).max(axis=(1, 2))  # (n,)
    rows = rows / np.where(sizes > 0.0, sizes, 1.0)[:, None, None]  # squares stay floats
    grams = np.einsum("nri,nrj->nij", rows, rows)
    return np.asarray(sizes * np.sqrt(np.maximum(np.linalg.eigvalsh(grams)[:, -1], 0.0)))
