"""`Extension`: the central algorithm for Lipschitz functions from values at points."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._types import Float64
from ..blocks import Input, LinState, RunningMax
from ..program import Program
from ..registers import first
from ..sugar import absolute, gate
from .model import PromptModel, largest, padded, power_of_two
from .partition import values_at


@dataclass(frozen=True)
class Extension(PromptModel):
    """A model that computes Lipschitz functions from a prompt of points and values, as well as can be done.

    It computes ``(max_k (y_k - L |q - l_k|) + min_k (y_k + L |q - l_k|)) / 2`` in the maximum norm, L being the
    Lipschitz constant, from tokens (l_k, y_k) behind a query q, by two running maxima, without products.
    ``prompt(points, values)`` makes prompts. See docs/theorems/10.4-in-context-interpolation.md.

    Parameters
    ----------
    dim : int
        Number of coordinates of points, from 1 to 1000.
    outputs : int, default 1
        Number p of values of the function.
    lipschitz : float, default 1.0
        L, for the maximum norm of points and each value.
    bound : float, default 1.0
        The largest size of coordinates and values.

    Raises
    ------
    TypeError, ValueError

    Notes
    -----
    Of a function of this class the error at q is at most L times the distance from q to the nearest point; no method
    that knows these values only has a smaller one for all functions.

    Examples
    --------
    >>> from spherapprox.prompts.recurrent.programs import Extension
    >>> model = Extension(1)
    >>> model.run([[0.5], [0.9]], model.prompt([[0.4], [0.8]], [0.1, 0.3])).round(12)
    array([[0.1],
           [0.3]])
    """

    dim: int
    outputs: int = 1
    lipschitz: float = 1.0
    bound: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        vars(self).update(
            dim=_checks.integer(self.dim, "dim", minimum=1, maximum=1000),
            outputs=_checks.integer(self.outputs, "outputs", minimum=1, maximum=10**4),
            lipschitz=_checks.real(self.lipschitz, "lipschitz", above=0.0, maximum=1e100),
            bound=_checks.real(self.bound, "bound", above=0.0, maximum=1e100),
        )

    def _program(self) -> Program:
        """Keep the largest lower and the least upper bound that a token gives of the function at the query."""
        x = Input(self.dim + self.outputs, bound=self.bound, name="token")
        asking, lowest = first(x, 1), power_of_two(self.bound * (1.0 + 2.0 * self.lipschitz))
        query = LinState(gate(asking, x[: self.dim], self.bound), 1.0, bound=self.bound, name="query")
        distance = largest(absolute(query - x[: self.dim]))
        change, values, masked = self.lipschitz * distance, x[self.dim :], 2.0 * lowest * asking
        lower = RunningMax(values - change - masked, lowest, name="lower")
        upper = RunningMax(-values - change - masked, lowest, name="-upper")
        return Program(0.5 * (lower - upper), "extension")

    def _queries(self, queries: ArrayLike) -> Float64:
        return padded(queries, self.dim, self.dim + self.outputs, bound=self.bound)

    def prompt(self, points: ArrayLike, values: ArrayLike) -> Float64:
        """Return the prompt of a function that is known at points, shape (n, dim + outputs).

        Parameters
        ----------
        points : array_like, shape (n, dim)
        values : array_like, shape (n, outputs), or (n,) for one output

        Raises
        ------
        TypeError, ValueError
        """
        rows = np.asarray(_checks.floating(points, "points", ("n", self.dim)), dtype=np.float64)
        _checks.reals(rows, "points", minimum=-self.bound, maximum=self.bound)
        return np.hstack([rows, values_at(values, len(rows), self.outputs, bound=self.bound)])
