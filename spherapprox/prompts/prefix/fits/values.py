"""Values of a prefix by least squares of the outputs of all heads at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...._softmax import exponentiate
from ...._types import Float64
from ..layer.contexts import Contexts

_SMALL = 1e-6
"""Singular values up to this share of the largest are left out: values do not grow for what is hardly seen."""
_STEPS, _TOLERANCE = 300, 1e-10
"""Steps of LSQR, at most, and the relative change of residuals at which it ends; one step is enough for one head."""


@dataclass(frozen=True, eq=False)
class Heads:
    """The m heads that share keys: contexts (m N, ...), those of one after those of another, and weights behind them.

    The latter are `out`, (m, d_out, p).
    """

    contexts: Contexts
    out: Float64

    def by_head(self, rows: Float64) -> Float64:
        """Return rows (m N, ...) as (m, N, ...)."""
        return rows.reshape(len(self.out), -1, *rows.shape[1:])

    def outputs(self, means: Float64) -> Float64:
        """Return the outputs (N, d_out) that means (m N, p) of the heads add."""
        return np.asarray((self.by_head(means) @ np.swapaxes(self.out, 1, 2)).sum(axis=0))

    def beside(self, keys: Float64) -> tuple[Float64, Float64]:
        """Return the attention (m, N, L) to keys (L, s) beside the content, and what the content still adds."""
        weights, log_mass = attention_alone(self.contexts, keys)
        total = np.logaddexp(log_mass, self.contexts.log_mass)
        share, content_share = (np.exp(part - total)[:, None] for part in (log_mass, self.contexts.log_mass))
        return self.by_head(share * weights), self.outputs(content_share * self.contexts.mean)


@dataclass(frozen=True, eq=False)
class Examples:
    """Groups of heads, as many in each, and outputs (N, d_out) that are wanted of all together."""

    groups: list[Heads]
    outputs: Float64

    def of_means(self, means: Sequence[Float64]) -> Float64:
        """Return outputs (N, d_out) of means (m N, p) of the heads of each group."""
        return np.asarray(sum(heads.outputs(mean) for heads, mean in zip(self.groups, means, strict=True)))

    def change(self) -> Float64:
        """Return the residuals (N, d_out) of outputs without a prefix."""
        return self.outputs - self.of_means([heads.contexts.mean for heads in self.groups])

    def head_targets(self) -> list[Float64]:
        """Return outputs (m N, p) of the heads of each group by which all have those wanted, nearest to their means."""
        out = np.concatenate([heads.out for heads in self.groups])  # (heads, d_out, p)
        parts = self.change() @ np.linalg.pinv(np.moveaxis(out, 1, 0).reshape(out.shape[1], -1)).T
        parts = np.moveaxis(parts.reshape(len(parts), len(self.groups), -1, out.shape[2]), 0, 2)  # (G, m, N, p)
        return [h.contexts.mean + part.reshape(-1, out.shape[2]) for h, part in zip(self.groups, parts, strict=True)]

    def reduced(self) -> Examples:
        """Return the same in coordinates of what a single group can change, at most m p of them."""
        (heads,) = self.groups
        m, d, p = heads.out.shape
        basis, parts = np.linalg.qr(np.moveaxis(heads.out, 1, 0).reshape(d, m * p))
        out = np.moveaxis(parts.reshape(-1, m, p), 0, 1)
        return Examples([replace(heads, out=out)], self.outputs @ basis)

    def missed(self, keys: Float64, values: Float64) -> tuple[Float64, Float64]:
        """Return the errors (N, d_out) of keys and values (G, L, ...), and the shares (heads, N) of the prefix."""
        attention, content = self.beside(keys)
        means = [(part @ value).reshape(-1, value.shape[1]) for part, value in zip(attention, values, strict=True)]
        return self.of_means(means) + content - self.outputs, np.concatenate(attention).sum(axis=2)

    def beside(self, keys: Float64) -> tuple[Sequence[Float64], Float64]:
        """Return the attention of each group to keys (G, L, s) beside the content, and what the content still adds."""
        attention, parts = zip(*(heads.beside(key) for heads, key in zip(self.groups, keys, strict=True)), strict=True)
        return attention, sum(parts)


def attention_alone(contexts: Contexts, keys: Float64) -> tuple[Float64, Float64]:
    """Return the attention (N, L) over the keys alone, and their log mass (N,)."""
    logits = contexts.logits(keys)
    top, weights = exponentiate(logits, out=logits)
    sums = weights.sum(axis=1, keepdims=True)
    return weights / sums, (top + np.log(sums))[:, 0]


def least_values(examples: Examples, keys: Float64) -> tuple[Float64, float, float]:
    """Return values (G, L, p) for keys (G, L, s) with which outputs are nearest to those wanted, by all heads at once.

    The squares that remain and the condition of the attention follow. LSQR begins at values of 0, in coordinates in
    which each group alone is an isometry: a single head takes one step, those of a layer few.
    """
    from scipy.sparse.linalg import LinearOperator, lsqr

    groups = examples.groups
    attention, content = examples.beside(keys)
    change = examples.outputs - content
    (g, m, d, p), n = (len(groups), *groups[0].out.shape), len(change)
    left_basis, sizes, from_left = _orthonormal(np.reshape(attention, (g, m * n, -1)))
    right_basis, _, from_right = _orthonormal(np.reshape([heads.out for heads in groups], (g, m * d, p)))
    shape = g, left_basis.shape[2], right_basis.shape[2]
    rows = left_basis.reshape(g, m, n, shape[1])
    columns = np.moveaxis(right_basis.reshape(g, m, d, shape[2]), 2, 0).reshape(d, -1)  # (d_out, G m q)

    def forward(x: Float64) -> Float64:
        return np.asarray((np.moveaxis(rows @ x.reshape(g, 1, *shape[1:]), 2, 0).reshape(n, -1) @ columns.T).ravel())

    def backward(residuals: Float64) -> Float64:
        parts = np.moveaxis((residuals.reshape(n, d) @ columns).reshape(n, g, m, -1), 0, 2)  # (G, m, N, q)
        return np.asarray((np.swapaxes(rows, 2, 3) @ parts).sum(axis=1).ravel())

    operator = LinearOperator((n * d, math.prod(shape)), matvec=forward, rmatvec=backward, dtype=np.float64)
    x = lsqr(operator, change.ravel(), atol=_TOLERANCE, btol=_TOLERANCE, iter_lim=_STEPS)[0]
    values = from_left @ x.reshape(shape) @ np.swapaxes(from_right, 1, 2)
    condition = float((sizes[:, 0] / np.maximum(sizes[:, -1], 1e-300)).max())
    return np.asarray(values), float(np.square(forward(x) - change.ravel()).sum()), condition


def _orthonormal(matrices: Float64) -> tuple[Float64, Float64, Float64]:
    """Return bases of the columns of matrices (G, n, k), singular values, and factors that make the bases."""
    left_basis, sizes, right_basis = np.linalg.svd(matrices, full_matrices=False)
    mask = sizes > _SMALL * sizes[:, :1]
    inverse = np.where(mask, 1.0 / np.where(mask, sizes, 1.0), 0.0)[:, None]
    return left_basis * mask[:, None], sizes, np.swapaxes(right_basis, 1, 2) * inverse
