"""`Grid`: values on cells of the unit cube, blended across faces."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._types import Float64
from ..blocks import Input, LinState, ReLU
from ..language import Multiplicative, Variable
from ..program import Program
from ..registers import first
from ..sugar import gate, step
from .model import PromptModel, padded


@dataclass(frozen=True)
class Grid(PromptModel):
    """A model that computes functions on [0, 1]^dim from a prompt of their values on cells of a grid.

    Tokens are (width, lower corner, value); the first step is the query. Values of neighbours are blended in ramps of
    width 2/slope; there are products for dim >= 2, and none for 1. ``prompt(function, cells)`` makes prompts.

    Parameters
    ----------
    dim : int
        From 1 to 20.
    outputs : int, default 1
        Number p of values of the function.
    slope : float, default 1024.0
        From 4; a power of two keeps ramps exact.
    bound : float, default 1.0
        The largest size of a value.

    Raises
    ------
    TypeError, ValueError

    Notes
    -----
    A function with Lipschitz constant L, in Euclidean distances, is missed by less than
    ``L sqrt(dim) (1/(2 cells) + 2/slope)`` in each value; `bounds.prompts.recurrent.error_bound` is sharper.

    References
    ----------
    docs/theorems/10.4-in-context-interpolation.md; Petrov (2025), Listing 1, which docs/theorems/3-errata.md corrects.

    Examples
    --------
    >>> from spherapprox.prompts.recurrent.programs import Grid
    >>> model = Grid(2)
    >>> prompt = model.prompt(lambda x: x[:, 0] * x[:, 1], 16)
    >>> prompt.shape, model.run([[0.5, 0.9]], prompt).round(2)
    ((256, 4), array([[0.45]]))
    """

    dim: int
    outputs: int = 1
    slope: float = 1024.0
    bound: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        vars(self).update(
            dim=_checks.integer(self.dim, "dim", minimum=1, maximum=20),
            outputs=_checks.integer(self.outputs, "outputs", minimum=1, maximum=10**4),
            slope=_checks.real(self.slope, "slope", minimum=4.0, maximum=2.0**40),
            bound=_checks.real(self.bound, "bound", above=0.0, maximum=1e100),
        )

    def _program(self) -> Program:
        """Add the values of cells, each by the share of the query that is in it."""
        d, mu = self.dim, self.slope
        x = Input(1 + d + self.outputs, bound=max(1.0, 2.0 * self.bound), name="cell")
        width, corner, value = x[0], x[1 : 1 + d], x[1 + d :]
        query = LinState(gate(first(x, 1), x[:d], 1.0, positive=True), 1.0, bound=1.0, name="query")
        inside = (1.0 - 2.0 / mu) * query + 1.0 / mu  # so that no query is in the ramp of an outer face
        share = self._past(inside - corner) - self._past(inside - corner - width)
        if d == 1:  # of shares s and 1 - s come a value between that of the larger and the mean: 10.4, (grid)
            shut = self.bound * (1.0 - 2.0 * share)
            added: Variable = 0.5 * (ReLU(value - shut) - ReLU(-value - shut))
        else:
            weight: Variable = share[0]
            for axis in range(1, d):
                weight = Multiplicative(weight, share[axis])
            added = Multiplicative(weight, value)
        return Program(LinState(added, 1.0, bound=2.0 * self.bound, name="value"), "grid")

    def _past(self, v: Variable) -> Variable:
        return step(v + 1.0 / self.slope, self.slope / 2.0)

    def _queries(self, queries: ArrayLike) -> Float64:
        steps = padded(queries, self.dim, 1 + self.dim + self.outputs, bound=1.0)
        _checks.reals(steps, "queries", minimum=0.0)
        return steps

    def prompt(self, function: Callable[[Float64], ArrayLike], cells: int | Sequence[int]) -> Float64:
        """Return the prompt of a function, shape (N, 1 + dim + outputs), N the sum of all cells^dim.

        Parameters
        ----------
        function : callable
            Takes points, shape (n, dim), to values, shape (n, outputs), or (n,) for one output.
        cells : int or sequence of int
            Cells along each axis, at most slope / 2. Several, each a multiple of the one before, make a prompt from
            coarse to fine, which may be ended after each of its grids. For dim >= 2.

        Raises
        ------
        TypeError, ValueError

        Examples
        --------
        >>> model = Grid(2)
        >>> prompt = model.prompt(lambda x: x.mean(axis=1), (4, 16))
        >>> model.run([[0.1, 0.9]], prompt[:16]), model.run([[0.7, 0.9]], prompt)
        (array([[0.5]]), array([[0.8125]]))
        """
        _checks.callable_(function, "function")
        limits: Any = {"maximum": math.floor(self.slope / 2.0), "limit": "ramps of width 2/slope must fit into cells"}
        entries = np.atleast_1d(np.asarray(cells, dtype=object))
        counts = [_checks.integer(count, "cells", minimum=1, **limits) for count in entries]
        for coarse, fine in pairwise(counts):
            if fine % coarse or fine == coarse:
                raise ValueError(f"'cells' must be multiples, each of the one before, got {fine} after {coarse}")
        if len(counts) > 1 and self.dim == 1:
            raise ValueError(f"'cells' must be one number for dim 1, which has no products, got {_checks.show(cells)}")
        total = float(sum(float(count) ** self.dim for count in counts))
        _checks.memory(8.0 * total * (1 + self.dim + self.outputs), "the prompt", "take fewer cells")
        return np.concatenate(
            [self._tokens(function, *pair) for pair in zip(counts, [None, *counts[:-1]], strict=True)]
        )

    def _tokens(self, function: Callable[[Float64], ArrayLike], cells: int, before: int | None) -> Float64:
        """Return the tokens of a grid; their values are those beyond what a coarser grid had."""
        corner = np.indices((cells,) * self.dim).reshape(self.dim, -1).T / cells
        centre = corner + 0.5 / cells
        values = values_at(function(centre), len(centre), self.outputs, bound=self.bound)
        if before is not None:
            coarse = function((np.floor(centre * before) + 0.5) / before)
            values = values - values_at(coarse, len(centre), self.outputs, bound=self.bound)
        return np.hstack([np.full((len(corner), 1), 1.0 / cells), corner, values])


def values_at(values: Any, n: int, outputs: int, bound: float) -> Float64:
    """Return values of a function at n points, shape (n, outputs), after checking."""
    shapes: list[Any] = [(n, outputs), *([(n,)] if outputs == 1 else [])]
    array = np.asarray(_checks.floating(values, "values", *shapes), dtype=np.float64)
    if not np.abs(array).max() <= bound:
        raise ValueError(
            f"'values' must be at most {bound:g} in size, the model's bound, got {np.abs(array).max():g}: "
            "make the model with a larger bound"
        )
    return array.reshape(n, outputs)
