"""Proven constants of polynomial targets: sup norm, slope, second and third derivatives, Laplacian."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import _checks, sphere
from .._norms import unit_of
from .._threads import slices
from .._types import Float64
from ..harmonics import PolynomialDerivatives, TangentDerivatives
from ..harmonics.forms import form_inverse
from ..harmonics.rounding import mean_size, sum_rounding
from ..harmonics.sums import summed_directly
from ..sphere.cells import Cells, divisions_for
from ..target import Target
from .circles import refuse_refuted

_COARSEST = 1.3  # the first cells' radius times the degree; from pi/2 on none could be discarded
_MOST_VALUES = 2e7
"""Values of a target that a level of cells may take: some 20 s. With more, the bound is that of the cells before."""
_LEAST_SHARE = {4: 0.93}
"""Of a bound that the supremum is at least, where the directions are too few for the slack, by the dimension."""
_BLOCK = 2**14
_LARGEST_DIM, _LARGEST = 4, 1e290
_MOST_DIRECTIONS = {1: 1, 2: 1000, 3: 100, 4: 8}
"""Cells along an edge of the cube whose midpoints are the directions, at most, by the sphere's dimension."""


@dataclass(frozen=True)
class _Quantity:
    """A number at each point, with a maximum: directions at most alpha apart show cos(turns alpha) of it."""

    order: int
    turns: int
    size: Callable[[TangentDerivatives, Float64], Float64]


def with_constants(target: Target, *, slack: float = 1e-2) -> Target:
    """Return a polynomial target with proven bounds in place of the constants that it does not state.

    Parameters
    ----------
    target : Target
        On S^1 to S^4, with a `degree` and no `remainder`. Its values are taken as right to its `accuracy`.
    slack : float, default 1e-2
        The bounds are at most a factor ``1/(1 - slack)`` above the suprema, on S^4 1/0.93; in [1e-3, 0.2]. More where
        there are too many cells to cut, as a quantity hardly varies over the sphere or the degree is high (on S^2 above
        some 120): a RuntimeWarning and `provenance` say how much.

    Returns
    -------
    Target
        With sup_norm, lipschitz (for exponent 1), smoothness, laplacian and third_derivative; those that it had stay.
        The origin of the others is "derived", or that of the degree where this is "estimated".

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range, the target has no degree or a remainder, values along great circles refute
        the degree or a constant that it states, or there are too many cells for its degree on its sphere.

    Warns
    -----
    RuntimeWarning
        If the bounds may be farther above the suprema than `slack` says.

    Notes
    -----
    Derivatives are those of `harmonics.PolynomialDerivatives`. At the midpoint of the cell where the maximum M of the
    r-th derivative is attained, and for a direction near to it, it is at least ``M cos(n delta) cos((r-1) alpha)``: n
    the degree, delta the cell's radius, alpha that of the directions. Cells with less are dropped, and the others cut,
    until the factor is ``1 - slack`` (docs/theorems/6.3-polynomial-derivatives.md). Rounding and the errors of the
    values are added; on S^2 how far an expansion in harmonics is from the target, which values on a grid bound.

    Examples
    --------
    >>> from spherapprox import Target, targets
    >>> saddle = targets.with_constants(Target(lambda x: x[:, 0] * x[:, 1], dim=2, degree=2))
    >>> round(saddle.smoothness, 2), round(saddle.laplacian, 2), saddle.origin("smoothness")
    (2.0, 3.0, 'derived')
    """
    _checks.instance(target, "target", Target, remedy="wrap a function, Target(f, dim=..., degree=...)")
    slack = _checks.real(slack, "slack", minimum=1e-3, maximum=0.2)
    names = [name for name in _QUANTITIES if getattr(target, name) is None]
    if target.exponent != 1.0 and "lipschitz" in names:
        names.remove("lipschitz")
    if not names:
        return target
    degree = _degree(target)
    search = _Search(target, degree, names, slack=slack)
    refuse_refuted(target)
    bounds, excess = search.bounds()
    percent = f"{float(f'{100.0 * excess:.2g}'):g} %"
    if any(bounds.values()) and excess > 1.0 / min(1.0 - slack, _LEAST_SHARE.get(target.dim, 1.0)) - 1.0:
        _checks.warn_inaccurate(
            f"the bounds of {', '.join(names)} may be {percent} above the suprema, more than the slack = "
            f"{slack:g} that was asked for: a polynomial of degree {degree} on S^{target.dim} leaves too many cells to "
            "cut; state the constants that you know"
        )
    origin = "estimated" if target.origin("degree") == "estimated" else "derived"
    note = f"{', '.join(names)}: proven, at most {percent} above the suprema, by targets.with_constants"
    changes: dict[str, Any] = bounds | {
        "provenance": "; ".join(filter(None, [target.provenance, note])),
        "origins": dict(target.origins) | dict.fromkeys(names, origin),
    }
    return replace(target, **changes)


def _degree(target: Target) -> int:
    """Return the degree of a polynomial target on a sphere of few dimensions."""
    if target.degree is None or target.remainder:
        raise ValueError(
            f"'target' must be a polynomial of a known degree, got {target.name!r} with degree={target.degree} and "
            f"remainder={target.remainder:g}: Target(f, dim, degree=...), or state the constants"
        )
    if target.dim > _LARGEST_DIM:
        raise ValueError(f"'target' must be on S^1 to S^4, got dim = {target.dim}: state its constants")
    return target.degree


class _Search:
    """The branch and bound for several constants of a target together."""

    def __init__(self, target: Target, degree: int, names: list[str], slack: float) -> None:
        self.m, self.degree, self.slack = target.dim, degree, slack
        self.quantities = [_QUANTITIES[name] for name in names]
        self.names, self.accuracy = names, target.accuracy
        self.order = 3 if "third_derivative" in names else 2
        self.derivatives = PolynomialDerivatives(lambda x: target(x) / self.unit, target.dim, degree)
        self.count = divisions_for(self.m, _COARSEST / max(degree, 1))  # cells along an edge of the cube
        self.cost = self.derivatives.evaluations(self.order)  # values of the target that a cell takes
        cells, polynomial = 2.0 * (self.m + 1) * float(self.count) ** self.m, f"a polynomial of degree {degree}"
        work = f"proving constants of {polynomial} on S^{self.m}"
        _checks.operations(cells * self.cost, work, "state them", limit=_MOST_VALUES)
        largest = float(np.abs(target(sphere.uniform(target.dim, 16, rng=0))).max())
        if largest > _LARGEST:
            raise ValueError(
                f"'target' must have smaller values, got {largest:.3g}: bounds of its derivatives overflow"
            )
        self.unit = unit_of(largest)  # squares of small or large values would leave the floats
        self.sup_norm = None if target.sup_norm is None else target.sup_norm / self.unit

    def bounds(self) -> tuple[dict[str, float], float]:
        """Return proven bounds of the suprema, and the largest share by which they may exceed them."""
        cells = Cells.cover(self.m, self.count)
        # cos(2 alpha) >= 1 - slack/2
        limit = min(_MOST_DIRECTIONS[self.m], math.ceil(2.0 * math.sqrt((self.m - 1.0) / self.slack)) or 1)
        edge = min(4, limit) if self.m > 2 else limit
        best, size = np.zeros(len(self.quantities)), 0.0
        while True:
            # Step 1: the quantities at the midpoints, and the factors of 6.3
            along, alpha = _directions(self.m, edge)
            x, radii = cells.locate()
            values, largest = self._evaluate(x, along)  # (cells, quantities)
            size = max(size, largest)
            best = np.maximum(best, values.max(axis=0))
            losses = np.array([math.cos(q.turns * alpha) for q in self.quantities])
            near = np.cos(np.minimum(self.degree * radii, 0.5 * math.pi))  # (cells,)
            error = self._errors(size, near.min())
            # Step 2: the cells that may hold a maximum
            mask = (values + error >= (best - error) * near[:, None] * losses).any(axis=1)
            finest = near[mask].min() >= 1.0 - 0.5 * self.slack and edge == limit
            if finest or int(mask.sum()) * 2.0**self.m * self.cost > _MOST_VALUES:
                share = near[mask].min() * losses
                values = self.unit * ((best + error) / share * (1.0 + 1e-12))
                return dict(zip(self.names, map(float, values), strict=True)), float(1.0 / share.min() - 1.0)
            # Step 3: these, cut into 2^m, and twice as many directions along an edge
            cells = cells[mask].halve()
            edge = min(2 * edge, limit)

    def _evaluate(self, x: Float64, along: Float64) -> tuple[Float64, float]:
        """Return the quantities at points, and the largest value of the target there."""
        parts, size = [], 0.0
        step = max(1, _BLOCK * 64 // max(64, len(along)))
        for first in range(0, len(x), step):
            derivatives = self.derivatives(x[first : first + step], self.order)
            parts.append(np.stack([q.size(derivatives, along) for q in self.quantities], axis=1))
            size = max(size, float(np.linalg.norm(derivatives.value, axis=1).max()))
        return np.concatenate(parts), size

    def _errors(self, size: float, near: float) -> Float64:
        """Return the errors of quantities by those of the values and by rounding."""
        bound, n = self.sup_norm if self.sup_norm is not None else 2.0 * size / near, self.degree
        if self.derivatives.expansion is not None:  # on S^2
            misfit, rounding, share = self._misfit
            noise = (misfit + self.accuracy * bound) / share + rounding
            return np.array([2.0 * (n + 1.0) ** q.order * noise for q in self.quantities])
        noise = (self.accuracy + (n * n + 64.0 * n + 160.0) * 2.0**-53) * bound  # 6.3, rounding
        return np.array([noise * _amplification(self.m, n, q.order, highest=self.order) for q in self.quantities])

    @cached_property
    def _misfit(self) -> tuple[float, float, float]:
        """How far the expansion is from values on a grid, its sums' rounding, and the share of maxima that is seen."""
        table = self.derivatives.expansion
        assert table is not None
        x, radii = Cells.cover(self.m, divisions_for(self.m, 1.0 / max(self.degree, 1))).locate()
        rounding, worst = sum_rounding(self.degree) * mean_size(table), 0.0
        for rows in slices(len(x), _BLOCK):
            values = self.derivatives.function(x[rows])
            sums = summed_directly(table, self.degree, x[rows]).T
            worst = max(worst, float(np.linalg.norm(np.reshape(values, sums.shape) - sums, axis=1).max()))
        return worst + rounding, rounding, math.cos(self.degree * (float(radii.max()) + 1e-15))


def _amplification(m: int, n: int, order: int, highest: int) -> float:
    """Return the largest Frobenius norm of the form that values of size 1 on the circles give."""
    if order == 0:
        return 1.0
    per_circle = max(n, 1.0) ** order * (3.0 + math.log(max(n, 1)))  # 6.3, rounding
    rows = np.abs(form_inverse(m, order, highest)).sum(axis=1)
    return per_circle * float(np.linalg.norm(rows)) * math.sqrt(m)


def _directions(m: int, count: int) -> tuple[Float64, float]:
    """Return unit vectors of R^m, up to their signs, and the largest angle to the nearest of them or its opposite."""
    if m == 1:
        return np.ones((1, 1)), 0.0
    cells = Cells.cover(m - 1, count)
    directions, radii = cells[cells.faces % 2 == 0].locate()
    return directions, float(radii.max())


def _operator_norm(matrices: Float64) -> Float64:
    """Return the largest singular values of matrices (..., p, m)."""
    if matrices.shape[-2] == 1:
        return np.asarray(np.linalg.norm(matrices[..., 0, :], axis=-1))
    return np.asarray(np.linalg.norm(matrices, 2, axis=(-2, -1)))


def _curvature(derivatives: TangentDerivatives, along: Float64) -> Float64:
    if derivatives.second.shape[1] == 1:  # a matrix, whose norm needs no directions
        return np.asarray(np.abs(np.linalg.eigvalsh(derivatives.second[:, 0])).max(axis=1))
    return np.asarray(_operator_norm(np.einsum("npij,ui->nupj", derivatives.second, along)).max(axis=1))


def _third(derivatives: TangentDerivatives, along: Float64) -> Float64:
    assert derivatives.third is not None
    squares = np.asarray(along[:, :, None] * along[:, None, :]).reshape(len(along), -1)  # (directions, m^2)
    n, p, m = derivatives.third.shape[:3]
    rows = np.swapaxes(squares @ derivatives.third.reshape(n, p, m * m, m), 1, 2)  # (n, directions, p, m)
    return np.asarray(_operator_norm(rows).max(axis=1))


_QUANTITIES = {
    "sup_norm": _Quantity(0, 0, lambda at, _: np.asarray(np.linalg.norm(at.value, axis=1))),
    "lipschitz": _Quantity(1, 0, lambda at, _: _operator_norm(at.first)),
    "smoothness": _Quantity(2, 1, _curvature),
    "laplacian": _Quantity(2, 0, lambda at, _: np.asarray(np.linalg.norm(np.einsum("npii->np", at.second), axis=1))),
    "third_derivative": _Quantity(3, 2, _third),
}
