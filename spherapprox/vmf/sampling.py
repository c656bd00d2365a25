"""Random points of the von Mises-Fisher distribution and sums over rows, in NumPy, by blocks that stay in cache."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._threads import slices
from .._types import Float64, Floats

ROW_NUMBERS = 1 << 15  # numbers in a block of rows: two blocks of floats stay in the second-level cache (tuned)
FEW_COLUMNS = 24  # rows of fewer columns are worked on column by column, or by einsum (tuned)


def blocks(n: int, columns: int) -> list[slice]:
    """Cut n rows into blocks of about `ROW_NUMBERS` numbers."""
    return slices(n, max(1, ROW_NUMBERS // columns))


def squares(x: Float64) -> Float64:
    """Return the squared lengths of rows; BLAS sums long ones faster, and in more parts, than einsum."""
    if x.shape[1] < FEW_COLUMNS:
        return np.asarray(np.einsum("ij,ij->i", x, x))
    return np.asarray(np.matmul(x[:, None, :], x[:, :, None])[:, 0, 0])


def squares_between(points: Floats, lead: tuple[int, ...], means: Float64) -> Float64:
    """Return squared chords of rows (n, d), whose leading axes are `lead`, from a mean (d,) or means (..., d)."""
    n, d = points.shape
    if means.ndim == 1:
        result = np.empty(n)
        for part in blocks(n, d):
            result[part] = squares(points[part] - means)
        return result.reshape(lead)
    shape = np.broadcast_shapes(lead, means.shape[:-1])
    row = np.broadcast_to(np.arange(n).reshape(lead), shape).ravel()
    mean = np.broadcast_to(np.arange(means.size // d).reshape(means.shape[:-1]), shape).ravel()
    means = means.reshape(-1, d)
    result = np.empty(row.size)
    for part in blocks(row.size, d):
        result[part] = squares(points[row[part]] - means[mean[part]])
    return result.reshape(shape)


def versines(m: float, lam: float, n: int, rng: np.random.Generator) -> Float64:
    """Draw n values of 1 - cos theta under the kernel, whose density is e^(-lam w) (w (2-w))^(m/2-1).

    Wood (1994), in w = 1 - his W: for a coordinate S of a uniform point and his x_0 the proposal is
    w = (1-x_0) (1+S)/(1-x_0 S), taken with probability exp(-m [x_0 S/(1-x_0 S) + log(1-x_0 S)]), which is about
    1/sqrt(1 + x_0^2) on average.
    """
    lam = min(lam, 1e300)  # a narrower kernel gives the same points, and 2 lam might overflow
    if m == 2.0:
        return truncated_exponential(lam, n, rng)
    # Wood (1994), step 0: x_0 and 1 - x_0
    root = math.hypot(2.0 * lam, m)
    mode, complement = 2.0 * lam / (m + root), 2.0 * m / (2.0 * lam + root + m)
    result = np.empty(n)
    count = 0
    while count < n:
        proposals = min(ROW_NUMBERS, int(1.1 * math.hypot(1.0, mode) * (n - count)) + 8)
        # Wood (1994), step 1: proposals
        lifts = raised_cosine(m, proposals, rng)  # 1 + S
        below, cost = weigh(m, mode, complement, lifts=lifts)
        # Wood (1994), step 2: take each with its probability
        accepted = np.flatnonzero(cost <= rng.standard_exponential(proposals))[: n - count]
        result[count : count + accepted.size] = complement * (lifts[accepted] / below[accepted])
        count += accepted.size
    return result


def weigh(m: float, mode: Any, complement: Any, lifts: Float64) -> tuple[Float64, Float64]:
    """Return 1 - x_0 S and the negative log probability of taking proposals, from x_0, 1 - x_0 and 1 + S."""
    below = (2.0 - lifts) + complement * (lifts - 1.0)  # which may be as small as 1 - x_0
    return below, m * (mode * (lifts - 1.0) / below + np.log(below))


def versines_of_each(m: float, lam: Float64, rng: np.random.Generator) -> Float64:
    """Draw a value of 1 - cos theta for each of some concentrations, (n,), as `versines` does for one."""
    lam = np.minimum(lam, 1e300)
    if m == 2.0:
        w, safe = rng.random(lam.size), np.maximum(lam, 1e-17)
        return np.where(lam < 1e-17, 2.0 * w, np.minimum(np.log1p(w * np.expm1(-2.0 * safe)) / -safe, 2.0))
    root = np.hypot(2.0 * lam, m)
    mode, complement = 2.0 * lam / (m + root), 2.0 * m / (2.0 * lam + root + m)
    result, waiting = np.empty(lam.size), np.arange(lam.size)
    while waiting.size:
        lifts = raised_cosine(m, waiting.size, rng)
        below, cost = weigh(m, mode[waiting], complement[waiting], lifts=lifts)
        accepted = cost <= rng.standard_exponential(waiting.size)
        result[waiting[accepted]] = (complement[waiting] * (lifts / below))[accepted]
        waiting = waiting[~accepted]
    return result


def truncated_exponential(lam: float, n: int, rng: np.random.Generator) -> Float64:
    """Draw n values on [0, 2] of density proportional to e^(-lam w), by inversion."""
    w = rng.random(n)
    if lam < 1e-17:
        return 2.0 * w
    w *= math.expm1(-2.0 * lam)
    np.log1p(w, out=w)
    w /= -lam
    return np.minimum(w, 2.0, out=w)


def raised_cosine(m: float, n: int, rng: np.random.Generator) -> Float64:
    """Draw n values of 1 + S, S any coordinate of a uniform point of S^m."""
    if m == 1.0:
        return np.asarray(2.0 * np.sin(0.5 * math.pi * rng.random(n)) ** 2)
    # Two coordinates have squared length r^2 with P(r^2 > q) = (1-q)^((m-1)/2), and a uniform angle.
    square = -np.expm1(rng.standard_exponential(n) * (-2.0 / (m - 1.0)))
    return np.asarray(1.0 + np.sqrt(square) * np.cos(math.pi * rng.random(n)))


def place(versine: Float64, mean: Float64, x: Float64, rng: np.random.Generator) -> None:
    """Fill rows with 1 - versine along `mean` and a vector of uniform direction across it (Wood 1994, step 3).

    It is a normal vector z with z_last = 0, reflected: z - <z, side> (mean + sign e)/(1 + |last|), mean = (side,
    last), e the last axis and sign that of `last`. Of means (k, dim+1) each row has the next one, in turn.
    """
    dim = x.shape[1] - 1
    store = np.empty((2, min(max(ROW_NUMBERS, dim), versine.size * dim)))
    for part in blocks(versine.size, dim):
        w = versine[part]  # (k,)
        normals = store[:, : w.size * dim]
        rng.standard_normal(out=normals[0])
        if dim < FEW_COLUMNS:  # columns are longer than rows, so they lie together
            z, along = normals.reshape(2, dim, w.size).transpose(0, 2, 1)  # (k, dim)
        else:
            z, along = normals.reshape(2, w.size, dim)
        if dim == 1:  # the direction is a sign, also of the 0 that comes up once in 2^52 draws
            np.copysign(1.0, z, out=z)
        # Step 1: vectors z of length sin theta across the last axis, (k, dim)
        z *= (np.sqrt(w * (2.0 - w)) / np.sqrt(squares(z)))[:, None]
        # Step 2: their reflections, and cos theta along the mean
        if mean.ndim == 1:
            side, last = mean[:-1], mean[-1]
            aside = z @ side  # (k,)
        else:
            own = mean[np.arange(part.start, part.stop) % len(mean)]
            side, last = own[:, :-1], own[:, -1]
            aside = np.einsum("ij,ij->i", z, side)
        np.multiply(((1.0 - w) - aside / (1.0 + abs(last)))[:, None], side, out=along)
        np.add(z, along, out=x[part, :-1])
        x[part, -1] = (1.0 - w) * last - np.copysign(1.0, last) * aside
