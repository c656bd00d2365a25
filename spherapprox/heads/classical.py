"""The classical head: a split head as query, key and value matrices and a prefix, for inputs or sequences of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64, Floats
from . import interaction as interactions
from .attention import attention
from .split import SplitHead

INTERACTIONS = ("flag", "none", "printed")
_LARGEST_CONCENTRATION, _LARGEST_MASK = 1e300, 1e304
"""Largest sizes at which no product with tokens and matrices overflows."""


@dataclass(frozen=True, eq=False, repr=False)
class ClassicalHead(SplitHead):
    """A split head as classical attention ``softmax((Z query)(Z key)^T / sqrt(d)) (Z value)`` over a prefix and inputs.

    The rows of Z are the n tokens ``(0, concentration_k b_k, values_k)`` of the prefix and the tokens ``(x, 0, 0)`` of
    the inputs; the dimension is d = 2 (dim+1) + p for values of p columns, 3 (dim+1) for p = dim+1. The matrices know
    the shapes and the mask only: the function is in the prefix.

    Parameters
    ----------
    control_points, values, concentration, points
        As in `SplitHead`; values of shape (n,) count as p = 1; concentration is at most 1e300. `from_head`
        takes them from a `SplitHead`.
    interaction : {"flag", "none", "printed"}
        The logit between two inputs of a sequence, x_i and x_j (or x_i and itself). "flag": `mask`, by one more
        coordinate, so that d grows by 1; it is 1 for inputs and 0 in the prefix. "none": 0. "printed":
        ``mask <x_i, x_j>``, as in the thesis, for single inputs only: inputs at an obtuse angle get a large logit, and
        the output collapses to 0. `interaction_bound` says what each costs.
    mask : float, optional
        M, from -1e304 to 0; None means ``-(2 concentration + 1000)``, with the largest one, at which the weight that
        "flag" leaves to inputs underflows to 0. One mask serves all heads of smaller concentration with the same
        matrices. "none" takes none.
        `dataclasses.replace` keeps the mask: give None with a larger concentration or another interaction.

    Raises
    ------
    TypeError, ValueError
        If rows have no unit length, the values do not fit, or an option is out of its range.

    Notes
    -----
    ``head(x)``, and all else that it has of a split head, is that of the split head: the function that each input is to
    be mapped to. `attend` is the attention itself; it differs by at most `interaction_bound` and by roundings.

    References
    ----------
    docs/theorems/4.14-classical-head.md and 3-errata.md, 3.7; Petrov (2025), Lemma 4.16 and Corollary 4.18.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import ClassicalHead, EqualMeasurePartition
    >>> head = ClassicalHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 2000), 200.0)
    >>> head
    ClassicalHead(n=2000, dim=2, concentration=200, interaction='flag')
    >>> head.query.shape, head.prefix.shape
    ((8, 8), (2000, 8))
    >>> x = np.array([[0.6, 0.0, 0.8], [0.0, 0.6, -0.8]])
    >>> head(x).round(3), head.attend(x).round(3)
    (array([ 0.796, -0.796]), array([ 0.796, -0.796]))
    >>> ClassicalHead.from_head(head, interaction="none").query.shape
    (7, 7)
    >>> tokens = head.embed(x)
    >>> tokens.shape, head.project(tokens)
    ((2, 8), array([0.6, 0. ]))
    """

    _kind = "classical-head"
    _torch_module = "spherapprox.heads.torch_modules.classical.ClassicalAttention"
    interaction: str = field(default="flag", kw_only=True)
    mask: float = field(default=None, kw_only=True)  # type: ignore[assignment]  # a float once the head is made

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.concentrations(self.concentration, len(self), maximum=_LARGEST_CONCENTRATION)
        masked = _checks.choice(self.interaction, "interaction", INTERACTIONS) != "none"
        mask: Any = self.mask
        if mask is None:
            mask = -(2.0 * self._largest_concentration + 1000.0) if masked else 0.0
        mask = _checks.real(mask, "mask", minimum=-_LARGEST_MASK, maximum=0.0)
        if not masked and mask != 0.0:
            raise ValueError(f"'mask' must be left out, or None, for interaction='none', got {_checks.digits(mask)}")
        object.__setattr__(self, "mask", mask)

    @classmethod
    def from_head(cls, head: SplitHead, *, interaction: str = "flag", mask: float | None = None) -> Self:
        """Make the classical head of a split head.

        Parameters
        ----------
        head : SplitHead
            A classical head may be given too; its interaction is replaced.
        interaction, mask
            As in `ClassicalHead`.

        Raises
        ------
        TypeError, ValueError
            If `head` is no split head, or an option is out of its range.
        """
        head = _checks.instance(head, "head", SplitHead, remedy="only softmax is attention")
        options: Any = {"points": head.points, "interaction": interaction, "mask": mask}
        return cls(head.control_points, head.values, head.concentration, **options)

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "interaction": self.interaction, "mask": self.mask}

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, interaction={self.interaction!r})"

    @property
    def embedding_dim(self) -> int:
        """Columns d of a token: 2 (dim+1) + p, and one more for "flag"."""
        return int(self._value_columns.stop) + (self.interaction == "flag")

    @property
    def _value_columns(self) -> slice:
        """The columns of a token of the prefix that hold its value, after x and its place in keys."""
        return slice(2 * (self.dim + 1), 2 * (self.dim + 1) + (self.n_outputs or 1))

    @property
    def query(self) -> Float64:
        """The query matrix, shape (d, d), to be multiplied by tokens from the left; it holds sqrt(d) and the mask."""
        # 4.14: W_Q
        d, width = self.embedding_dim, self.dim + 1
        scale, x = math.sqrt(d), slice(0, width)
        matrix = np.zeros((d, d))
        matrix[x, width : 2 * width] = scale * np.eye(width)
        if self.interaction == "printed":
            matrix[x, x] = self.mask * scale * np.eye(width)
        elif self.interaction == "flag":
            matrix[-1, -1] = self.mask * scale
        return matrix

    @property
    def key(self) -> Float64:
        """The key matrix, shape (d, d): the identity but for the columns of values."""
        # 4.14: W_K
        diagonal = np.ones(self.embedding_dim)
        diagonal[self._value_columns] = 0.0
        return np.diag(diagonal)

    @property
    def value(self) -> Float64:
        """The value matrix, shape (d, d): it moves the columns of values to the front."""
        # 4.14: W_V
        matrix, outputs = np.zeros((self.embedding_dim,) * 2), self.n_outputs or 1
        matrix[self._value_columns, :outputs] = np.eye(outputs)
        return matrix

    @property
    def prefix(self) -> Float64:
        """The prefix, shape (n, d): rows ``(0, concentration_k b_k, values_k)``, and 0 for "flag".

        Control points that are of unit length to less than float64's rounding are brought to it.
        """
        _checks.memory(8.0 * len(self) * self.embedding_dim, "the prefix", "take fewer control points")
        tokens = np.zeros((len(self), self.embedding_dim))
        tokens[:, self.dim + 1 : 2 * (self.dim + 1)] = np.reshape(self.concentration, (-1, 1)) * self._directions()
        tokens[:, self._value_columns] = self.values.reshape(len(self), -1)
        return tokens

    def embed(self, x: ArrayLike) -> Float64:
        """Return the tokens of inputs: ``(x, 0, 0)``, and 1 for "flag".

        Parameters
        ----------
        x : array_like, shape (T, dim+1) or (batch, T, dim+1)
            Points of unit length.

        Returns
        -------
        ndarray, shape (T, d) or (batch, T, d)

        Raises
        ------
        ValueError
            If the rows are no points of S^dim.
        """
        points = _checks.sequences(x, dim=self.dim)
        _checks.memory(8.0 * points[..., 0].size * self.embedding_dim, "the tokens", "take x in parts")
        tokens = np.zeros((*points.shape[:-1], self.embedding_dim))
        tokens[..., : self.dim + 1] = points
        if self.interaction == "flag":
            tokens[..., -1] = 1.0
        return tokens

    def project(self, y: ArrayLike) -> Floats:
        """Project the attention's outputs to values: their first p columns.

        Parameters
        ----------
        y : array_like, shape (..., d)

        Returns
        -------
        ndarray, shape (..., p), or (...) for values of shape (n,)

        Raises
        ------
        ValueError
            If there are not d columns.
        """
        outputs = _checks.floating(y, "y", (..., self.embedding_dim))
        return outputs[..., 0] if self.n_outputs is None else outputs[..., : self.n_outputs]

    def attend(self, x: ArrayLike) -> Floats:
        """Return the attention's outputs for sequences of inputs, each over the prefix and its own inputs.

        Parameters
        ----------
        x : array_like, shape (T, dim+1) or (batch, T, dim+1)
            Inputs of unit length: one sequence of T, or several that do not see each other.

        Returns
        -------
        ndarray, shape (T,), (T, p), (batch, T) or (batch, T, p)
            float32 if x, control points and values all are, else float64; computed in float64. It is ``head(x)`` up to
            `interaction_bound` and, relative to the largest of the |values|, 1e-12 for concentrations to 1e3 and 1e-15
            times the (largest) concentration beyond: logits ``concentration <x, b_k>`` have roundings of that size,
            which the chords in ``head(x)`` have not. For control points whose lengths are off by delta, such as 6e-8 in
            float32, add ``delta (1 + concentration (1 - cos t))``, at control points at angles up to t that matter.

        Raises
        ------
        ValueError
            If the rows are no points of S^dim, or the tokens would be too large for memory.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import ClassicalHead
        >>> head = ClassicalHead(np.eye(2), [1.0, 2.0], 9.0, interaction="printed")
        >>> x = np.array([[1.0, 0.0], [-0.6, 0.8]])
        >>> head.attend(x[:1]).round(4), head.attend(x[1:]).round(4)
        (array([1.0001]), array([2.]))
        >>> head.attend(x).round(4)  # an obtuse angle
        array([0., 0.])
        """
        points = _checks.sequences(x, dim=self.dim)
        _checks.memory(40.0 * points[..., 0].size * self.embedding_dim, "attention", "take fewer sequences at a time")
        tokens = self.embed(points)
        outputs = attention(
            tokens.reshape(-1, *tokens.shape[-2:]), self.prefix, self.query, key=self.key, value=self.value
        )
        dtype = np.result_type(points, self.control_points, self.values)
        return self.project(outputs.reshape(tokens.shape)).astype(dtype)

    def interaction_bound(self, length: int = 1, *, log: bool = False) -> float:
        """Return a proven bound of ``|attend(x)_i - head(x_i)|``, over all sequences of a length, without roundings.

        Parameters
        ----------
        length : int
            T >= 1, inputs in a sequence.
        log : bool, default False
            Return its logarithm, which does not underflow; -inf if all values are 0.

        Returns
        -------
        float
            ``F A / (A + S)``: F the largest Euclidean norm of a row of values; A = T for "none", ``T e^mask`` for
            "flag", and ``e^mask + (T-1) e^-mask`` for "printed"; S a lower bound of
            ``sum_k exp(concentration_k <x, b_k>)`` from the mean of the keys and, where it is known and concentrations
            are equal, the control points' covering radius. Positive unless F is 0.

        Raises
        ------
        TypeError, ValueError
            If `length` is no integer above 0.

        Examples
        --------
        >>> from spherapprox import ClassicalHead, EqualMeasurePartition
        >>> split = ClassicalHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 2000), 20.0)
        >>> for kind in ("flag", "none", "printed"):
        ...     print(kind, f"{ClassicalHead.from_head(split, interaction=kind).interaction_bound(10):.1e}")
        flag 4.9e-324
        none 1.7e-09
        printed 1.0e+00
        """
        length, log = _checks.integer(length, "length", minimum=1), _checks.flag(log, "log")
        log_bound = interactions.log_bound(self, self.interaction, self.mask, length=length)
        if log or log_bound == -math.inf:
            return log_bound if log else 0.0
        with np.errstate(over="ignore"):
            return max(float(np.exp(log_bound)), 5e-324)
