"""Watson's distribution of axes, bipolar or about a great circle, in every dimension.

The arguments are the same throughout: `x`, unit rows (n, dim+1), whose signs do not matter; `weights`, of rows (n,), at
least 0, of which 2 counts a row twice; `form` of a fit, "bipolar", "girdle" or the likelier of "either". Error names:
TypeError and ValueError, if one is of the wrong kind or range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.optimize import brentq

from .. import _checks
from .._integrals.piece import log1p_minus
from .._scalars.gamma import gamma_half_ratio
from .._scalars.gauss import gauss_legendre
from .._types import Float64
from ..vmf import sampling
from .densities import Density, read_directions, read_sample

MAX_CONCENTRATION = 1e10  # the table that `rvs` draws from grows with its root
SAME = 1e-30  # a mean square of cosines, or of sines, below which all are 0 to rounding
CUT = 42.0  # the rule ends where the density is below e^-42 of its largest value
STEP, SHARE = 0.07, 0.55  # the rule's step at most, and in standard deviations at the mode: e^-40 is left out
LONGEST = 300.0  # no side is longer than 90
PANEL_NODES = 10  # Gauss-Legendre nodes in a panel of four steps of the distribution function


@dataclass(frozen=True, eq=False)
class Watson(Density):
    """Watson's distribution on S^m: its density is proportional to e^(concentration <x, axis>^2), so x and -x have one.

    S. Sra & D. Karp (2013), The multivariate Watson distribution, J. Multivar. Anal. 114, 256-269.

    Parameters
    ----------
    axis : array_like, shape (dim+1,)
        Unit vector, of either sign.
    concentration : float
        -1e10 to 1e10. Positive: points lie about both ends of the axis (bipolar); negative: about the great circle, or
        great sphere, across it (girdle); 0: uniform.

    Examples
    --------
    >>> from spherapprox import directional
    >>> poles = directional.Watson([0.0, 0.0, 1.0], 10.0)
    >>> round(poles.log_normalizer, 12), round(poles.mean_square(), 12)
    (7.063245458633, 0.892727761409)
    >>> fitted = directional.Watson.fit(poles.rvs(2000, rng=0))
    >>> bool(abs(fitted.axis[2]) > 0.999), bool(abs(fitted.concentration - 10.0) < 1.0)
    (True, True)
    >>> round(poles.pdf([0.0, 0.0, -1.0]), 6), round(poles.logpdf([0.0, 0.0, 1.0]), 6)
    (1.500398, 0.40573)
    """

    axis: Float64
    concentration: float

    def __post_init__(self) -> None:
        axis = read_directions(_checks.one_row(self.axis, "axis")[None, :], "axis")[0]
        limit = MAX_CONCENTRATION
        kappa = _checks.real(self.concentration, "concentration", minimum=-limit, maximum=limit)
        self._set(axis=axis, concentration=kappa, dim=axis.size - 1)

    def __repr__(self) -> str:
        return f"Watson(axis={_checks.show(self.axis.tolist())}, concentration={self.concentration})"

    @cached_property
    def _law(self) -> KummerLaw:
        """The law of <x, axis>^2."""
        return square_law(self.dim + 1, self.concentration)

    @property
    def log_normalizer(self) -> float:
        """Log 1F1(1/2; p/2; concentration) of p columns, subtracted in log f(x) = concentration t^2 - log_normalizer.

        The density f is with respect to the measure of total 1, and t = <x, axis>. The error is below 1e-13 of the
        largest of 1, its absolute value and |concentration| E t^2, for p up to 1e5 and |concentration| up to 1e7.
        """
        return self._law.log_constants[0]

    def mean_square(self) -> float:
        """Return E <x, axis>^2 in (0, 1), the derivative of `log_normalizer`, to 1e-13 relative."""
        return self._law.means[0]

    @classmethod
    def fit(cls, x: ArrayLike, weights: ArrayLike | None = None, *, form: str = "either") -> Watson:
        """Fit a distribution to axes by maximum likelihood.

        Its axis is the first, or last, eigenvector of the mean of x x^T. With fewer rows than columns "either" is
        "bipolar": the girdle's likelihood has no bound, as neither has where rows agree up to sign, or lie on one great
        circle (ValueError).
        """
        rows, share = read_sample(x, weights)
        n, d = rows.shape
        _checks.choice(form, "form", ("either", "bipolar", "girdle"))
        _checks.memory(24.0 * d * min(n, d), f"a fit to rows of {d} columns", "reduce their columns first")
        if form == "girdle" and n < d:
            raise ValueError(f"'x' must have at least {d} rows for a girdle, got {n}: they all lie across some axes")
        first, last = _end_axes(rows, share)
        signs = {"bipolar": [1.0], "girdle": [-1.0]}.get(form, [1.0, -1.0] if n >= d else [1.0])
        fits = []
        for sign in signs:
            axis = last if sign > 0.0 else first
            square, rest = (float(share @ part) for part in split_squares(rows, axis))
            if min(square, rest) < SAME:
                place = "on one axis" if sign > 0.0 else "on one great circle or great sphere"
                raise ValueError(f"'x' must not lie {place}, as its {n} rows do: the likelihood grows without bound")
            fits.append(cls(axis, solve_concentration(d - 1.0, square, rest, sign=sign)))
        return max(fits, key=lambda fitted: float(share @ fitted._log_densities(rows)))

    def _log_densities(self, rows: Float64) -> Float64:
        return np.asarray(log_densities(self._law, self.concentration, *split_squares(rows, self.axis)))

    def _draw(self, n: int, rng: np.random.Generator) -> Float64:
        square, rest = draw_squares(self.dim, self.concentration, n, rng=rng)
        x = np.empty((n, self.dim + 1))
        sampling.place(rest / (1.0 + np.sqrt(square)), self.axis, x, rng)
        x *= (2.0 * rng.integers(0, 2, n) - 1.0)[:, None]
        return x


def square_law(columns: int, concentration: float) -> KummerLaw:
    """Return the law of the square of the cosine with the axis."""
    return KummerLaw(0.5, 0.5 * (columns - 1.0), concentration)


def log_densities(law: KummerLaw, concentration: float, square: Any, rest: Any) -> Any:
    """Return log densities at squares of cosines with the axis and what they lack of 1, or the mean one at means."""
    if concentration > 0.0:
        return -law.log_constants[1] - concentration * rest
    return concentration * square - law.log_constants[0]


def split_squares(rows: Float64, axis: Float64) -> tuple[Float64, Float64]:
    """Return the squared cosines of unit rows with an axis, and what they lack of 1, to its last digits."""
    t = rows @ axis
    across = rows - t[:, None] * axis
    return t * t, np.einsum("ij,ij->i", across, across)


def draw_squares(dim: int, kappa: float, n: int, *, rng: np.random.Generator) -> tuple[Float64, Float64]:
    """Draw n squared cosines t^2 and their complements.

    By the series of e^(kappa t^2), or of e^(|kappa| (1 - t^2)), t^2 is Beta(1/2 + j, m/2), or Beta(1/2, m/2 + j), and j
    has the weights of the terms of 1F1.
    """
    size, columns = abs(kappa), dim + 1.0
    a = 0.5 if kappa > 0.0 else 0.5 * dim
    # Step 1: the weights of j about the largest, by the ratios of neighbours
    lead = size - 1.0 - 0.5 * columns
    middle = 0.5 * (lead + math.sqrt(max(lead * lead - 2.0 * columns + 4.0 * size * a, 0.0)))
    width = 60.0 + 13.0 * math.sqrt(size + columns)
    first = max(0, math.floor(middle - width))
    j = np.arange(first, max(middle, 0.0) + width)
    with np.errstate(divide="ignore"):  # all of the weight is at j = 0 where kappa = 0
        logs = np.cumsum(np.log(size * ((j + a) / ((j + 1.0) * (j + 0.5 * columns)))))
    logs = np.concatenate([[0.0], logs])
    shares = np.cumsum(np.exp(logs - logs.max()))
    # Step 2: j, and the beta law of the smaller part
    chosen = first + np.searchsorted(shares, shares[-1] * rng.random(n), side="right")
    if kappa > 0.0:
        rest = rng.beta(0.5 * dim, 0.5 + chosen)
        return 1.0 - rest, rest
    square = rng.beta(0.5, 0.5 * dim + chosen)
    return square, 1.0 - square


def _end_axes(rows: Float64, share: Float64) -> tuple[Float64, ...]:
    """Return the first and the last eigenvector of the mean of x x^T, or of as much of it as there are rows."""
    scaled = rows * np.sqrt(share)[:, None]
    wide = len(rows) < rows.shape[1]
    vectors = eigh(scaled @ scaled.T if wide else scaled.T @ scaled)[1][:, [0, -1]]
    axes = (scaled.T @ vectors if wide else vectors).T
    return tuple(orient(axis / np.linalg.norm(axis)) for axis in axes)


def orient(axis: Float64) -> Float64:
    """Return that end of an axis whose last number that is not 0 is positive."""
    return np.asarray(axis * np.copysign(1.0, axis[np.flatnonzero(axis)[-1]]))


def solve_concentration(m: float, square: float, rest: float, *, sign: float) -> float:
    """Return the likeliest concentration of a sign on S^m, between the bounds of Sra and Karp (2013), 3.2.

    For the mean square of the cosine with the axis, and what it lacks of 1.
    """
    if min(square, rest) < SAME:
        return sign * MAX_CONCENTRATION
    lead = 0.5 * ((m + 1.0) * square - 1.0) / (square * rest)
    if lead * sign <= 0.0:
        return 0.0

    def excess(kappa: float) -> float:
        means = KummerLaw(0.5, 0.5 * m, kappa).means
        return math.log(means[0] / square) if square < rest else math.log(rest / means[1])

    ends = sorted([lead * (1.0 + 2.0 * rest / m), lead * (1.0 + 2.0 * square)])
    slack = 1e-9 * abs(lead)
    low, high = max(ends[0] - slack, -MAX_CONCENTRATION), min(ends[1] + slack, MAX_CONCENTRATION)
    if low >= MAX_CONCENTRATION or high <= -MAX_CONCENTRATION or excess(low) >= 0.0 or excess(high) <= 0.0:
        return sign * MAX_CONCENTRATION
    return float(brentq(excess, low, high, xtol=1e-300, rtol=1e-13))


class KummerLaw:
    """The law on (0, 1) of density proportional to s^(a-1) (1-s)^(b-1) e^(ks), for a, b >= 1/2, one of them 1/2.

    In v = log(s/(1-s)) less its mode, the density has one maximum, decays like exponentials and is analytic in a strip
    about the real line, so that the trapezoidal rule converges geometrically.

    `mode` is s and 1 - s at the maximum of s times (1-s) times the density, `means` of s and of 1 - s, to their last
    digits; `log_constants` are log 1F1(a; a+b; k), relatively accurate where |k| is small, and the same less k.
    """

    def __init__(self, a: float, b: float, k: float) -> None:
        self.a, self.b = a, b
        # Step 1: the mode; k s^2 + (a+b-k) s - a = 0, and k r^2 - (a+b+k) r + b = 0 for r = 1 - s
        root = math.hypot(a + b - abs(k), 2.0 * math.sqrt((a if k > 0.0 else b) * abs(k)))
        s, rest = (
            2.0 * end / (root + linear) if linear >= 0.0 else (root - linear) / (2.0 * own)
            for end, linear, own in ((a, a + b - k, k), (b, a + b + k, -k))
        )
        self.mode = s, rest
        # Step 2: the rule in v, from minus the second derivative at the mode
        self.step = min(STEP, SHARE / math.sqrt(a * rest * rest + b * s * s))
        v = self.step * 1.25 ** np.arange(math.log(LONGEST / self.step, 1.25))
        self.low, self.high = (float(side[self.log_density(side) < -CUT][0]) for side in (-v, v))
        v = self.step * np.arange(math.floor(self.low / self.step), math.ceil(self.high / self.step) + 1.0)
        weights, scale = self.step * np.exp(self.log_density(v)), rest + s * np.exp(v)
        self.means = tuple(float(weights @ (part / scale) / weights.sum()) for part in (s * np.exp(v), rest))
        # Step 3: the constant, by the power series for small k
        if abs(k) <= 0.5 * (a + b):
            term, total, j = 1.0, 0.0, 0.0
            while abs(term) > 1e-18 * abs(total):
                term *= (a + j) * k / ((a + b + j) * (j + 1.0))
                total, j = total + term, j + 1.0
            self.log_constants = math.log1p(total), math.log1p(total) - k
        else:
            log_beta = 0.5 * math.log(math.pi) - math.log(gamma_half_ratio(max(a, b)))
            log = a * _log_of(s, rest) + b * _log_of(rest, s) - log_beta + math.log(math.fsum(weights))
            self.log_constants = log + k * s, log - k * rest

    def log_density(self, v: Float64) -> Float64:
        """Return the log of the density of v over its largest value."""
        s, rest = self.mode
        shift = np.expm1(v)
        scale = rest + s * np.exp(v)
        up, down = rest * shift / scale, -s * shift / scale  # relative changes of s and of 1 - s
        log_scale = np.log(scale)
        # at the mode k = b/(1-s) - a/s, so that all linear terms cancel
        first = np.where(np.abs(up) < 0.1, log1p_minus(up, math.inf), v - log_scale - up)
        second = np.where(np.abs(down) < 0.1, log1p_minus(down, math.inf), -log_scale - down)
        return np.asarray(self.a * first + self.b * second)

    def distribute(self, s: Float64, rest: Float64) -> Float64:
        """Return the probabilities of values up to s, whose complements are `rest`, by Gauss's rule on panels."""
        with np.errstate(divide="ignore"):
            v = np.clip(np.log(s / self.mode[0]) - np.log(rest / self.mode[1]), self.low, self.high)
        panels = np.linspace(self.low, self.high, 2 + int((self.high - self.low) / (4.0 * self.step)))
        edges = np.union1d(panels, v)
        nodes, weights = gauss_legendre(PANEL_NODES)
        half = 0.5 * np.diff(edges)
        at = 0.5 * (edges[1:] + edges[:-1])[:, None] + half[:, None] * nodes
        sums = np.concatenate([[0.0], np.cumsum(half * (np.exp(self.log_density(at)) @ weights))])
        return np.asarray(sums[np.searchsorted(edges, v)] / sums[-1])


def _log_of(share: float, rest: float) -> float:
    """Return log(share) for two shares of sum 1."""
    return math.log(share) if share < 0.5 else math.log1p(-rest)
