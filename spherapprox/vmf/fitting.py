"""Estimates of mean direction and concentration from points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._scalars import bessel_ratio
from .._types import Float64
from . import sampling as sample
from . import sparse

EQUAL = 1e-31  # 1 - |mean| of rows that differ by rounding alone: half the square of two units in the last place
SHORT = 0.01  # how far lengths of rows of 8 bits may be from 1
_ROWS = 2**11  # rows of which the second moments are taken


def estimate_parameters(x: Any, weights: ArrayLike | None, method: str) -> tuple[Float64, float]:
    """Estimate the mean direction and the concentration by maximum likelihood, as `VonMisesFisher.fit` describes."""
    points = unit_rows(x)
    n, columns = points.shape
    marginal = _checks.choice(method, "method", ("mle", "marginal")) == "marginal"
    if marginal:
        _checks.left_out(
            weights, "weights", "for method='marginal', which counts independent rows", remedy="repeat them"
        )
    share = _checks.weights_for(weights, "weights", n)
    share /= share.max()
    share /= share.sum()
    direction, length, complement = resultant(points, share)
    if length == 0.0:
        _warn_of_axes(points, share, 0.0, concentration=0.0)
        return direction, 0.0
    if complement < EQUAL:
        raise ValueError(
            f"'x' must hold at least two different points of positive weight, got {n} that agree"
            f"{' but for 1e-31 of the weight' * (weights is not None)}: the likelihood grows without bound"
        )
    # the concentration at which a_1 = |mean|
    order, length = 0.5 * (columns - 2), min(length, 1.0)
    concentration = bessel_ratio.iv_ratio_inverse(order, length, complement)
    _warn_of_axes(points, share, length, concentration=concentration)
    if marginal:
        concentration = marginal_concentration(order, n, length, complement=complement)
    return direction, concentration


def unit_rows(x: Any, name: str = "x") -> Any:
    """Return rows of unit length, of a sparse matrix in the CSR format, or in float32 or float64."""
    if sparse.is_sparse(x):
        return sparse.sparse_rows(x, name)
    is_short = str(getattr(x, "dtype", "")).endswith("bfloat16")  # of torch or ml_dtypes: lengths err by 0.4%
    x = _checks.detached(x)
    if not is_short:
        return _checks.rows(x, name)
    rows = np.asarray(x, dtype=np.float32)
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return _checks.rows(np.divide(rows, length, out=rows.copy(), where=abs(length - 1.0) < SHORT), name)


def resultant(points: Any, share: Float64) -> tuple[Float64, float, float]:
    """Return direction and length of the weighted mean of unit rows, and 1 - length without subtraction.

    The pole and 0.0 of a mean that vanishes. `share` has the sum 1.
    """
    if sparse.is_sparse(points):
        return sparse.sparse_resultant(points, share)
    n, columns = points.shape
    # Step 1: the mean direction
    scale, mean = np.empty(n), np.zeros(columns)  # one over the rows' lengths (n,), their weighted mean (d,)
    for part in sample.blocks(n, columns):
        rows = points[part].astype(np.float64, copy=False)
        scale[part] = 1.0 / np.sqrt(sample.squares(rows))
        mean += (share[part] * scale[part]) @ rows
    length = math.sqrt(mean @ mean)
    if length < 1e-300:
        return np.eye(1, columns, columns - 1)[0], 0.0, 1.0
    direction = mean / length
    # Step 2: 1 - |mean| without subtraction
    square, offset = 0.0, np.zeros(columns)  # the weighted means of |x - direction|^2 and of x - direction
    for part in sample.blocks(n, columns):
        chord = points[part] * scale[part][:, None]  # (rows, d)
        chord -= direction
        square += float(share[part] @ sample.squares(chord))
        offset += share[part] @ chord
    # 1 - |mean|^2 is the mean square about the mean: that about `direction`, which rounding may move, less a shift
    return direction, length, (square - float(offset @ offset)) / (1.0 + length)


def _warn_of_axes(points: Any, share: Float64, length: float, concentration: float) -> None:
    """Warn of rows without a mean direction that lie about an axis: no distribution of this kind has them.

    Rayleigh's test does not tell the mean from 0, or it is small against the axis, and Bingham's sum of squares is
    above what isotropic rows have once in a million samples, and above four times what the fitted distribution has.
    """
    n, d = 1.0 / float(share @ share), points.shape[1]
    near_zero = n * d * length * length <= _chi_square(d, 3.1)
    if not near_zero and length * length > 0.1:
        return
    # Step 1: the mean of x x^T over some of the rows, or the smaller Gram matrix, which has its eigenvalues
    stride = slice(None, None, -(-points.shape[0] // _ROWS))
    part = share[stride] / share[stride].sum()
    rows = points[stride]
    if sparse.is_sparse(rows):
        rows.data *= np.sqrt(part)[sparse.owners(rows)]
    else:
        rows = rows.astype(np.float64) * np.sqrt(part)[:, None]
    second = rows.T @ rows if d <= part.size else rows @ rows.T
    second = second.toarray() if sparse.is_sparse(second) else second  # at most (_ROWS, _ROWS)
    # Step 2: its sum of squares, that of the fitted distribution, and what chance adds
    n, across = 1.0 / float(part @ part), length / concentration if concentration > 0.0 else 1.0 / d
    model = (1.0 - (d - 1) * across) ** 2 + (d - 1) * across**2 - 1.0 / d
    chance = 2.0 * _chi_square((d - 1) * (d + 2) // 2, 4.8) / (n * d * (d + 2.0))
    if float(np.square(second).sum()) - 1.0 / d <= 4.0 * max(model, 0.0) + chance:
        return
    sizes = np.linalg.eigvalsh(second)
    if (near_zero or length * length < 0.1 * sizes[-1]) and sizes[-1] + sizes[0] > 2.0 * sizes[-2]:
        _checks.warn_inaccurate(
            f"the rows of 'x' have no mean direction (their mean has length {length:.2g}), but an axis: the mean of "
            f"x x^T has the eigenvalue {sizes[-1]:.2g}, not 1/{d}. Where x and -x mean the same, take axis = "
            "np.linalg.eigh(x.T @ x)[1][:, -1] and fit x * np.where(x @ axis < 0, -1, 1)[:, None]"
        )


def _chi_square(degrees: int, z: float) -> float:
    """Return the chi-square quantile at the normal quantile z, after Wilson and Hilferty."""
    share = 2.0 / (9.0 * degrees)
    return degrees * (1.0 - share + z * math.sqrt(share)) ** 3


def marginal_concentration(order: float, n: int, length: float, complement: float) -> float:
    """Solve a_1(lambda) = r a_1(n r lambda), r the mean's length, below the root of a_1(lambda) = r (Schou 1978)."""
    if n * length * length <= 1.0:
        return 0.0
    top = bessel_ratio.iv_ratio_inverse(order, length, complement)
    log_length = math.log1p(-complement) if complement < 0.5 else math.log(length)

    from scipy.optimize import brentq  # slow to load, and maximum likelihood does without

    def excess(lam: float) -> float:
        if lam == 0.0:
            return -math.log(n * length) - log_length
        ratios = bessel_ratio.first_log_ratio(order, lam), bessel_ratio.first_log_ratio(order, n * length * lam)
        return ratios[0] - ratios[1] - log_length

    return float(brentq(excess, 0.0, 2.0 * top, xtol=1e-300, rtol=1e-14, maxiter=2000))
