"""Lower bounds from what heads of few tokens are: symmetric, functions of few coordinates, of values of low rank."""

from __future__ import annotations

import math
import time

import numpy as np

from ... import sphere
from ..._norms import unit_of
from ..._types import Float64
from ...error import lengths
from ...harmonics.hyperspherical import sizes
from ...sphere.cells import Cells, divisions_for
from .coefficients import Coefficients, harmonics_of_value
from .surfaces import Values
from .tails import tails
from .triples import columns, product_matrices

_POINTS, _BATCH = 400, 20
"""Points at which values are compared, and how many of them in turn."""
_MOST_VALUES, _MOST_HARMONICS = 10**6, 1.5e8
"""Of targets, and of the harmonics that they sum: some seconds."""
_MOST_CELLS = 10**5
_COARSEST = 0.3
_MOST_COLUMNS = 700
"""Harmonics that a multiplication by a coordinate is a matrix for."""


def value_bound(values: Values, affine: bool) -> int:
    """Return the least number of tokens of a head within eps, by the rank of its values in R^p (4.K, values).

    With `affine`, for split heads, values less their mean have a rank below the number of tokens.
    """
    sample = values(sphere.uniform(values.target.dim, _POINTS, rng=0))
    unit = unit_of(sample)
    mean = sample.mean(axis=0) if affine else 0.0
    matrix = (sample - mean) / (unit * math.sqrt(len(sample)))
    tail, error = tails(matrix, values.certified, symmetric=False)
    slack = values.slack(sample) + len(sample) * 2.0**-52 * float(lengths(sample).max())  # of the mean
    return max(1, affine + int((unit * (tail - error) > slack).sum()))


def is_asymmetric(values: Values, *, rays: bool) -> bool:
    """Return whether for no reflection R any h is within eps with ``h(R x) = h(x)`` everywhere (4.K, reflection).

    With `rays`, not even with positive multiples of h(x). Cells of normals are cut until the values at some x and R x
    refute it for all of a cell.
    """
    dim = values.target.dim
    divisions = divisions_for(dim, _COARSEST)
    if values.target.lipschitz is None or (dim + 1.0) * float(divisions) ** dim > _MOST_CELLS:
        return False
    x = sphere.uniform(dim, _POINTS, rng=0)
    here = values(x)
    unit, slack = unit_of(here), values.slack(here)
    cells = Cells.cover(dim, divisions)
    cells = cells[cells.faces % 2 == 0]  # a and -a are one reflection
    left = min(_MOST_VALUES, _MOST_HARMONICS / harmonics_of_value(values.target))
    while len(cells):
        a, radii = cells.locate()
        steps = np.array([values.target.modulus(2.0 * radius) for radius in radii]) * (1.0 if rays else 0.5)
        open_, largest = np.arange(len(cells)), np.zeros(len(cells))
        for first in range(0, _POINTS, _BATCH):
            left -= len(open_) * _BATCH
            if left < 0.0 or time.monotonic() > values.deadline:
                return False
            at = slice(first, first + _BATCH)
            turned = x[at] - 2.0 * (a[open_] @ x[at].T)[:, :, None] * a[open_][:, None, :]
            there = values(turned.reshape(-1, dim + 1)).reshape(len(open_), -1, here.shape[1])
            apart = unit * _separate(here[at] / unit, there / unit, rays).max(axis=1)
            largest[open_] = np.maximum(largest[open_], apart)
            open_ = np.flatnonzero(largest <= slack + steps)
            if not len(open_):
                return True
        if (largest[open_] <= slack).any() or len(open_) * 2**dim > _MOST_CELLS:
            return False
        cells = cells[np.isin(np.arange(len(cells)), open_)].halve()
    return True


def _separate(one: Float64, other: Float64, rays: bool) -> Float64:
    """Return a radius of balls about values, up to which no point is in both, or with `rays` no ray meets both."""
    apart = other - one
    size = np.linalg.norm(apart, axis=-1)
    if not rays:
        return np.asarray(0.5 * size)
    along = apart / np.maximum(size, 1e-300)[..., None]
    return np.asarray(np.minimum((along * other).sum(axis=-1), -(along * one).sum(axis=-1)))


def fibre_bound(target: Coefficients, eps: float, verified: bool) -> int:
    """Return the least number of coordinates that functions within eps depend on (4.K, fibres).

    A core head has so many tokens, a split head one more. eps is over the target's `scale`, as its coefficients are.
    """
    dim = target.dim
    plain, absolute, of = _turn(target)
    rounding = (4.0 * _MOST_COLUMNS + 16.0 * dim + 64.0) * 2.0**-53
    slack = (eps + target.error) * (1.0 + 1e-12)
    for count in range(dim - 1, -1, -1):
        free = dim + 1 - count
        weights = 1.0 / np.sqrt(of * (of + free - 2.0))
        tail, error = tails(plain * weights, verified, symmetric=False)
        error += rounding * float(np.linalg.norm(absolute * weights))
        kept = len(plain) - free * (free - 1) // 2
        if kept < len(tail) and tail[kept] - error > slack:
            return count + 1
    return 0


def degree_of_turns(dim: int) -> int:
    """Return the largest degree of parts that `fibre_bound` turns."""
    degree = 1
    while int(sizes(degree + 2, dim).sum()) <= _MOST_COLUMNS and degree < 40:
        degree += 1
    return degree


def _turn(target: Coefficients) -> tuple[Float64, Float64, Float64]:
    """Return ``L_ij f_l``, i < j, l = 1, 2, ..., the same with absolute values, (pairs, columns), and columns' l."""
    dim, top = target.dim, len(target.parts) - 1
    x = product_matrices(dim, top + 1, 1, top=1, coefficients=np.eye(dim + 1), absolute=False) / math.sqrt(dim + 1.0)
    of = columns(dim, top + 1)[0] if dim > 1 else (np.arange(2 * top + 3) + 1) // 2
    pairs = np.triu_indices(dim + 1, 1)
    turned: list[list[Float64]] = [[], []]
    for degree, part in enumerate(target.parts):
        here = of == degree
        for j, (times, f, sign) in enumerate(((x, part, -1.0), (np.abs(x), np.abs(part), 1.0))):
            # x_i f has parts of degrees l+1 and l-1, of which the gradient's component i is -l and l+m-1 times
            gradient = np.einsum("ikc,pc->ipk", times[:, :, here], f)
            gradient *= np.where(of > degree, sign * degree, degree + dim - 1.0)
            moved = np.einsum("ick,jpk->ijpc", times[:, here], gradient)
            moved += sign * moved.swapaxes(0, 1)
            turned[j].append(moved[pairs].reshape(len(pairs[0]), -1))
    degrees = np.repeat(np.arange(top + 1.0), [part.shape[1] for part in turned[0]])
    plain, absolute = (np.concatenate(parts, axis=1)[:, degrees > 0.0] for parts in turned)
    return plain, absolute, degrees[degrees > 0.0]
