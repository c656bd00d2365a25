"""The steepest secant and the largest second difference of a function on S^m: searches over pairs of points."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spherapprox import special
from spherapprox._types import Float64, Floats, Indices
from spherapprox.error import lengths

Function = Callable[[Any], ArrayLike]

NEAREST = 1e-6
"""The least angle between two points that are compared: at a jump, quotients grow to the jump over this."""
BENDING = 0.01, 0.5
"""Half lengths of the arcs over which second differences are taken."""
CLIMBS, STEPS = 24, 48
"""So many of the steepest pairs are followed, for so many steps."""
CANDIDATES = 2000
"""So many of the steepest pairs are looked through for those that are apart."""
DIRECTIONS = 16
"""At most this many tangent directions are tried at a step."""
TINY = float(np.finfo(np.float64).tiny)
BATCH = 8192
"""Points that the function gets at a time."""


class Steepest(NamedTuple):
    """The pair x, y with the largest ``quotient = change / angle**exponent``; `change` is less a bound of rounding."""

    quotient: float
    change: float
    angle: float
    x: Float64
    y: Float64


class _Pairs(NamedTuple):
    """Pairs ``cos(h) c -+ sin(h) v``: middles c (..., dim+1), unit tangents v there, and half the angles h (...)."""

    c: Float64
    v: Float64
    h: Float64

    def ends(self) -> Float64:
        """Return both points of each pair: (2, ..., dim+1)."""
        along, across = np.cos(self.h)[..., None] * self.c, np.sin(self.h)[..., None] * self.v
        return _unit(np.stack([along - across, along + across]))


def steepest(function: Function, x: Float64, exponent: float, rng: np.random.Generator) -> Steepest:
    """Maximise ``|f(x) - f(y)| / theta(x, y)**exponent``, 0 < exponent <= 1, over pairs of points.

    From each row of `x`, unit rows (n, dim+1), goes one arc in a random direction, of a length between 1e-4 and pi,
    evenly in the logarithm. The steepest, some distance apart, are followed uphill: each is halved to the left, to the
    right and about its middle, doubled, moved sideways, and turned to where finite differences are largest. Half of an
    arc across a jump has the jump again, so there the quotients grow until the points are 1e-6 apart.

    Every change counts less ``4 sqrt(e) spread + 64 e max|f|``, e the epsilon of the values' precision and spread the
    range of the sample's values: so much may be the rounding of a function that is computed with care, arccos of an
    inner product included. No smaller jump is seen.
    """
    values, eps = _values(function, x)
    noise = 4.0 * math.sqrt(eps) * float(lengths(np.ptp(values, axis=0)))

    def slopes(f: Float64, g: Float64, angle: Float64) -> Float64:
        size = np.maximum(np.abs(f).max(axis=-1), np.abs(g).max(axis=-1))
        change = lengths(g - f) - noise - 64.0 * eps * size
        return np.asarray(np.maximum(change, 0.0) / angle**exponent)

    def score(pairs: _Pairs) -> Float64:
        f, g = _at(function, pairs.ends())
        return slopes(f, g, 2.0 * pairs.h)

    # Step 1: an arc of random length from each point
    angle = np.exp(rng.uniform(math.log(100.0 * NEAREST), math.log(math.pi), len(x)))  # (n,)
    pairs = _moved(x[:, None], _tangents(x[:, :, None], 1, rng), 0.5 * angle[:, None])
    pairs = _Pairs(pairs.c[:, 0], pairs.v[:, 0], 0.5 * angle)
    quotients = slopes(values, _at(function, pairs.ends()[1:])[0], angle)
    # Step 2: the steepest, apart from each other, uphill
    pair, quotient = _climb(partial(_trials, function), score, pairs, quotients=quotients, rng=rng)
    (a, b), theta = pair.ends(), 2.0 * float(pair.h)
    return Steepest(quotient, quotient * theta**exponent, theta, x=a, y=b)


def most_bent(function: Function, x: Float64, rng: np.random.Generator) -> Steepest:
    """Maximise ``|f(x) - 2 f(c) + f(y)| / h**2`` over arcs x, y of half length h and middle c.

    A function whose derivatives along unit-speed geodesics are H-Lipschitz has none above H. The middles are the rows
    of `x`, the directions random, and h lies between 0.01 and 0.5, evenly in the logarithm; the best arcs are followed
    uphill: shortened, moved sideways and turned. Of the result `angle` is 2 h; every change counts less twice what
    `steepest` takes off.
    """
    values, eps = _values(function, x)
    noise = 8.0 * math.sqrt(eps) * float(lengths(np.ptp(values, axis=0)))

    def score(pairs: _Pairs) -> Float64:
        f, g = _at(function, pairs.ends())
        middle = _at(function, pairs.c)
        size = np.abs(np.stack([f, middle, g])).max(axis=(0, -1))
        change = lengths(f - 2.0 * middle + g) - noise - 256.0 * eps * size
        return np.asarray(np.maximum(change, 0.0) / pairs.h**2)

    h = np.exp(rng.uniform(math.log(BENDING[0]), math.log(BENDING[1]), len(x)))  # (n,)
    pairs = _Pairs(x, _tangents(x[:, :, None], 1, rng)[:, 0], h)
    arc, quotient = _climb(_turns, score, pairs, quotients=score(pairs), rng=rng)
    (a, b), half = arc.ends(), float(arc.h)
    return Steepest(quotient, quotient * half**2, 2.0 * half, x=a, y=b)


def _turns(pairs: _Pairs, steps: Float64, rng: np.random.Generator) -> _Pairs:
    """Return arcs to try from each of n: shortened, moved sideways, and turned by ten times such a step."""
    c, v, h, tangents = _frame(pairs, rng)
    signed = np.concatenate([tangents, -tangents], axis=1)  # (n, 2 k, dim+1)
    turn = np.minimum(10.0 * steps, 1.0)[:, None, None]
    middles, halves = np.broadcast_to(c, signed.shape), np.broadcast_to(h, signed.shape[:2])
    return _join(
        _Pairs(c, v, np.maximum(0.7 * h, BENDING[0])),
        _moved(c, signed, steps[:, None], v=v, h=h),
        _Pairs(middles, np.cos(turn) * v + np.sin(turn) * signed, halves),
    )


def precision(values: Floats, dtype: np.dtype[Any]) -> float:
    """Return the epsilon of the precision in which values were computed, as their digits show it."""
    with np.errstate(over="ignore"):
        single = dtype == np.float32 or np.array_equal(values, values.astype(np.float32))
    return float(np.finfo(np.float32 if single else np.float64).eps)


def _values(function: Function, x: Float64) -> tuple[Float64, float]:
    """Return values as columns (n, p), and the epsilon of their precision."""
    parts = [np.asarray(function(x[i : i + BATCH])) for i in range(0, len(x), BATCH)]
    values = np.concatenate([part.reshape(len(part), -1).astype(np.float64) for part in parts])
    return values, precision(values, parts[0].dtype)


def _at(function: Function, x: Float64) -> Float64:
    """Return values at points of any shape (..., dim+1), as (..., p)."""
    return _values(function, x.reshape(-1, x.shape[-1]))[0].reshape(*x.shape[:-1], -1)


def _climb(
    propose: Callable[[_Pairs, Float64, np.random.Generator], _Pairs], score: Callable[[_Pairs], Float64],
    pairs: _Pairs, quotients: Float64, *, rng: np.random.Generator,
) -> tuple[_Pairs, float]:  # fmt: skip
    """Follow the largest quotients that lie apart uphill; sideways steps shrink without a gain. Return the best."""
    spacing = _spacing(pairs.c)
    apart = _apart(pairs.c, quotients, math.cos(1.5 * spacing))
    pairs, quotients = _Pairs(*(part[apart] for part in pairs)), quotients[apart]
    steps, rows = np.full(len(quotients), spacing), np.arange(len(quotients))
    for _ in range(STEPS):
        trials = propose(pairs, steps, rng)
        scores = score(trials)
        best = np.argmax(scores, axis=1)
        gained = scores[rows, best] > quotients
        for old, new in zip((*pairs, quotients), (*trials, scores), strict=True):
            old[gained] = new[rows, best][gained]
        steps *= np.where(gained, 1.25, 0.5)
    top = int(np.argmax(quotients))
    return _Pairs(*(part[top] for part in pairs)), float(quotients[top])


def _frame(pairs: _Pairs, rng: np.random.Generator) -> tuple[Float64, Float64, Float64, Float64]:
    """Return c and v (n, 1, dim+1), h (n, 1), and tangents at c, v the first of them: (n, k, dim+1)."""
    tangents = _tangents(np.stack([pairs.c, pairs.v], axis=2), DIRECTIONS, rng)
    return pairs.c[:, None], pairs.v[:, None], pairs.h[:, None], tangents


def _join(*parts: _Pairs) -> _Pairs:
    """Join trials (n, k_i) to (n, sum k_i), with middles of length 1 and directions tangent there."""
    middles, directions, halves = (np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True))
    middles = _unit(middles)
    directions -= np.einsum("nkd,nkd->nk", middles, directions)[..., None] * middles
    return _Pairs(middles, _unit(directions), halves)


def _trials(function: Function, pairs: _Pairs, steps: Float64, rng: np.random.Generator) -> _Pairs:
    """Return pairs to try from each of n: turned, halved in three ways, doubled, and moved sideways; (n, trials)."""
    c, v, h, tangents = _frame(pairs, rng)
    sides = np.concatenate([v, -v], axis=1)  # (n, 2, dim+1)
    trials = _join(
        _Pairs(c, _turned(function, c, tangents, h=h), h), _Pairs(c, v, 0.5 * h), _moved(c, sides, 0.5 * h),
        _Pairs(c, v, np.minimum(2.0 * h, 0.5 * math.pi)),
        _moved(c, np.concatenate([tangents, -tangents], axis=1), steps[:, None], v=v, h=h),
    )  # fmt: skip
    return trials._replace(h=np.maximum(trials.h, 0.5 * NEAREST))


def _turned(function: Function, c: Float64, tangents: Float64, h: Float64) -> Float64:
    """Return the direction of largest differences over the angle 2h in the tangents' span: (n, 1, dim+1)."""
    f = _at(function, _Pairs(c, tangents, h).ends())
    change = f[1] - f[0]  # (n, k, p)
    change /= np.maximum(np.abs(change).max(axis=(1, 2), keepdims=True), TINY)
    share = np.linalg.eigh(change @ change.transpose(0, 2, 1))[1][:, None, :, -1]
    return np.asarray(share @ tangents)


def _moved(
    c: Float64, tangents: Float64, angles: Float64, v: Float64 | None = None, h: Float64 | None = None
) -> _Pairs:
    """Move the middles c along tangents (n, k, dim+1) by angles (n, 1), with v carried along."""
    v = tangents if v is None else v
    cos, sin = np.cos(angles)[..., None], np.sin(angles)[..., None]
    along = np.einsum("nkd,nkd->nk", *np.broadcast_arrays(tangents, v))[..., None]  # (n, k, 1)
    carried = v + along * ((cos - 1.0) * tangents - sin * c)
    halves = np.broadcast_to(angles if h is None else h, carried.shape[:2])
    return _Pairs(cos * c + sin * tangents, carried, halves)


def _tangents(first: Float64, largest: int, rng: np.random.Generator) -> Float64:
    """Return orthonormal tangents at first[:, :, 0], the other columns' own and random ones: (n, k, dim+1)."""
    n, size, count = first.shape
    k = min(size - 1, largest)
    frame = np.concatenate([first, rng.standard_normal((n, size, k + 1 - count))], axis=2)  # (n, dim+1, k + 1)
    q, r = np.linalg.qr(frame)
    q *= np.sign(np.einsum("nkk->nk", r))[:, None]
    return np.asarray(q[:, :, 1:].transpose(0, 2, 1))


def _apart(c: Float64, scores: Float64, least: float) -> Indices:
    """Return indices of the largest scores at points whose inner products are below the least one of neighbours."""
    indices = [int(np.argmax(scores))]
    for i in np.argsort(-scores, kind="stable")[:CANDIDATES]:
        if float((c[indices] @ c[i]).max()) < least:
            indices.append(int(i))
        if len(indices) == CLIMBS:
            break
    return np.array(indices)


def _spacing(x: Float64) -> float:
    """Return the angle between neighbours in a uniform set of as many points, at most 1/2."""
    dim = x.shape[1] - 1
    return min(0.5, math.exp((special.log_surface_area(dim) - math.log(len(x))) / dim))


def _unit(x: Float64) -> Float64:
    """Divide rows by their length."""
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))
