"""Gradients of heads on the sphere: by the fast sums, or by differences of nearby points where these lose digits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _checks
from .._threads import each_block
from .._types import Float64, Floats, Indices
from ..summation import plan
from ..summation.evaluation import Arrays, check_method, checked_wish, evaluate_arrays
from ..summation.near import NearBlocks

SUMS_UP_TO = 64.0
"""Concentration per column up to which "auto" takes the fast sums, which lose a factor near its square root."""
_HUGE = 1e280
"""Values beyond are made smaller while sums are taken, which could overflow."""


def gradients(
    x: Floats, b: Floats, values: Floats, concentration: float | Float64, *, normalize: bool, method: str,
    rtol: float | None, workers: int | None,
) -> Float64:  # fmt: skip
    """Return the gradients (m, p, d) of a head with values (n, p)."""
    _checks.choice(method, "method", ("auto", *plan.METHODS, "differences"))
    check_method("auto" if method == "differences" else method, rtol)
    size = 2.0**64 if float(np.abs(values).max()) > _HUGE else 1.0
    table = values.astype(np.float64) / size
    if normalize:  # a constant has no gradient
        table = table - table.mean(axis=0)
    _checks.memory(8.0 * 3 * len(x) * table.shape[1] * b.shape[1], "the gradient", "evaluate x in parts")
    large = np.max(concentration) > SUMS_UP_TO * b.shape[1]
    options: Any = {"normalize": normalize, "rtol": rtol, "workers": workers}
    if method == "differences" or (method == "auto" and large):
        vectors = _by_differences(x, b, table, concentration=concentration, **options)
    else:
        vectors = _by_sums(x, b, table, concentration=concentration, method=method, **options)
    vectors *= size
    return vectors


def _tangent(vectors: Floats, x: Floats) -> Float64:
    """Return the components of vectors (m, p, d) orthogonal to the rows x (m, d)."""
    rows = x.astype(np.float64)
    squares = np.einsum("md,md->m", rows, rows)[:, None]
    for _ in range(2):  # the first leaves its rounding, which is large where little is left
        along = np.einsum("mpd,md->mp", vectors, rows) / squares  # (m, p)
        vectors = vectors - along[:, :, None] * rows[:, None, :]
    return np.asarray(vectors)


def _by_sums(
    x: Floats, b: Floats, values: Float64, concentration: float | Float64, *, normalize: bool, method: str,
    rtol: float | None, workers: int | None,
) -> Float64:  # fmt: skip
    """Return the gradients (m, p, d) of values (n, p) by sums of ``v_k b_k``; the error grows like lambda."""
    (n, p), d = values.shape, b.shape[1]
    top = float(np.max(concentration))
    rows = b.astype(np.float64)
    if isinstance(concentration, np.ndarray) and top > 0.0:
        rows = (concentration / top)[:, None] * rows
    moments = (values[:, :, None] * rows[:, None, :]).reshape(n, p * d)  # (n, p d)
    table = np.concatenate([moments, rows, values], axis=1) if normalize else moments
    wish = checked_wish(method, rtol, workers)
    sums = evaluate_arrays(Arrays(x, b, table), concentration, wish, normalize=normalize)[0]
    vectors = sums[:, : p * d].reshape(len(x), p, d)  # (m, p, d)
    if normalize:
        mean, heads = sums[:, p * d : p * d + d], sums[:, p * d + d :]  # (m, d), (m, p)
        vectors = vectors - heads[:, :, None] * mean[:, None, :]
    # 4.15 (1), with b_k in place of b_k - x
    return top * _tangent(vectors, x)


def _by_differences(
    x: Floats, b: Floats, values: Float64, concentration: float | Float64, *, normalize: bool, rtol: float | None,
    workers: int | None,
) -> Float64:  # fmt: skip
    """Return the gradients (m, p, d) of values (n, p) by sums of ``v_k (b_k - x)`` over the control points near x."""
    terms = slice(None) if normalize else np.flatnonzero(values.any(axis=1))
    columns, points = np.array(b[terms].T, np.float64, order="C"), x.astype(np.float64)
    pairs: _Pairs | _KeyedPairs
    if isinstance(concentration, np.ndarray):
        pairs = _KeyedPairs(columns, values[terms], concentration[terms], normalize=normalize)
    else:
        pairs = _Pairs(columns, values[terms], concentration, normalize=normalize)
    result = np.zeros((len(x), values.shape[1], b.shape[1]))
    if len(pairs.values) == 0 or np.max(concentration) == 0.0:
        return result
    room = math.inf if rtol is None or isinstance(pairs, _KeyedPairs) else pairs.room(rtol)
    near = NearBlocks(points, pairs.columns, room)

    def task(block: slice) -> None:
        for rows, candidates in near.parts(block):
            result[rows] = pairs.gradients(points[rows], candidates)

    each_block(task, len(x), near.rows, workers=workers)
    return _tangent(result, x)


@dataclass(frozen=True)
class _Pairs:
    """Columns (d, n) of control points with values (n, p), and the gradient's sums over them."""

    columns: Float64
    values: Float64
    concentration: float
    normalize: bool

    def room(self, rtol: float) -> float:
        """Return the largest excess of a squared distance over the nearest control point's at which a term is kept."""
        sizes = np.abs(self.values).max(axis=1)
        # 4.15 (2): s, and the right-hand side
        spread = 0.0 if self.normalize else math.log(sizes.max()) - math.log(sizes.min())
        slope = 1.0 + 0.5 * math.log1p(4.0 * self.concentration)
        reach = slope + math.log(len(self.values)) - math.log(min(max(rtol, 1e-300), 1.0)) + spread
        return 2.0 * reach / self.concentration

    def gradients(self, x: Float64, candidates: Indices | slice) -> Float64:
        """Return ``lambda sum_k v_k e_k (b_k - x)``, (m, p, d), or for the softmax that with its own terms."""
        values, half_rate = self.values[candidates], 0.25 * self.concentration
        differences = self.columns[None, :, candidates] - x[:, :, None]  # (m, d, k): short rows make slow loops
        squares = np.einsum("mdk,mdk->mk", differences, differences)  # (m, k)
        differences = differences.transpose(0, 2, 1)  # (m, k, d)
        nearest = squares.min(axis=1, keepdims=True)  # (m, 1)
        exponents = 2.0 * half_rate * (squares - nearest)
        e = np.exp(-np.minimum(exponents, 700.0)) * (exponents < 700.0)  # subnormal numbers are slow
        if self.normalize:
            e /= e.sum(axis=1, keepdims=True)
            # 4.15 (1): grad q
            terms = e[:, None, :] * (values.T[None, :, :] - (e @ values)[:, :, None])
            return np.asarray(self.concentration * (terms @ differences))
        # 4.15 (1): grad h
        root = np.exp(-half_rate * nearest)[:, :, None]  # its square may underflow where values are huge
        return np.asarray(((e[:, None, :] * values.T) @ differences) * (self.concentration * root) * root)


@dataclass(frozen=True)
class _KeyedPairs:
    """As `_Pairs`, with a concentration for each control point, (n,)."""

    columns: Float64
    values: Float64
    concentrations: Float64
    normalize: bool

    def gradients(self, x: Float64, candidates: Indices | slice) -> Float64:
        """Return ``sum_k lambda_k v_k e_k (b_k - x)``, (m, p, d), or for the softmax that with its own terms."""
        values, lam = self.values[candidates], self.concentrations[candidates]
        differences = self.columns[None, :, candidates] - x[:, :, None]  # (m, d, k)
        halves = 0.5 * np.einsum("mdk,mdk->mk", differences, differences)  # (m, k)
        differences = differences.transpose(0, 2, 1)  # (m, k, d)
        if not self.normalize:
            # 4.15 (3): grad h; half of each exponent, whose exponential may underflow where values are huge
            root = np.exp(-0.5 * lam * halves)
            return np.asarray(((root[:, None, :] * values.T) * (lam * root)[:, None, :]) @ differences)
        # 4.15 (3): grad q, logits relative to the largest one, which keep the digits of equal concentrations
        best = np.argmax(lam * (1.0 - halves), axis=1)[:, None]
        logits = (lam - lam[best]) + (lam[best] * np.take_along_axis(halves, best, 1) - lam * halves)
        e = np.exp(np.clip(logits, -700.0, 700.0)) * (logits > -700.0)
        e /= e.sum(axis=1, keepdims=True)
        terms = (lam * e)[:, None, :] * (values.T[None, :, :] - (e @ values)[:, :, None])
        return np.asarray(terms @ differences)
