"""Dot products of queries and keys of any length as those of unit rows: the lift to the sphere of dimension s + 1.

A query in a ball of radius R_q and a key in one of radius R_k become unit rows by a coordinate each that the other has
not: ``<q', k'> = <q, k> / (R_q R_k)``, so that attention is a split head (docs/theorems/4.16-attention.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._types import Float64, Floats
from ..evaluation import LARGEST_CONCENTRATION
from ..numpy_tiles import half_defects

PADDING = 2  # coordinates of lifted rows besides those of queries and keys
LIFT = 6.0  # roundings of the lift in a logit, relative to the concentration
TIGHT = 64.0  # the concentration up to which keys are about the centre that makes it least
_LARGEST = max(LARGEST_CONCENTRATION.values())
_FLOAT64 = np.dtype(np.float64)


def unit_roundoff(dtype: np.dtype[Any]) -> float:
    """Return the unit roundoff of a type."""
    return float(np.finfo(dtype).eps) / 2.0


def check_logits(bound: float) -> float:
    """Return a bound of logits, if it is small enough for sums of them."""
    if not bound <= _LARGEST:
        raise ValueError(
            f"'query' and 'key' must have logits up to {_LARGEST:g}, got scale * |q| * |k| = {bound:.3g}: "
            "divide by their largest size, or take a smaller scale"
        )
    return bound


@dataclass(frozen=True, eq=False)
class Scores:
    """Queries (m, s) and keys (n, s) of one head, of which logits are ``scale <q, k>`` up to a constant of each row.

    Both are multiplied by powers of 2, so that no length over- or underflows, and keys are relative to their centre,
    which attention does not change by; `scale` makes up for the powers. `offsets` (2, m) are what logits of each query
    are lower by, ``scale <q, centre>``, and bounds of their errors.
    """

    query: Float64
    key: Float64
    query_lengths: Float64
    key_lengths: Float64
    scale: tuple[float, int]
    offsets: Float64

    @classmethod
    def of(cls, query: Floats, key: Floats, scale: float) -> Scores:
        """Return the scores of queries and keys as given."""
        q, q_octaves = _of_size_one(query.astype(np.float64))
        k, k_octaves = _of_size_one(key.astype(np.float64))
        mantissa, exponent = math.frexp(scale)
        octaves = exponent + q_octaves + k_octaves
        # the mean, or the middle of the ranges where that is nearer to the farthest row
        centres = k.mean(axis=0), 0.5 * (k.min(axis=0) + k.max(axis=0))
        centre = min(centres, key=lambda row: float(_lengths(k - row).max()))
        scores = cls._about(centre, q, k, scale=(mantissa, octaves))
        # 4.16, lengths that differ: the median leaves keys short that are far from a few others
        small = scores._times(scores.radius(scores.query_lengths) * scores.radius(scores.key_lengths)) <= TIGHT
        return scores if small else cls._about(np.median(k, axis=0), q, k, scale=(mantissa, octaves))

    @classmethod
    def _about(cls, centre: Float64, query: Float64, key: Float64, scale: tuple[float, int]) -> Scores:
        (k, more), (mantissa, octaves), lengths = _of_size_one(key - centre), scale, _lengths(query)
        # 4.16, logarithms: (s + 8) 2^-53 sigma |q| |c|
        far = 1.001 * (query.shape[1] + 8.0) * unit_roundoff(_FLOAT64) * float(np.linalg.norm(centre))
        offsets = np.ldexp(mantissa * np.stack([np.einsum("ij,j->i", query, centre), far * lengths]), octaves)
        return cls(query, k, lengths, _lengths(k), (mantissa, octaves + more), offsets)

    def concentration(self) -> float:
        """Return scale R_q R_k, the largest size of a logit."""
        return check_logits(self._times(self.radius(self.query_lengths) * self.radius(self.key_lengths)))

    def radius(self, lengths: Float64, dtype: np.dtype[Any] = _FLOAT64) -> float:
        """Return the radius of a ball that holds rows, and their images as rounded."""
        room: float = (self.query.shape[1] + 8.0) * unit_roundoff(dtype)
        return float(lengths.max()) * (1.0 + room)

    def rows(self, dtype: np.dtype[Any] = _FLOAT64) -> tuple[Floats, Floats, float]:
        """Return lifted queries (m, s+2) and keys (n, s+2) in a type, and the concentration of their split head."""
        radii = [self.radius(self.query_lengths, dtype), self.radius(self.key_lengths, dtype)]
        x, b = _lifted(self.query, radii[0], dtype, place=1), _lifted(self.key, radii[1], dtype, place=0)
        return x, b, self._times(radii[0] * radii[1])

    def balanced(self) -> tuple[Float64, Float64]:
        """Return queries (m, s) and keys (n, s) of about the same mean square, with logits ``<x, y>``."""
        lifted_x, lifted_b, concentration = self.rows()
        x, b = (np.asarray(rows[:, :-PADDING], np.float64) for rows in (lifted_x, lifted_b))
        squares = float(np.square(x).sum()) * len(b), float(np.square(b).sum()) * len(x)
        ratio = (squares[1] / squares[0]) ** 0.25 if min(squares) > 0.0 else 1.0
        root = math.sqrt(concentration)
        return root * ratio * x, root / ratio * b

    def _times(self, product: float) -> float:
        """Return the scale times a number; inf where that is too large."""
        mantissa, exponent = self.scale
        try:
            return math.ldexp(mantissa * product, exponent)
        except OverflowError:
            return math.inf


def _of_size_one(rows: Float64) -> tuple[Float64, int]:
    """Return rows divided by a power of 2 so that the largest entry is from 1/2 to 1, and the power's exponent."""
    octaves = int(np.frexp(np.abs(rows).max())[1])
    return np.ldexp(rows, -octaves), octaves


def _lengths(rows: Float64) -> Float64:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


def _lifted(rows: Float64, radius: float, dtype: np.dtype[Any], place: int) -> Floats:
    """Return rows (n, s) of a ball as unit rows (n, s+2): in the ball of radius 1, and one coordinate more."""
    n, s = rows.shape
    lifted = np.zeros((n, s + PADDING), dtype)
    lifted[:, :s] = rows / radius if radius > 0.0 else rows
    # 4.16, lift: from the coordinates as rounded, so that lengths are right whatever they have lost
    lifted[:, s + place] = np.sqrt(np.maximum(2.0 * half_defects(lifted[:, :s]), 0.0))
    return lifted
