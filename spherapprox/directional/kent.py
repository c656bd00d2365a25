"""Kent's distribution: ovals of points about a mean direction of S^2.

The arguments are the same throughout: `x`, unit rows (n, 3); `weights`, of rows (n,), at least 0, of which 2 counts a
row twice; `method` of a fit, "mle" or "moments". Error names: TypeError and ValueError, if one is of the wrong kind or
range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from scipy.special import i0e, i1e

from .. import _checks
from .._types import Float64
from ..vmf import fitting
from .densities import Density, read_sample

MAX_CONCENTRATION = 1e12
STEP, RANGE = 0.07, 44.0  # of the rule in y = log(w/(2-w)), w = 1 - cosine: e^-RANGE is left out at both ends


@dataclass(frozen=True, eq=False)
class Kent(Density):
    """Kent's distribution on S^2, whose density is proportional to e^(k <x, mean> + b (<x, major>^2 - <x, minor>^2)).

    J. T. Kent (1982), The Fisher-Bingham distribution on the sphere, J. R. Stat. Soc. B 44, 71-80.

    Parameters
    ----------
    axes : array_like, shape (3, 3)
        Orthonormal rows: the mean direction, the major and the minor axis, the last two of either sign.
    concentration : float
        k, 0 to 1e12.
    ovalness : float
        b, 0 to k/2: 0 is von Mises and Fisher's distribution. Contours are ellipses of axes' ratio sqrt((k+2b)/(k-2b))
        where k is large.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import directional
    >>> oval = directional.Kent(np.eye(3), 100.0, 30.0)
    >>> round(oval.log_normalizer, 12), round(oval.logpdf([1.0, 0.0, 0.0]), 6)
    (94.912567585808, 2.556408)
    >>> fitted = directional.Kent.fit(oval.rvs(5000, rng=0))
    >>> bool(abs(fitted.concentration - 100.0) < 6.0), bool(abs(fitted.ovalness - 30.0) < 3.0)
    (True, True)
    """

    axes: Float64
    concentration: float
    ovalness: float
    dim = 2

    def __post_init__(self) -> None:
        axes = _checks.floating(self.axes, "axes", (3, 3)).astype(np.float64)
        if (wrong := float(np.abs(axes @ axes.T - np.eye(3)).max())) > 1e-3:
            remedy = "rows are the mean direction and two axes across it; np.linalg.qr(axes.T)[0].T makes them so"
            raise ValueError(f"'axes' must have orthonormal rows, got products wrong by {wrong:.3g}: {remedy}")
        left, _, right = np.linalg.svd(axes)
        axes = left @ right  # the nearest rows that are orthonormal to rounding
        kappa = _checks.real(self.concentration, "concentration", minimum=0.0, maximum=MAX_CONCENTRATION)
        why = "half of 'concentration'; beyond it the density has two peaks"
        beta = _checks.real(self.ovalness, "ovalness", minimum=0.0, maximum=0.5 * kappa, why=why)
        self._set(axes=axes, concentration=kappa, ovalness=beta)

    @cached_property
    def _log_scaled_constant(self) -> float:
        return integrate(self.concentration, self.ovalness)[0]

    @property
    def log_normalizer(self) -> float:
        """Log c(k, b) - log(4 pi) for Kent's c, subtracted in log f(x) = k <x, mean> + ... - log_normalizer.

        The density f is with respect to the measure of total 1. The error is below 1e-14 of the larger of 1 and k.
        """
        return self.concentration + self._log_scaled_constant

    @classmethod
    def fit(cls, x: ArrayLike, weights: ArrayLike | None = None, *, method: str = "mle") -> Kent:
        """Fit a distribution to points, which must not all agree.

        With "mle" all five parameters are the likeliest. With "moments" the axes are the direction of the mean
        and the principal axes across it, and the others the likeliest for these.
        """
        rows, share = read_sample(x, weights, dim=2)
        free = _checks.choice(method, "method", ("mle", "moments")) == "mle"
        direction, _, shortfall = fitting.resultant(rows, share)
        if shortfall < fitting.EQUAL:
            raise ValueError(f"'x' must hold at least two different points, got {len(rows)} that agree")
        plane = np.linalg.svd(direction[None, :])[2][1:]
        across = plane @ rows.T  # (2, n)
        axes = np.vstack([direction, np.linalg.eigh((across * share) @ across.T)[1][:, ::-1].T @ plane])
        chords = rows @ axes.T  # less the mean direction, in these axes
        chords[:, 0] = -0.5 * np.square(rows - direction).sum(axis=1)
        turn, kappa, beta = _maximize(share @ chords, (chords.T * share) @ chords, free=free)
        return cls(turn @ axes, kappa, beta)

    def _log_densities(self, rows: Float64) -> Float64:
        chords, sides = rows - self.axes[0], rows @ self.axes[1:].T
        w = 0.5 * np.einsum("ij,ij->i", chords, chords)  # 1 - <x, mean>
        oval = (sides[:, 0] - sides[:, 1]) * (sides[:, 0] + sides[:, 1])
        return np.asarray(self.ovalness * oval - self.concentration * w - self._log_scaled_constant)

    def _draw(self, n: int, rng: np.random.Generator) -> Float64:
        lambert = np.empty((0, 2))
        while len(lambert) < n:
            proposals = propose(self.concentration, self.ovalness, 2 * (n - len(lambert)) + 8, rng=rng)
            lambert = np.concatenate([lambert, proposals])[:n]
        square = np.einsum("ij,ij->i", lambert, lambert)  # half of 1 - cosine
        offsets = (2.0 * np.sqrt(1.0 - square))[:, None] * lambert
        x = (1.0 - 2.0 * square)[:, None] * self.axes[0] + offsets @ self.axes[1:]
        return np.asarray(x / np.sqrt(np.einsum("ij,ij->i", x, x))[:, None])


def means_about(turn: Float64, mean: Float64, square: Float64) -> tuple[float, float]:
    """Return the means of w = 1 - <x, mean> and of <x, major>^2 - <x, minor>^2 about turned axes.

    From the mean (3,) and mean square (3, 3) of chords, the coordinates less the mean direction, in the old axes.
    """
    shift = turn[0] - np.eye(3)[0]
    w = 0.5 * float(np.trace(square) - 2.0 * shift @ mean + shift @ shift)
    major, minor = (side[0] ** 2 + 2.0 * side[0] * (side @ mean) + side @ square @ side for side in turn[1:])
    return w, float(major - minor)


def integrate(kappa: float, beta: float) -> tuple[float, float, float]:
    """Return the log of the constant less kappa, and the means of w = 1 - t and of (1 - t^2) cos(2 azimuth)."""
    y = STEP * np.arange(-math.ceil((RANGE + math.log1p(kappa)) / STEP), math.ceil(RANGE / STEP) + 1)
    w, rest = 2.0 / (1.0 + np.exp(-y)), 2.0 / (1.0 + np.exp(y))
    square = w * rest  # 1 - t^2
    bessel = i0e(beta * square)
    density = np.exp(-(kappa - 2.0 * beta) * w - beta * w * w) * bessel * square
    total = math.fsum(density)
    oval = square * (i1e(beta * square) / bessel)
    return math.log(0.25 * STEP * total), math.fsum(density * w) / total, math.fsum(density * oval) / total


def propose(kappa: float, beta: float, n: int, *, rng: np.random.Generator) -> Float64:
    """Draw from Kent's distribution by rejection, out of n proposals: points (k, 2) of Lambert's equal-area disk.

    With w = 2 |z|^2 the density is e^(-(a z1^2 + b z2^2 + g (z1^4 - z2^4))/2) on the unit disk, below normal ones since
    g (z1^2 - c)^2 >= 0 and z2^4 <= z2^2; c is the best one. More than a third is taken for every kappa.
    """
    a, g = 4.0 * (kappa - 2.0 * beta), 8.0 * beta
    if kappa < 1.0:
        radius, angle = np.sqrt(rng.random(n)), 2.0 * math.pi * rng.random(n)
        z1, z2 = radius * np.cos(angle), radius * np.sin(angle)
        cost = 0.5 * (a * z1**2 + (a + 2.0 * g) * z2**2 + g * (z1**4 - z2**4))
    else:
        c = 2.0 / (a + math.sqrt(a * a + 8.0 * g))
        z1 = rng.standard_normal(n) / math.sqrt(a + 2.0 * g * c)
        z2 = rng.standard_normal(n) / math.sqrt(4.0 * kappa)
        cost = 0.5 * g * ((z1**2 - c) ** 2 + z2**2 * (1.0 - z2**2))
    taken = (z1**2 + z2**2 < 1.0) & (cost <= rng.standard_exponential(n))
    return np.stack([z1[taken], z2[taken]], axis=1)


def _maximize(mean: Float64, square: Float64, *, free: bool) -> tuple[Float64, float, float]:
    """Return the likeliest turn of the axes, if they are `free`, concentration and ovalness."""
    w, oval = means_about(np.eye(3), mean, square)
    # Kent (1982), the expansion for narrow samples, as a start: k + 2b = 2/thin, k - 2b = 2/wide
    thin, wide = max(2.0 * w - oval, 1e-15 * w), 2.0 * w + oval
    start = min(max(1.0 / thin + 1.0 / wide, 1e-3), MAX_CONCENTRATION)
    tilt = 1.0 / math.sqrt(1.0 + start)

    def parameters(z: Float64) -> tuple[Float64, float, float]:
        """Return turn, concentration and ovalness for log k, log(1 - 2b/k) and the turn's vector, all of order 1."""
        kappa = math.exp(z[0])
        turn = Rotation.from_rotvec([z[2], tilt * z[3], tilt * z[4]]).as_matrix() if free else np.eye(3)
        return turn, kappa, -0.5 * kappa * math.expm1(z[1])

    def loss(z: Float64) -> float:
        turn, kappa, beta = parameters(z)
        w_mean, oval_mean = means_about(turn, mean, square)
        return integrate(kappa, beta)[0] + kappa * w_mean - beta * oval_mean

    first = [math.log(start), math.log(2.0 * thin / (thin + wide)), *([0.0] * 3 * free)]
    limits = [(-20.0, math.log(MAX_CONCENTRATION)), (-40.0, 0.0), *([(-3.0, 3.0)] * 3 * free)]
    best = minimize(loss, first, method="L-BFGS-B", jac="3-point", bounds=limits, options={"ftol": 1e-15, "gtol": 1e-9})
    return parameters(best.x)
