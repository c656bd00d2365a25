"""`Universal`: one network for all continuous functions, whose weights know neither their slopes nor the accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._types import Float64, Indices
from ..blocks import Input, LinState, ReLU
from ..program import Program
from ..sugar import absolute
from .model import PromptModel, largest, padded
from .partition import values_at


@dataclass(frozen=True)
class Universal(PromptModel):
    """One recurrent network that takes every continuous function on [0, 1]^dim from a prompt, to any accuracy.

    Its weights are 0, 1 and -1 and depend on `dim` and `outputs` only, its states are linear, and it multiplies
    nothing: slopes, cells and bounds are numbers of the prompt, which ``prompt(function, cells)`` makes.

    Parameters
    ----------
    dim : int
        Number d of coordinates of queries, from 1 to 12.
    outputs : int, default 1
        Number p of values of the function.

    Raises
    ------
    TypeError, ValueError

    Notes
    -----
    A function with the modulus of continuity w in the maximum norm is missed by w(h / 2) at most, with cells of side
    ``h = (d + 1) / ((d + 1) cells - d)``; the prompt has ``(d + 1) cells^d`` tokens and, for values of range F, less
    than ``2 sqrt(2 (d + 1) F / h) + 2`` more. `bounds.prompts.recurrent.prompt_length` with ``theorem="universal"``
    counts them for Lipschitz functions. The query is added up to some ``2 (d + 1) F / h`` times itself, once at least,
    and roundings grow in proportion: scale functions up that are not far above 1e-16.

    References
    ----------
    docs/theorems/10.9-one-model-for-all-functions.md; Petrov (2025), 5.4.

    Examples
    --------
    >>> from spherapprox.prompts.recurrent.programs import Universal
    >>> model = Universal(1)
    >>> model.network
    Network('universal', layers=9, width=11, nonzeros=89)
    >>> for cells in (8, 64, 512):
    ...     prompt = model.prompt(lambda x: x[:, 0] ** 2, cells)
    ...     print(len(prompt), bool(abs(model.run([[0.3]], prompt)[0, 0] - 0.09) < 1.2 / cells))
    26 True
    159 True
    1114 True
    >>> outputs = model.network(model.sequences([[0.3]], prompt))  # at all steps; a torch module's are the same
    >>> bool(abs(model.answers(outputs)[0, 0] - 0.09) < 1.2 / 512)
    True
    """

    dim: int
    outputs: int = 1

    def __post_init__(self) -> None:
        vars(self).update(
            dim=_checks.integer(self.dim, "dim", minimum=1, maximum=12),
            outputs=_checks.integer(self.outputs, "outputs", minimum=1, maximum=100),
        )

    def _program(self) -> Program:
        """Add d + 1 grids of cells up, whose values rise from the least one near their faces, and take the largest."""
        d, p = self.dim, self.outputs
        x = Input(2 * d + 3 + (d + 1) * p, name="token")
        query = LinState(x[:d], 1.0, name="query")
        some = LinState(ReLU(query + x[d] - 1.0), 1.0, name="some queries")
        many = LinState(ReLU(some - x[d + 1]), 1.0, name="many queries")
        room = x[2 * d + 2] - largest(absolute(many - x[d + 2 : 2 * d + 2]))
        heights = ReLU(room) - ReLU(room - x[2 * d + 3 :])
        return Program(largest(LinState(heights, 1.0, name="grids"), p), "universal")

    def _queries(self, queries: ArrayLike) -> Float64:
        steps = padded(queries, self.dim, self.network.dim, bound=1.0)
        _checks.reals(steps, "queries", minimum=0.0)
        return steps

    def prompt(
        self, function: Callable[[Float64], ArrayLike], cells: int,
        meets: Callable[[Float64, Float64], ArrayLike] | None = None,
    ) -> Float64:  # fmt: skip
        """Return the prompt of a function, shape (N, 2 dim + 3 + (dim + 1) outputs).

        Parameters
        ----------
        function : callable
            Takes points of the cube, shape (n, dim), to values, shape (n, outputs), or (n,) for one output.
        cells : int
            Cells of a grid along each axis, from 1; there are dim + 1 grids.
        meets : callable, optional
            Takes the lower and the upper corners of cells, shape (n, dim) each, and tells which meet the set that
            queries are from, shape (n,) of bool; other cells are left out.

        Raises
        ------
        TypeError, ValueError

        Examples
        --------
        >>> model = Universal(2)
        >>> prompt = model.prompt(lambda x: x[:, 0] * x[:, 1], 16)
        >>> len(prompt), bool(abs(model.run([[0.5, 0.9]], prompt)[0, 0] - 0.45) < 0.07)
        (787, True)
        >>> def meets(low, high):  # for queries on the diagonal only
        ...     return low[:, 0] == low[:, 1]
        >>> len(model.prompt(lambda x: x[:, 0] * x[:, 1], 16, meets))
        67
        """
        _checks.callable_(function, "function")
        d, p, count = self.dim, self.outputs, _checks.integer(cells, "cells", minimum=1)
        columns = self.network.dim
        _checks.memory(8.0 * (d + 1) * float(count) ** d * columns, "the prompt", "take fewer cells")
        width = (d + 1) / ((d + 1) * count - d)
        grid = np.arange(d + 1).repeat(count**d)
        lower = np.tile(np.indices((count,) * d).reshape(d, -1).T * width, (d + 1, 1))
        lower -= grid[:, None] * width / (d + 1)
        if meets is not None:
            _checks.callable_(meets, "meets")
            kept = np.asarray(meets(lower.copy(), lower + width))
            if _checks.shaped(kept, "meets(lower, upper)", (len(lower),)).dtype != bool:
                raise TypeError(f"'meets' must return an array of bool, got one of {kept.dtype}")
            if not kept.any():
                raise ValueError(f"'meets' must hold for one of {len(lower)} cells at least, got none")
            grid, lower = grid[kept], lower[kept]
        centre = lower + 0.5 * width
        values = values_at(function(np.clip(centre, 0.0, 1.0)), len(lower), p, bound=1e300)
        return self._tokens(centre, values, grid, width)

    def _tokens(self, centre: Float64, values: Float64, grid: Indices, width: float) -> Float64:
        """Return tokens that multiply the query, the last of them with the least value, and one for each cell."""
        d, least = self.dim, values.min(axis=0)
        slope = max(1.0, 2.0 * (d + 1) * float((values - least).max()) / width)
        some = math.ceil(math.sqrt(slope))
        many = math.ceil(slope / some)
        first, n = some + many - 1, some + many - 1 + len(centre)
        _checks.memory(8.0 * n * self.network.dim, "the prompt", "scale the function, or take fewer cells")
        tokens = np.zeros((n, self.network.dim))
        tokens[:some, d] = 1.0  # open: each adds the query once to some
        tokens[:, d + 1] = some
        tokens[some - 1 : first, d + 1] = 0.0  # open: each adds some once to many
        tokens[first - 1, 2 * d + 2] = some * many + np.abs(least).max()  # about 0, with room for all of the cube
        tokens[first - 1, 2 * d + 3 :] = np.tile(least, d + 1)
        tokens[first:, d + 2 : 2 * d + 2] = some * many * centre
        tokens[first:, 2 * d + 2] = 0.5 * some * many * width
        heights = tokens[first:, 2 * d + 3 :].reshape(-1, d + 1, self.outputs)
        heights[np.arange(len(centre)), grid] = values - least
        return tokens
