"""Change of a head's derivatives over cells: moments of its terms about the centres, and bounds from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._kernels.error import E_VB, G_VB, KAPPA, NOISE, V_B, V_BB, V
from ..._types import Float64


@dataclass(frozen=True)
class Local:
    """The moments of 6.6 in n cells, in coordinates whose last one is along the centre c.

    `means` (n, p) are V, `firsts` (n, p, d) C, `seconds` (n, p, d, d) T3, `thirds` (n, p, m, m, m) the tangent part of
    T4, `pairs` (n, d, d) B, and `sums` (n, SUMS) the sums of absolute terms.
    """

    concentration: float
    normalize: bool
    radii: Float64
    chords: Float64
    means: Float64
    firsts: Float64
    seconds: Float64
    thirds: Float64
    pairs: Float64
    sums: Float64

    @property
    def noise(self) -> Float64:
        """Relative roundings of the weights and of their growth, at most, (n,)."""
        return self.sums[:, NOISE]

    def slope(self) -> Float64:
        """Return the gradients at the centres, (n, p, m)."""
        return np.asarray(self.concentration * self.firsts[:, :, :-1])

    def curvature(self) -> Float64:
        """Return the second derivatives along geodesics at the centres, (n, p, m, m)."""
        rate, m = self.concentration, self.firsts.shape[2] - 1
        along = self.firsts[:, :, -1] + self.means  # (n, p): sum w a <b, c>, for a softmax less a constant
        return np.asarray(rate**2 * self.seconds[:, :, :m, :m] - rate * along[:, :, None, None] * np.eye(m))

    def terms(self, order: int) -> Float64:
        """Return the sums of the sizes of the terms of a derivative, (n,)."""
        rate = self.concentration
        if order == 1:
            return np.asarray(rate * self.sums[:, V_B])
        value = 0.0 if self.normalize else self.sums[:, V]
        return np.asarray(rate**2 * self.sums[:, V_BB] + rate * (self.sums[:, V_B] + value))


def _size(tensors: Float64) -> Float64:
    """Return Euclidean norms of tensors, (n,)."""
    return np.asarray(np.linalg.norm(tensors.reshape(len(tensors), -1), axis=1))


def slope_bound(local: Local) -> Float64:
    """Bound the change of a softmax's gradient over cells, by 6.6 (slope), in units of the values."""
    rate, chord = local.concentration, local.chords
    sine, sag = np.sin(np.minimum(local.radii, 0.5 * np.pi)), 0.5 * np.square(chord)
    _, e_b, e_v, e_vb = local.sums[:, : E_VB + 1].T
    first, pairs = _size(local.firsts), _size(local.pairs)
    mean_v, mean_b = rate * chord * first + e_v, rate * chord * pairs + e_b
    linear = sine * _size(local.seconds[:, :, :-1, :-1]) + (sag + chord * sine) * _size(local.seconds[:, :, -1])
    return np.asarray(rate * (sine * _size(local.firsts[:, :, -1]) + rate * linear + e_vb + mean_v * mean_b))


def curvature_bound(local: Local) -> Float64:
    """Bound the change of a softmax's second derivative over cells, by 6.6 (curvature), in units of the values."""
    rate, chord = local.concentration, local.chords
    sine, sag = np.sin(np.minimum(local.radii, 0.5 * np.pi)), 0.5 * np.square(chord)
    zeta, e_b, e_v, e_vb, e_vbb, g_bb, g_vb = local.sums[:, : G_VB + 1].T
    first, pairs = _size(local.firsts), _size(local.pairs)
    first_c, pairs_c, third_c = _size(local.firsts[:, :, -1]), _size(local.pairs[:, -1]), _size(local.seconds[:, :, -1])
    # Step 1: the change of first order
    c, b = local.firsts[:, :, :-1], local.pairs[:, :-1, :-1]
    products = [np.einsum(f"np{i},n{jk}->npijk", c, b) for i, jk in (("i", "jk"), ("j", "ik"), ("k", "ij"))]
    linear = rate**3 * sine * _size(local.thirds - sum(products))
    linear += rate**2 * (3.0 * sine + sag + sine**2) * third_c + rate * (sine**2 * first_c + chord * first)
    # Step 2: what the directions along c add to it
    linear += rate**3 * (sag + 2.0 * chord * sine) * (local.sums[:, KAPPA] + first_c * pairs + 2.0 * first * pairs_c)
    # Step 3: the change of second order
    mean_v, mean_b = rate * chord * first + e_v, rate * chord * pairs + e_b
    second = rate**2 * (e_v * pairs + mean_v * g_bb + 2.0 * first * e_b + 2.0 * g_vb * mean_b) + rate * mean_v * mean_b
    second += zeta * (3.0 * rate**3 * chord * first * pairs + second)
    second += rate**2 * (e_vbb + chord**2 * _size(local.seconds)) + rate * e_vb + 2.0 * rate**2 * mean_v * mean_b**2
    return np.asarray(linear + second)
