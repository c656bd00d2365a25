"""One smooth piece of an integral of e^(lambda cos v) sin^(m-1) theta, and its sum by one Gauss-Legendre rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from .._scalars.gauss import gauss_legendre
from .._types import Float64

CUT = 42.0  # a piece ends where its integrand is below e^-42 of the largest value
RULE = 72  # enough nodes for a Gaussian cut there on both sides: doubling them changes nothing (tuned)

NODES, WEIGHTS = gauss_legendre(RULE)


class Piece(NamedTuple):
    """E(u) = lam [cos(v + u) - cos v] + (m-1) log[sin(theta + u)/sin theta], its reference, and log e^E(0)'s scale."""

    theta: float  # the reference colatitude: u = 0
    m1: float  # m - 1
    cot: float  # cot theta, 0 where m = 1
    slope: float  # E'(0) = (m-1) cot theta - lam sin v
    bend: float  # m - 1 + lam cos v
    scale: float = 0.0  # log of the integrand at the reference over the kernel's integrand at its mode

    def log(self, u: float) -> float:
        """Return E(u) for a float."""
        s = math.sin(0.5 * u)
        half = 2.0 * s * s
        result = self.slope * math.sin(u) - self.bend * half
        if self.m1 > 0.0:
            y = self.cot * math.sin(u) - half
            if y <= -1.0:
                return -math.inf
            result += self.m1 * (-0.5 * y * y if abs(y) < 1e-5 else math.log1p(y) - y)
        return result

    def logs(self, u: Float64) -> Float64:
        """Return E(u) for an array."""
        s = np.sin(0.5 * u)
        half = 2.0 * s * s
        result: Float64 = -self.bend * half
        if self.m1 > 0.0:
            sine = np.sin(u)
            result += self.m1 * log1p_minus(self.cot * sine - half, self.m1)
            if self.slope != 0.0:
                result += self.slope * sine
        elif self.slope != 0.0:
            result += self.slope * np.sin(u)
        return result


def log1p_minus(y: Float64, factor: float) -> Float64:
    """Return log(1 + y) - y for y > -1, to an absolute error that `factor` may multiply."""
    y = np.maximum(y, -1.0 + 2.0**-53)
    direct = np.log1p(y) - y
    if factor <= 32.0:
        return direct
    # with s = y/(2 + y): log(1+y) = 2 atanh s and y = 2s + y s, so the leading terms cancel exactly.
    s = y / (2.0 + y)
    q = s * s
    series = 1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q * (1 / 13)))))
    return np.where(np.abs(y) < 0.1, s * (2.0 * q * series - y), direct)


def reach(piece: Piece, limit: float) -> float:
    """Return the offset towards `limit` (a signed offset) beyond which the piece is below e^-CUT, or `limit`."""
    if limit == 0.0 or piece.log(limit) > -CUT:
        return limit
    # Step 1: a first offset, from the slope or from the curvature at the reference
    size = abs(limit)
    sign = 1.0 if limit > 0.0 else -1.0
    curvature = math.hypot(math.sqrt(max(piece.bend, 0.0)), math.sqrt(piece.m1) * piece.cot)  # its root
    high = size if curvature == 0.0 else math.sqrt(2.0 * CUT) / curvature
    if piece.slope != 0.0:
        high = min(high, CUT / abs(piece.slope))
    # Step 2: doubled until the piece is below e^-CUT
    low = 0.0
    high = min(high, size)
    while high < size and piece.log(sign * high) > -CUT:
        low = high
        high = min(2.0 * high, size)
    # Step 3: halved to 15%
    while high > 1.15 * low:
        middle = 0.25 * high if low == 0.0 else 0.5 * (low + high)
        if piece.log(sign * middle) > -CUT:
            low = middle
        else:
            high = middle
    return sign * high


def log_integral(
    piece: Piece, low: float, high: float, factor: Callable[[Float64], Float64] | None = None, power: int = 1
) -> float:
    """Return scale + log int e^E(u) factor(theta) du over colatitudes [low, high], factor >= 0 and smooth.

    `power` > 1 substitutes theta = top s^power, which resolves a fractional power of theta at theta = 0.
    """
    # Step 1: the offsets between which the integrand counts
    start, stop = low - piece.theta, high - piece.theta
    if not stop > start:
        return -math.inf
    if start < 0.0:
        start = reach(piece, start)
    if stop > 0.0:
        stop = reach(piece, stop)
    beside = start > 0.0 or stop < 0.0  # the mode lies outside the range, which may then count for nothing
    if not stop > start or (beside and max(piece.log(start), piece.log(stop)) < -CUT):
        return -math.inf
    # Step 2: nodes and weights there, (RULE,)
    half = 0.5 * (stop - start)
    if power == 1:
        u = 0.5 * (start + stop) + half * NODES
        theta = piece.theta + u
        weights = WEIGHTS
    else:
        s = 0.5 * (1.0 + NODES)
        theta = (stop + piece.theta) * s**power
        u = theta - piece.theta
        weights = WEIGHTS * (power * s ** (power - 1) * (stop + piece.theta) / (2.0 * half))
    # Step 3: the sum, as a logarithm
    terms = np.exp(piece.logs(u)) * weights
    total = float(terms.sum() if factor is None else terms @ factor(theta))
    if total <= 0.0:
        return -math.inf
    return piece.scale + (math.log(half * total) if half * total > 1e-290 else math.log(half) + math.log(total))


def log_sum(logs: Iterable[float]) -> float:
    """Return the log of a sum of exponentials."""
    values = tuple(logs)
    top = max(values)
    return top if math.isinf(top) else top + math.log(math.fsum(math.exp(value - top) for value in values))
