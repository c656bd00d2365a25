"""`SequenceHead`: the split head of sequences, over control sequences that may be all of a product."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from ... import _archive, _checks
from ..._loading import load
from ..._norms import lengths
from ..._types import Float64
from ...heads import SplitHead
from ...points import PointSet
from . import controls
from .controls import Controls
from .layers import SequenceLayers

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False, repr=False)
class SequenceHead(_archive.Savable):
    """Average values over control sequences, by a softmax of ``sum_i concentration_i <x_i, b_i>``.

    Two attention layers of one head each, the prefix in the second, are it (`attend`, docs/theorems/7.2-two-layers.md).

    Parameters
    ----------
    control_points : list of T point sets, or array_like, shape (N, T, dim+1)
        A list or tuple is a product: control sequences are all that take token i from set i, an array (n_i, dim+1), a
        partition or a `PointSet` of equal weights. An array holds the control sequences themselves, such as examples:
        the head is then regression in context, by a kernel of sequences. Rows have unit length.
    values : array_like, shape (n_1, ..., n_T, T, p) or (N, T, p)
        For each control sequence what is averaged: p numbers at each of T positions.
    concentration : float or array_like, shape (T,)
        lambda, at least 0, or one for each token; their sum is at most 1e300.
    mask : float, optional
        M, from 0 to 1e300, by which the prefix raises the logits of `layers` at tokens of a position's own; None means
        the sum of the concentrations and 50 more, with which other tokens have no digit of float64. It costs digits:
        logits are rounded. Heads of one length, dim and p have the same layers.

    Raises
    ------
    TypeError, ValueError

    Notes
    -----
    The weights of a product are products of T softmaxes (docs/theorems/7.3-product-prefixes.md): N = n_1 ... n_T
    control sequences, T N tokens of the prefix, cost n_1 + ... + n_T exponentials and a contraction of the values.

    A head is frozen, and its arrays are read-only float64 copies. Heads are equal if all that they were made from is.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import EqualMeasurePartition
    >>> from spherapprox.prompts.sequences import SequenceHead
    >>> heights = lambda x: np.sort(x[..., 2:], axis=1)  # sorted by the third coordinate
    >>> head = SequenceHead.from_target(heights, EqualMeasurePartition(2, 500), 150.0, length=2)
    >>> head
    SequenceHead(length=2, dim=2, n=500 x 500, outputs=1, concentration=150)
    >>> head.n_tokens
    500000
    >>> x = np.array([[0.6, 0.0, 0.8], [0.0, 0.8, -0.6]])
    >>> head(x).round(2).tolist()
    [[-0.59], [0.8]]
    >>> small = SequenceHead.from_target(lambda x: x[:, ::-1], np.eye(3), 5.0, length=2)
    >>> small.mask_bound() < 1e-21, bool(abs(small.attend(x) - small(x)).max() < 1e-13)  # by two layers of attention
    (True, True)
    >>> small.as_split_head()
    SplitHead(n=9, dim=5, concentration=10)
    """

    _kind = "sequence-head"

    control_points: Controls
    values: Float64
    concentration: float | Float64
    mask: float = field(default=None, kw_only=True)  # type: ignore[assignment]  # a float once the head is made

    def __post_init__(self) -> None:
        points = controls.checked(self.control_points)
        length, shape = controls.length(points), controls.sizes(points)
        controls.check_axes(len(shape))
        values = _checks.floating(_checks.detached(self.values), "values")
        _checks.shaped(values, "values", (*shape, length, "p"), note=", as the control points have it")
        if not np.abs(values).max() <= controls.LARGEST:
            raise ValueError(f"'values' must be at most {controls.LARGEST:g} in size: scale them down")
        concentration = controls.concentrations(self.concentration, length)
        self.__dict__.update(control_points=points, values=controls.frozen(values), concentration=concentration)
        mask = cast("float | None", self.mask)
        mask = min(self.total_concentration + controls.CLEARANCE, controls.LARGEST) if mask is None else mask
        self.__dict__.update(mask=_checks.real(mask, "mask", minimum=0.0, maximum=controls.LARGEST))

    @classmethod
    def from_target(
        cls, target: Callable[[Any], ArrayLike], points: Any, concentration: float | ArrayLike, *,
        length: int | None = None, mask: float | None = None,
    ) -> Self:  # fmt: skip
        """Make the head whose values are a function's at all control sequences of a product.

        Parameters
        ----------
        target : callable
            Maps sequences (batch, T, dim+1) to values (batch, T, p). It is called with parts of the control sequences.
        points : EqualMeasurePartition, PointSet or array_like (n, dim+1), or a list of T of them
            Control points of each token; sets of points have equal weights.
        concentration, mask
            As in `SequenceHead`.
        length : int, optional
            T; may be left out where points are a list.

        Raises
        ------
        TypeError, ValueError
            If the target returns another shape, the values would be too large for memory, or as `SequenceHead` does.
        """
        _checks.callable_(target, "target")
        rows = controls.of_tokens(points, length)
        return cls(rows, controls.sample(target, rows), cast(Any, concentration), mask=cast(Any, mask))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled or copied head: NumPy forgets which arrays are read-only; nothing is checked again."""
        self.__dict__.update(state)
        for array in self._arrays():
            array.flags.writeable = False

    def _arrays(self) -> list[Float64]:
        points = self.control_points if isinstance(self.control_points, tuple) else (self.control_points,)
        return [*points, self.values, np.asarray(self.concentration)]

    def _arguments(self) -> dict[str, Any]:
        points = self.control_points
        sets = tuple(map(PointSet, points)) if isinstance(points, tuple) else points
        return vars(self) | {"control_points": sets}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SequenceHead) or type(other) is not type(self):
            return NotImplemented
        pair = self._arrays(), other._arrays()
        return self.mask == other.mask and len(pair[0]) == len(pair[1]) and all(map(np.array_equal, *pair))

    def __hash__(self) -> int:
        return hash((type(self), self.values.shape, self.mask, *self.values.ravel()[:8].tolist()))

    def __repr__(self) -> str:
        sizes = " x ".join(map(str, controls.sizes(self.control_points)))
        return (
            f"SequenceHead(length={self.length}, dim={self.dim}, n={sizes}, outputs={self.n_outputs}, "
            f"concentration={_checks.concentration_text(self.concentration)})"
        )

    def __len__(self) -> int:
        return math.prod(controls.sizes(self.control_points))

    @property
    def length(self) -> int:
        """The number T of tokens of a sequence."""
        return controls.length(self.control_points)

    @property
    def dim(self) -> int:
        """The manifold's dimension m of the sphere S^m on which tokens lie."""
        return int(self.control_points[0].shape[-1]) - 1

    @property
    def n_outputs(self) -> int:
        """The number p of outputs at each position."""
        return int(self.values.shape[-1])

    @property
    def n_tokens(self) -> int:
        """The number T N of tokens of the prefix, N = ``len(head)``."""
        return self.length * len(self)

    @property
    def total_concentration(self) -> float:
        """The sum of the concentrations of all tokens: the one on S^(T (dim+1) - 1)."""
        return float(np.broadcast_to(self.concentration, (self.length,)).sum())

    def __call__(self, x: ArrayLike) -> Float64:
        """Evaluate the head at sequences: (T, p) or (batch, T, p).

        Weights are computed from the distances |x_i - b_i| of rows as given: relative to the largest of the |values|
        the error is at most ``1e-14 + 1e-15 sum_i lambda_i r_i^2``, r_i the distance within which control points of
        token i matter, for tokens of up to 64 columns and some thousand control points each. Control sequences that are
        no product are rows of `as_split_head`, whose roundings add
        ``1e-15 (sum_i lambda_i  sum_i lambda_i r_i^2)^(1/2)``.

        Parameters
        ----------
        x : array_like, shape (T, dim+1) or (batch, T, dim+1)
            Tokens of unit length.

        Raises
        ------
        ValueError
        """
        tokens = self._sequences(x)
        batch = tokens.reshape(-1, *tokens.shape[-2:])
        if isinstance(self.control_points, tuple):
            values = controls.contract(batch, self.control_points, self.concentration, values=self.values)
        else:
            values = self.as_split_head()(controls.concatenated(batch, self.concentration)[0]).astype(np.float64)
        return values.reshape(*tokens.shape[:-1], self.n_outputs)

    def _sequences(self, x: ArrayLike) -> Float64:
        return _checks.sequences(_checks.detached(x), dim=self.dim, length=self.length).astype(np.float64)

    def as_split_head(self) -> SplitHead:
        """Return the same function as a split head on S^(T (dim+1) - 1), over all N control sequences.

        It has T p outputs, on the concatenations of ``sqrt(lambda_i / sum lambda) x_i``.

        Raises
        ------
        ValueError
            If its N control points would be too large for memory.
        """
        numbers = 24.0 * len(self) * self.length * (self.dim + 1)
        _checks.memory(numbers, "the control points of all sequences", "call the head itself")
        sequences = controls.at(self.control_points, np.arange(len(self)))
        points, total = controls.concatenated(sequences, self.concentration)
        return SplitHead(points, self.values.reshape(len(self), -1), total)

    @property
    def layers(self) -> SequenceLayers:
        """The two layers, as matrices that know T, dim and p only."""
        return SequenceLayers(self.length, self.dim, self.n_outputs)

    @property
    def prefix(self) -> Float64:
        """The tokens of the prefix, shape (T N, d): for each position those of all control sequences."""
        layers = self.layers
        _checks.memory(16.0 * self.n_tokens * layers.embedding_dim, "the prefix", "take fewer control points")
        sequences = controls.at(self.control_points, np.arange(len(self)))
        factors = np.broadcast_to(self.concentration, (self.length,))[:, None]
        return layers.prefix(factors * sequences, self.values.reshape(len(self), self.length, -1), self.mask)

    def attend(self, x: ArrayLike) -> Float64:
        """Return the outputs (T, p) or (batch, T, p) of the two attention layers.

        They are ``head(x)`` up to `mask_bound` and, relative to the largest of the |values|, 1e-15 times the mask and
        the sum of the concentrations: roundings of logits.

        Parameters
        ----------
        x : array_like, shape (T, dim+1) or (batch, T, dim+1)
            Tokens of unit length: one sequence, or several that do not see each other.

        Raises
        ------
        ValueError
            If the sequences do not fit, or prefix and logits would be too large for memory.
        """
        tokens = self._sequences(x)
        values = self.layers(tokens.reshape(-1, *tokens.shape[-2:]), self.prefix)
        return values.reshape(*tokens.shape[:-1], self.n_outputs)

    def mask_bound(self) -> float:
        """Return a proven bound of ``|attend(x) - head(x)|`` at any position, without roundings.

        It is ``2 F a / (1 + a)``, F the largest Euclidean norm of a row of values and
        ``a = (T-1) exp(-M) + T exp(sum lambda - M) / N``. At the default mask it is below 1e-21 T F, for sums of
        concentrations up to 1e15. See docs/theorems/7.2-two-layers.md.
        """
        positions = math.log(self.length - 1) - self.mask if self.length > 1 else -math.inf
        inputs = math.log(self.length) + (self.total_concentration - self.mask) - math.log(len(self))
        log_a = np.logaddexp(positions, inputs)
        share = math.exp(min(log_a, 0.0) - np.log1p(math.exp(-abs(log_a)))) if log_a > -math.inf else 0.0
        return 2.0 * float(lengths(self.values).max()) * share

    def to_torch(self, *, dtype: Any = None, device: Any = None, trainable: bool = False) -> torch.nn.Module:
        """Return the two layers as torch's own modules: two `nn.MultiheadAttention` of one head, and `nn.Linear`.

        The `SequenceAttention` maps (T, dim+1) or (batch, T, dim+1) to (T, p) or (batch, T, p).

        Parameters
        ----------
        dtype : torch.dtype, optional
            torch.float64, the default, or torch.float32.
        device : torch.device or str, optional
            None means torch's default device.
        trainable : bool, default False
            Make the prefix a parameter in place of a buffer; the layers stay as they are.

        Raises
        ------
        ImportError, TypeError, ValueError
            If PyTorch is missing, `dtype` another one or too small for the numbers, or the prefix too large for memory.

        Examples
        --------
        >>> import numpy as np, torch
        >>> head = SequenceHead.from_target(lambda x: x[:, ::-1], np.eye(3), 5.0, length=2)
        >>> bool(np.abs(head.to_torch()(torch.eye(3).double()[:2]).numpy() - head(np.eye(3)[:2])).max() < 1e-14)
        True
        """
        module = load("spherapprox.prompts.sequences.torch_modules")
        return module.SequenceAttention(self, dtype=dtype, device=device, trainable=trainable)
