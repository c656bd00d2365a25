"""`kernel_sum`: what a split head computes, by a recurrent model that reads its tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._norms import directions
from ...._types import Float64
from ....heads.classical import ClassicalHead
from ....heads.split import SplitHead
from ..blocks import Concat, Input, LinState, ReLU
from ..language import Linear, Multiplicative, Variable
from ..program import Program
from ..registers import first
from ..sugar import constant
from .model import PromptModel, padded


def kernel_sum(
    dim: int,
    outputs: int = 1,
    spacing: float = 0.1,
    depth: float = 20.0,
    *,
    bound: float = 1024.0,
    length: int = 2**16,
) -> KernelSum:
    """Return a program that computes what softmax attention does, from a prompt of the same tokens.

    Tokens are (key, shift, value); behind a query q it adds ``e^(<q, key> + shift)`` and its products with values up,
    and `run` divides them. Exponentials are chords between knots on [-depth, 0], minus e^-depth, and 0 below.

    Parameters
    ----------
    dim : int
        Of the sphere S^dim.
    outputs : int, default 1
        Number p of values.
    spacing : float, default 0.1
        Of the knots, from 2^-10 to 1.
    depth : float, default 20.0
        From 1 to 700; there are depth / spacing knots.
    bound : float, default 1024.0
        The largest size of entries of tokens: of concentrations and of values.
    length : int, default 65536
        The largest number of tokens of a prompt; with `bound` it limits all sums.

    Returns
    -------
    KernelSum
        A `PromptModel`; ``prompt(head)`` makes prompts of heads.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Notes
    -----
    With S the sum of N exponentials at q and F the largest size of values, ``a = e^(spacing^2 / 8) - 1`` and
    ``b = N e^-depth / S``, the result is within ``F (a / 2 + 2 b) / (1 - b)`` of the head's.

    References
    ----------
    docs/theorems/10.5-kernel-sums.md.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import EqualMeasurePartition, SplitHead
    >>> from spherapprox.prompts.recurrent.programs import kernel_sum
    >>> head = SplitHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 500), 50.0)
    >>> model, x = kernel_sum(2), np.array([[0.6, 0.0, 0.8]])
    >>> abs(model.run(x, model.prompt(head)) - head(x)[:, None]).max() < 1e-4
    np.True_
    """
    return KernelSum(
        _checks.dimension(dim, maximum=1000),
        _checks.integer(outputs, "outputs", minimum=1, maximum=10**4),
        _checks.real(spacing, "spacing", minimum=2.0**-10, maximum=1.0),
        _checks.real(depth, "depth", minimum=1.0, maximum=700.0),
        _checks.real(bound, "bound", minimum=1.0, maximum=1e100),
        _checks.integer(length, "length", minimum=1, maximum=2**40),
    )


@dataclass(frozen=True)
class KernelSum(PromptModel):
    """The `PromptModel` of `kernel_sum`, with its arguments as attributes."""

    dim: int
    outputs: int
    spacing: float
    depth: float
    bound: float
    length: int

    def _program(self) -> Program:
        """Add exponentials, and their products with values, up."""
        d = self.dim + 1
        x = Input(d + 1 + self.outputs, bound=self.bound, name="token")
        asking = first(x, 1)
        query = LinState(Multiplicative(asking, x[:d], binary=True), 1.0, bound=1.0, name="query")
        logit = np.ones((1, d)) @ (query * x[:d]) + x[d] - (self.depth + 2.0) * asking
        weight = self._exponential(logit).named("weight")
        added = Multiplicative(weight, Concat([x[d + 1 :], constant(x, 1.0)]), bound=2.0)  # e^0, and roundings
        return Program(LinState(added, 1.0, bound=self.bound * self.length, name="sums"), "kernel sum")

    def _exponential(self, v: Variable) -> Variable:
        """Return the chords of exp between knots, minus its value at the first, and 0 below it."""
        count = int(np.ceil(self.depth / self.spacing))
        knots = -self.depth + self.depth / count * np.arange(count + 1)
        slopes = np.diff(np.exp(knots)) / np.diff(knots)
        return Linear(ReLU(Linear(v, np.ones((count, 1)), -knots[:-1])), np.diff(slopes, prepend=0.0)[None])

    def _queries(self, queries: ArrayLike) -> Float64:
        rows = _checks.rows(queries, "queries", dim=self.dim)
        return padded(rows, self.dim + 1, self.dim + 2 + self.outputs, 1.001)

    def _answers(self, outputs: Float64) -> Float64:
        sums = outputs[:, 0]
        if not (sums[:, -1] > 0.0).all():
            raise ValueError(f"'queries' must be near a token: logits of all are below -depth = {-self.depth:g}")
        return np.asarray(sums[:, :-1] / sums[:, -1:])

    def prompt(self, head: SplitHead | ClassicalHead) -> Float64:
        """Return the prompt of a head: a row (lambda_k b_k, -max lambda, value_k) for each of its tokens.

        Parameters
        ----------
        head : SplitHead or ClassicalHead

        Returns
        -------
        ndarray, shape (n, dim + 2 + outputs)

        Raises
        ------
        TypeError, ValueError
            If it is another head, of another dimension or number of values, or has more tokens or larger entries
            than the model has room for.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import SplitHead
        >>> from spherapprox.prompts.recurrent.programs import kernel_sum
        >>> head = SplitHead(np.eye(3)[:2], [0.5, 0.6], 10.0)
        >>> kernel_sum(2).prompt(head)
        array([[ 10. ,   0. ,   0. , -10. ,   0.5],
               [  0. ,  10. ,   0. , -10. ,   0.6]])
        """
        _checks.instance(head, "head", SplitHead, ClassicalHead)
        values = np.asarray(head.values, dtype=np.float64).reshape(len(head.values), -1)
        if head.dim != self.dim or values.shape[1] != self.outputs:
            raise ValueError(
                f"'head' must have dim {self.dim} and {self.outputs} values, got {head!r} with {values.shape[1]}: "
                "make the model with these numbers"
            )
        points = directions(np.asarray(head.control_points, dtype=np.float64))
        each = np.broadcast_to(np.asarray(head.concentration, dtype=np.float64), len(points))[:, None]
        tokens = np.hstack([each * points, np.full_like(each, -each.max()), values])
        if len(tokens) > self.length or not np.abs(tokens).max() <= self.bound:
            raise ValueError(
                f"'head' must have at most {self.length} tokens and entries up to {self.bound:g}, got {len(tokens)} "
                f"and {np.abs(tokens).max():g}: make the model with a larger length or bound"
            )
        return tokens
