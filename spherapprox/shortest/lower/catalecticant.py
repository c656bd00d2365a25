"""The catalecticant bound: how many tokens of a common concentration, in a cell of concentrations, a target needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..._types import Float64, Int64
from .coefficients import Coefficients
from .ratios import enclose_between, enclose_eigenvalues, enclose_near_zero
from .tails import tails
from .triples import columns, product_matrices, zonal_products

_ROUNDING, _FACTOR = 2.0**-44, 2.0**-50
"""Shares of the sum of absolute values that entries of the matrices round by at most, the second for each of the m
colatitudes (4.K, rounding)."""
_SUMS = 2.0**-50
_UP = 1.0 + 2.0**-40
ROOT = 0.0
"""The `power` of the weights sqrt(a_2l)."""


class Weights(NamedTuple):
    """Which matrix: harmonics to this degree, each weighted by ``a_l^power``, or by ``a_2l^(1/2)`` for power 0."""

    degree: int
    power: float


@dataclass(frozen=True)
class Tables:
    """What matrices of one degree need of the target, whatever the concentration.

    matrices (L+1, p, n, n) and sizes (L+1, d+1, d+1): the target's parts of degree l <= L as multiplications, and the
    Frobenius norms of their blocks with absolute values; norms (L+1,): of the target's parts; products (d+1, d+1,
    2d+1): the squared norms of blocks for functions of norm 1; of (n,): degrees of the columns.
    """

    matrices: Float64
    sizes: Float64
    norms: Float64
    products: Float64
    of: Int64


@dataclass(frozen=True)
class Catalecticant:
    """The bound for one target and one eps."""

    coefficients: Coefficients
    eps: float
    verified: bool
    tables: dict[int, Tables] = field(default_factory=dict)

    def bound(self, low: float, high: float, weights: Weights, *, best: int = 0) -> int:
        """Return a number that heads within eps of a concentration in [low, high] have at least as many tokens as.

        0 stands for one that is at most `best`: no error of a decomposition is proven for it.
        """
        if weights.degree not in self.tables:
            self.tables[weights.degree] = _make_tables(self.coefficients, weights.degree)
        tables = self.tables[weights.degree]
        # Step 1: D_l1 D_l2 / a_l over the cell, its middle and its half-width
        below, above = self._enclose_weighted(low, high, weights, tables=tables)
        below, above = np.where(tables.products > 0.0, (below, above), -math.inf)
        if not above.max() < 300.0:
            return 0
        smallest, largest = np.exp(below) * (2.0 - _UP), np.exp(above) * _UP
        middle, half = 0.5 * (smallest + largest), 0.5 * (largest - smallest) * _UP
        # Step 2: the target's matrix at the middle
        count = tables.matrices.shape[0]
        entries = middle[tables.of[:, None], tables.of[None, :], :count]  # (n, n, L+1)
        matrix = np.einsum("lpij,ijl->ipj", tables.matrices, entries).reshape(len(tables.of), -1)
        # Step 3: how much a head's matrix may differ, and the drift over the cell
        noise = math.sqrt(float((np.square(largest) * tables.products).sum(axis=(0, 1)).max()))
        drift = np.square(half[:, :, :count]) * tables.products[:, :, :count]
        shift = math.sqrt(float(drift.sum(axis=(0, 1)) @ np.square(tables.norms)))
        rounded = np.sqrt(np.square(np.moveaxis(middle[:, :, :count], 2, 0) * tables.sizes).sum(axis=(1, 2))).sum()
        rounding = (_ROUNDING + _FACTOR * self.coefficients.dim) * float(rounded)
        slack = ((self.eps + self.coefficients.error) * noise + shift + rounding) * _UP
        # Step 4: the tails of singular values above it
        symmetric = matrix.shape[0] == matrix.shape[1]
        if self.verified and int((tails(matrix, False, symmetric=symmetric)[0] > slack).sum()) <= best:
            return 0
        tail, error = tails(matrix, self.verified, symmetric=symmetric)
        return int((tail * (2.0 - _UP) > slack + error).sum()) if self.coefficients.parts else 0

    def _enclose_weighted(self, low: float, high: float, weights: Weights, tables: Tables) -> tuple[Float64, Float64]:
        """Enclose log(D_l1 D_l2 / a_l) over a cell, for weights D that may depend on the concentration."""
        dim, degree = self.coefficients.dim, weights.degree
        if low == 0.0:
            return enclose_near_zero(dim, high, exponents(degree))
        logs, _, slopes, _ = enclose_eigenvalues(dim, low, 2 * degree)
        logs_of_weights = 0.5 * logs[::2] if weights.power == ROOT else weights.power * logs[: degree + 1]
        centre = logs_of_weights[:, None, None] + logs_of_weights[None, :, None]
        growth = np.zeros(degree + 1)
        if low < high < math.inf:
            growth = _least_growth(np.exp(np.minimum(centre - logs, 300.0)), slopes, tables)
        powers = (growth[:, None] + growth[None, :])[:, :, None]
        below, above = enclose_between(dim, low, high, powers=powers, count=2 * degree)
        room = _SUMS * np.abs(centre)
        return centre + below - room, centre + above + room


@lru_cache(maxsize=32)
def exponents(degree: int) -> Float64:
    """Return the powers of the ratios r_q in ``D_l1 D_l2 / a_l``, D_l = a_2l^(1/2): (d+1, d+1, 2d+1, 2d)."""
    q = np.arange(2 * degree)
    inverse = 1.0 * (q < np.arange(2 * degree + 1)[:, None])
    return np.asarray(0.5 * (inverse[::2, None, None] + inverse[None, ::2, None]) - inverse)


def _least_growth(size: Float64, slopes: Float64, tables: Tables) -> Float64:
    """Return powers of the concentration, one for each weight, for which the target's matrix changes least.

    They minimise the squares of ``D_l1 D_l2 / a_l`` times ``k_l1 + k_l2 - slope_l`` over the target's blocks, and
    a little over all.
    """
    norms = np.zeros(len(slopes))
    norms[: len(tables.norms)] = np.square(tables.norms)
    shares = np.square(size) * tables.products * (norms + 1e-6 * norms.sum())
    pairs = shares.sum(axis=2)
    matrix = pairs + np.diag(pairs.sum(axis=1))
    return np.asarray(np.linalg.lstsq(matrix, (shares * slopes).sum(axis=(1, 2)), rcond=1e-14)[0])


def _make_tables(target: Coefficients, degree: int) -> Tables:
    dim, of = target.dim, columns(target.dim, degree)[0] if target.dim > 1 else (np.arange(2 * degree + 1) + 1) // 2
    count = min(2 * degree + 1, len(target.parts))
    matrices, sizes = [], np.zeros((count, degree + 1, degree + 1))
    starts = np.searchsorted(of, np.arange(degree + 1))
    for low, part in enumerate(target.parts[:count]):
        plain, absolute = (
            product_matrices(dim, degree, low, top=2 * degree, coefficients=part, absolute=absolute)
            for absolute in (False, True)
        )
        matrices.append(plain)
        squares = np.square(absolute).sum(axis=0)
        sizes[low] = np.sqrt(np.add.reduceat(np.add.reduceat(squares, starts, axis=0), starts, axis=1))
    norms = np.array([np.linalg.norm(part) for part in target.parts[:count]])
    return Tables(np.array(matrices), sizes, norms, products=zonal_products(dim, degree, 2 * degree), of=of)
