"""Spectral coefficients: the target's projection divided by the kernel's eigenvalues, degree by degree.

docs/theorems/4.7-spectral-correction.md. A positive quadrature exact to degree D projects the target onto the harmonics
of degrees l <= n <= D/2; these are divided by the eigenvalues a_l, so that the kernel's convolution gives them back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import _checks
from .._threads import slices
from .._types import Float64, Floats
from ..harmonics import hyperspherical_harmonics
from ..harmonics.hyperspherical import sizes
from ..points import PointSet
from ..vmf import VonMisesFisher
from ..vmf.tail import log_tails
from .interpolation import ACCURACY
from .riemann import peak
from .task import Task

TABLE_ELEMENTS = 2**22  # elements of a table of harmonics that are in memory at a time: 32 MiB
STORED = 2**24  # a table of so many elements is made once
_LARGEST = 700.0  # logarithms of factors up to which nothing overflows
_USELESS = 0.5  # a head whose error is estimated at this share of what a constant's would be is warned of


@dataclass(frozen=True)
class Estimate:
    """The parts of the error of spectral coefficients, for each degree n = 0, 1, ... of the polynomial.

    `misfit` is the largest error at a control point of the polynomial that is fitted without it, an estimate of
    |f - p_n|, and `mean_misfit` the root mean square of these errors by the weights. `tail` estimates |p_n - h|, the
    harmonics of the kernel that the points mistake for others. `rounding` is ``2^-52 max_k |p~_n(b_k)|``.
    """

    misfit: Float64
    tail: Float64
    rounding: Float64
    mean_misfit: Float64

    @property
    def total(self) -> Float64:
        """The sum of the first three."""
        return self.misfit + self.tail + self.rounding

    @property
    def degree(self) -> int:
        """The smallest degree whose total is within 10 % of the least: no degree that holds noise only is added.

        Where no misfit is below half of a constant's, as for jumps, the mean misfit takes its place.
        """
        near = self.misfit.min() < 0.5 * self.misfit[0]
        total = self.total if near else self.mean_misfit + self.tail + self.rounding
        return int(np.argmax(total <= 1.1 * total.min()))


def core(task: Task) -> Float64:
    """Return ``c exp(lambda) w_k p~(b_k)`` with ``p~ = sum_(l<=n) Y_l / a_l``, Y_l the target's part of degree l."""
    rule = _rule(task)
    assert rule.degree is not None
    log_peak, log_a = math.log(peak(task.dim, task.concentration)), _log_eigenvalues(task, rule.degree)
    n = len(log_a) - 1
    sampled, basis = task.sample(), _Basis(rule.points, n)
    f, unit = _columns(sampled)
    # Step 1: project the target onto the harmonics
    c = basis.transform(rule.weights, f)
    # Step 2: choose the degree
    estimate = None if task.degree is not None else _estimate(task, basis, f, c=c, log_a=log_a)
    if estimate is not None:
        n = estimate.degree
    # Step 3: divide the part of each degree by the kernel's eigenvalue, 4.7: xi_k = c w_k p~(b_k)
    factors = np.exp(log_peak - log_a[: n + 1]).repeat(np.diff(basis.offsets[: n + 2]))
    with np.errstate(over="ignore", invalid="ignore"):
        values = basis.synthesize(c[: len(factors)] * factors[:, None], n) * rule.weights[:, None] * unit
    if not np.isfinite(values).all():
        raise ValueError(f"'degree' = {n} gives values beyond float64: lower it, or raise 'concentration'")
    share = float(_tail(task, basis, c, log_a=log_a)[n]) / (float(np.linalg.norm(f, axis=1).max()) or math.inf)
    if share > 1.0:
        _checks.warn_inaccurate(
            f"points exact to degree {rule.degree} do not resolve the kernel at concentration "
            f"{task.concentration:g}: about {share:.3g} times the target's largest value is added to the error; lower "
            "'concentration' or 'degree', or take a rule of higher degree"
        )
    elif estimate is not None:
        _warn_of_concentration(task, estimate)
    return values.reshape(sampled.shape)


def estimate(task: Task) -> Estimate:
    """Estimate the error of each degree, from which the degree of a task without one is chosen."""
    rule = _rule(task)
    assert rule.degree is not None
    log_a = _log_eigenvalues(task, rule.degree)
    basis, (f, unit) = _Basis(rule.points, len(log_a) - 1), _columns(task.sample())
    scaled = _estimate(task, basis, f, c=basis.transform(rule.weights, f), log_a=log_a)
    return Estimate(
        unit * scaled.misfit, unit * scaled.tail, unit * scaled.rounding, mean_misfit=unit * scaled.mean_misfit
    )


class _Basis:
    """Harmonics at points, in blocks of rows of so many elements; a table of at most `stored` elements is made once."""

    def __init__(self, rows: Float64, degree: int, *, elements: int = TABLE_ELEMENTS, stored: int = STORED) -> None:
        self.offsets = np.concatenate([[0], np.cumsum(sizes(degree, rows.shape[1] - 1))])
        self._rows, self._degree = rows, degree
        columns = int(self.offsets[-1])
        self._blocks = slices(len(rows), max(1, elements // columns))
        self._stored = list(self._tables()) if len(rows) * columns <= stored else None

    def _tables(self) -> Iterator[tuple[slice, Float64]]:
        return ((rows, hyperspherical_harmonics(self._degree, self._rows[rows])) for rows in self._blocks)

    def __iter__(self) -> Iterator[tuple[slice, Float64]]:
        return self._tables() if self._stored is None else iter(self._stored)

    def synthesize(self, c: Float64, degree: int) -> Float64:
        """Return the sums with coefficients up to a degree at the points, shape (n, p)."""
        basis = self if self._stored is not None or degree == self._degree else _Basis(self._rows, degree)
        return np.concatenate([table[:, : len(c)] @ c for _, table in basis])

    def transform(self, weights: Float64, f: Float64) -> Float64:
        """Return the coefficients ``sum_k w_k Y_lj(b_k) f(b_k)``, shape (columns, p)."""
        c = np.zeros((int(self.offsets[-1]), f.shape[1]))
        for rows, table in self:
            c += table.T @ (weights[rows, None] * f[rows])
        return c


def _estimate(task: Task, basis: _Basis, f: Float64, *, c: Float64, log_a: Float64) -> Estimate:
    """Return the three parts of the error for each degree, from the fits at the control points."""
    rule, count = _rule(task), len(log_a)
    misfit, largest, squares = np.zeros(count), np.zeros(count), np.zeros(count)
    for rows, table in basis:
        fit, corrected = np.zeros_like(f[rows]), np.zeros_like(f[rows])
        for n in range(count):
            of_degree = slice(basis.offsets[n], basis.offsets[n + 1])
            part = table[:, of_degree] @ c[of_degree]  # (some, p)
            fit += part
            corrected += math.exp(-log_a[n]) * part
            # 4.7, choice of the degree: 1 - w_k dim P_n
            freedom = 1.0 - rule.weights[rows] * basis.offsets[n + 1]  # 1 - leverage
            with np.errstate(divide="ignore", invalid="ignore"):
                misses = np.where(freedom > 1e-9, np.linalg.norm(f[rows] - fit, axis=1) / freedom, math.inf)
            misfit[n] = max(misfit[n], float(misses.max()))
            squares[n] += float(rule.weights[rows] @ np.square(misses))
            largest[n] = max(largest[n], float(np.linalg.norm(corrected, axis=1).max()))
    return Estimate(
        misfit, _tail(task, basis, c, log_a=log_a), np.finfo(float).eps * largest, mean_misfit=np.sqrt(squares)
    )


def _tail(task: Task, basis: _Basis, c: Float64, log_a: Float64) -> Float64:
    """Return ``sum_(l<=n) alpha_(D-l) |Y_l|_2 / a_l``, alpha_g the sum of a_l over l > g, for each degree n."""
    assert isinstance(task.points, PointSet)
    assert task.points.degree is not None
    exactness, count = task.points.degree, len(log_a)
    norms = np.sqrt(np.add.reduceat(np.square(c).sum(axis=1), basis.offsets[:count]))  # (degrees,)
    # 4.7, degree by degree, with alpha in place of rho
    log_alpha = log_tails(task.dim, task.concentration, exactness, simple=True)[exactness - np.arange(count)]
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(np.cumsum(np.exp(np.log(norms) + log_alpha - log_a)))


def _rule(task: Task) -> PointSet:
    """Return the control points as a positive quadrature of known degree."""
    points = task.points
    if isinstance(points, PointSet) and points.degree is not None and bool((points.weights > 0.0).all()):
        return points
    raise ValueError(
        f"'points' must be a PointSet with positive weights and a known degree of exactness for "
        f"coefficients='spectral', got {_checks.show(points)}: points.gauss_product(dim, degree) and "
        "points.spherical_design(dim, degree) are such; other points take coefficients='least_squares'"
    )


def _log_eigenvalues(task: Task, exactness: int) -> Float64:
    """Return log a_l for all degrees l that are admitted: up to the given one, else up to D/2, and within floats."""
    top = exactness // 2
    if task.degree is not None:
        why = f"the points are exact to degree {exactness}, which must be at least twice 'degree'"
        top = _checks.integer(task.degree, "degree", minimum=0, maximum=top, limit=why)
    kernel = VonMisesFisher(task.dim, task.concentration)
    log_a = kernel.eigenvalues(top, log=True)
    degrees = np.flatnonzero(float(kernel.log_density(1.0)) - log_a <= _LARGEST)
    if task.degree is not None and len(degrees) <= top:
        raise ValueError(
            f"'degree' must be at most {len(degrees) - 1} on S^{task.dim} at concentration {task.concentration:g}, "
            f"got {top}: the kernel's eigenvalue there is exp({log_a[top]:.6g}), too small to divide by; raise "
            "'concentration'"
        )
    return np.asarray(log_a[: len(degrees)])


def _columns(sampled: Floats) -> tuple[Float64, float]:
    """Return sampled values as (n, p) over their largest, and the largest: no square of them under- or overflows."""
    unit = float(np.abs(sampled).max()) or 1.0
    return np.asarray(sampled.astype(np.float64).reshape(len(sampled), -1) / unit), unit


def _warn_of_concentration(task: Task, estimate: Estimate) -> None:
    """Warn where polynomials come near the target, but no head at this concentration is much better than its mean."""
    n, mean = estimate.degree, float(estimate.misfit[0])
    polynomials, head = float(estimate.misfit.min()), float(estimate.total[n])
    if mean > ACCURACY and head > _USELESS * mean and polynomials < 0.5 * head:
        remedy = "lower" if estimate.tail[-1] > estimate.rounding[-1] else "raise"
        _checks.warn_inaccurate(
            f"points exact to degree {_rule(task).degree} carry no more than degree {n} at concentration "
            f"{task.concentration:g}: the error is about {head / mean:.2g} of the target's deviation from its mean, "
            f"for polynomials {polynomials / mean:.1g}; {remedy} 'concentration', or take a rule of higher degree"
        )
