"""`KernelSum`: what a split head computes, by a recurrent model that reads its tokens."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._norms import directions
from ...._types import Float64
from ....heads.classical import ClassicalHead
from ....heads.split import SplitHead
from ..blocks import Concat, Input, LinState, ReLU
from ..language import Linear, Multiplicative
from ..program import Program
from ..registers import first
from ..sugar import constant
from .model import PromptModel, padded


@dataclass(frozen=True)
class KernelSum(PromptModel):
    """A model that computes what softmax attention does, from a prompt of the same tokens.

    Tokens are (key, shift, value); behind a query q it adds ``e^(<q, key> + shift)`` and its products with values up,
    and `run` divides them. Exponentials are chords between knots on [-depth, 0], minus e^-depth, and 0 below.
    ``prompt(head)`` makes prompts of heads. See docs/theorems/10.5-kernel-sums.md.

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
        The largest number of tokens of a prompt; with `bound` it limits all sums. Both have to be small for a Hawk, in
        float32 above all: each token adds an error of up to ``2^-50 bound * length`` (float32: 2^-20) to its sums.

    Raises
    ------
    TypeError, ValueError

    Notes
    -----
    With S the sum of N exponentials at q and F the largest size of values, ``a = e^(spacing^2 / 8) - 1`` and
    ``b = N e^-depth / S``, the result is within ``F (a / 2 + 2 b) / (1 - b)`` of the head's.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import EqualMeasurePartition, SplitHead
    >>> from spherapprox.prompts.recurrent.programs import KernelSum
    >>> head = SplitHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 500), 50.0)
    >>> model, x = KernelSum(2), np.array([[0.6, 0.0, 0.8]])
    >>> abs(model.run(x, model.prompt(head)) - head(x)[:, None]).max() < 1e-4
    np.True_
    """

    dim: int
    outputs: int = 1
    spacing: float = 0.1
    depth: float = 20.0
    bound: float = field(default=1024.0, kw_only=True)
    length: int = field(default=2**16, kw_only=True)

    def __post_init__(self) -> None:
        vars(self).update(
            dim=_checks.dimension(self.dim, maximum=1000),
            outputs=_checks.integer(self.outputs, "outputs", minimum=1, maximum=10**4),
            spacing=_checks.real(self.spacing, "spacing", minimum=2.0**-10, maximum=1.0),
            depth=_checks.real(self.depth, "depth", minimum=1.0, maximum=700.0),
            bound=_checks.real(self.bound, "bound", minimum=1.0, maximum=1e100),
            length=_checks.integer(self.length, "length", minimum=1, maximum=2**40),
        )

    def _program(self) -> Program:
        """Add exponentials, and their products with values, up: chords of exp, minus its value at the first knot."""
        d = self.dim + 1
        x = Input(d + 1 + self.outputs, bound=self.bound, name="token")
        asking = first(x, 1)
        query = LinState(Multiplicative(asking, x[:d], binary=True), 1.0, bound=1.0, name="query")
        logit = np.ones((1, d)) @ (query * x[:d]) + x[d] - (self.depth + 2.0) * asking
        count = int(np.ceil(self.depth / self.spacing))
        knots = -self.depth + self.depth / count * np.arange(count + 1)
        slopes = np.diff(np.exp(knots)) / np.diff(knots)
        above = ReLU(Linear(logit, np.ones((count, 1)), -knots[:-1]))
        weight = Linear(above, np.diff(slopes, prepend=0.0)[None]).named("weight")
        added = Multiplicative(weight, Concat([x[d + 1 :], constant(x, 1.0)]), bound=2.0)  # e^0, and roundings
        return Program(LinState(added, 1.0, bound=self.bound * self.length, name="sums"), "kernel sum")

    def _queries(self, queries: ArrayLike) -> Float64:
        rows = _checks.rows(queries, "queries", dim=self.dim)
        return padded(rows, self.dim + 1, self.dim + 2 + self.outputs, bound=1.001)

    def _answers(self, outputs: Float64) -> Float64:
        sums = outputs[:, 0]
        if not (sums[:, -1] > 0.0).all():
            raise ValueError(f"'queries' must be near a token: logits of all are below -depth = {-self.depth:g}")
        return np.asarray(sums[:, :-1] / sums[:, -1:])

    def prompt(self, head: SplitHead | ClassicalHead) -> Float64:
        """Return the prompt of a head, (n, dim + 2 + outputs): rows (lambda_k b_k, -max lambda, value_k), one a token.

        Parameters
        ----------
        head : SplitHead or ClassicalHead

        Raises
        ------
        TypeError, ValueError
            If it is another head, of another dimension or number of values, or has more tokens or larger entries
            than the model has room for.
        """
        _checks.instance(head, "head", SplitHead, ClassicalHead)
        values = np.asarray(head.values, dtype=np.float64).reshape(len(head.values), -1)
        if head.dim != self.dim or values.shape[1] != self.outputs:
            raise ValueError(
                f"'head' must have dim {self.dim} and {self.outputs} values, got {head!r} with {values.shape[1]}: "
                "make the model with these numbers"
            )
        points = directions(np.asarray(head.control_points, dtype=np.float64))
        column = np.broadcast_to(np.asarray(head.concentration, dtype=np.float64), len(points))[:, None]
        tokens = np.hstack([column * points, np.full_like(column, -column.max()), values])
        if len(tokens) > self.length or not np.abs(tokens).max() <= self.bound:
            raise ValueError(
                f"'head' must have at most {self.length} tokens and entries up to {self.bound:g}, got {len(tokens)} "
                f"and {np.abs(tokens).max():g}: make the model with a larger length or bound"
            )
        return tokens
