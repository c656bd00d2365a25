"""`ProgrammedPrefix`: a split head inside a frozen attention layer, and how far the layer's read-out is from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._norms import lengths
from ...._types import Float64, Floats
from ....heads import SplitHead
from ..layer.attention import log_weights
from ..layer.layer import AttentionLayer
from ..layer.rows import Prefix, causal_mask
from ..layer.share import share_of
from .equations import Interface


@dataclass(frozen=True, eq=False, repr=False)
class ProgrammedPrefix:
    """A prefix by which a frozen attention layer, read out, computes a split head.

    Parameters
    ----------
    head : SplitHead
        The function, on S^m.
    layer : AttentionLayer
    prefix : Prefix, shape (key_value_heads, N, ...)
        With `tokens` if it is made of them.
    interface : Interface
        `embedding`, `shift` and `readout`.
    offset : float
        What is added to the logits of the prefix.
    condition : float
        The condition number of the equations, each divided by the length of its row: numbers of the prefix have errors
        of about this times 1e-16, relatively.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import SplitHead
    >>> from spherapprox.prompts.prefix import AttentionLayer, program
    >>> rng = np.random.default_rng(0)
    >>> query, key, value, out = rng.standard_normal((4, 16, 16))
    >>> layer = AttentionLayer(query, key, value, out, query_bias=rng.standard_normal(16), heads=2)
    >>> head = SplitHead([[1.0, 0.0], [-1.0, 0.0]], [1.0, 2.0], 5.0)
    >>> embedding, readout = rng.standard_normal((16, 2)), rng.standard_normal(16)
    >>> programmed = program(head, layer, embedding=embedding, readout=readout, kind="key_values", offset=-2.0)
    >>> y = np.array([[0.6, 0.8], [0.0, 1.0]])
    >>> bool(np.all(abs(programmed.attend(y) - head(y)) <= programmed.bound(y)))
    True
    >>> programmed.embed(y).shape
    (2, 16)
    """

    head: SplitHead
    layer: AttentionLayer
    prefix: Prefix
    interface: Interface
    offset: float
    condition: float

    def __repr__(self) -> str:
        return (
            f"ProgrammedPrefix(length={len(self.prefix)}, kind={self.kind!r}, heads={self.layer.heads}, "
            f"condition={self.condition:.3g})"
        )

    @property
    def kind(self) -> str:
        """Whether it is made of "tokens" or "key_values"."""
        return "key_values" if self.prefix.tokens is None else "tokens"

    def embed(self, y: ArrayLike) -> Float64:
        """Return the inputs of the layer for points of the sphere, shape (T, d) or (batch, T, d).

        Parameters
        ----------
        y : array_like, shape (T, m+1) or (batch, T, m+1)
            Points of unit length.

        Raises
        ------
        ValueError
        """
        points = _checks.sequences(_checks.detached(y), "y", dim=self.head.dim).astype(np.float64)
        return np.asarray(points @ self.interface.embedding.T + self.interface.shift)

    def attend(self, y: ArrayLike, content: ArrayLike | None = None, *, causal: bool = False) -> Float64:
        """Return the layer's outputs beside the prefix, read out.

        Parameters
        ----------
        y : array_like, shape (T, m+1) or (batch, T, m+1)
            Points of unit length: one sequence, or several that do not see each other.
        content : array_like, shape (n, d) or (batch, n, d), optional
            What is attended to beside the prefix, the embedded points by default; n may be 0.
        causal : bool, default False
            Whether each point sees the content up to its own place only, the last point all of it.

        Returns
        -------
        ndarray, shape (T,), (T, p), (batch, T) or (batch, T, p)
            ``head(y)``, within `bound`.

        Raises
        ------
        TypeError, ValueError
        """
        outputs = self.layer.attend(self.embed(y), content, prefix=self.prefix, causal=causal)
        with np.errstate(over="ignore", invalid="ignore"):
            values = outputs @ self.interface.readout.T
        if not np.isfinite(values).all():
            raise ValueError("'content' must have finite read-outs: they overflow, scale it or 'readout' down")
        return np.asarray(values[..., 0] if self.head.values.ndim == 1 else values)

    def bound(self, y: ArrayLike, content: ArrayLike | None = None, *, causal: bool = False) -> Floats:
        """Return a proven bound of the distance between the layer's read-out and the head, in exact arithmetic.

        See docs/theorems/8.6-programming-a-layer.md.

        Parameters
        ----------
        y, content, causal
            As in `attend`.

        Returns
        -------
        ndarray, shape (T,) or (batch, T)
            A bound of the Euclidean norm of ``attend(y) - head(y)``: the sum over heads of the content's share of the
            attention, times the largest read-outs of a value of the prefix and of the content.

        Raises
        ------
        TypeError, ValueError

        Notes
        -----
        Roundings come on top, mostly those of logits. With the unit roundoff u of the layer's precision they change
        the read-out by up to about ``condition * concentration * u`` times the largest value, if a query depends on the
        point as much as on the shift, and by more if it depends less; tokens add u times their length times the weights
        of values and read-out, which is more where weights of queries are small. Measured at
        concentration 300 and condition 4, 4e-14 of it in float64, 1e-5 in float32, and in bfloat16 0.2, but 0.008 at
        concentration 20.
        """
        query, key, value = self.layer.head_inputs(self.embed(y), content)
        far = self.prefix.repeated(self.layer.heads)
        logits_held = 24.0 * query[..., 0].size * (len(far) + key.shape[-2])
        _checks.memory(logits_held, "attention", "take fewer rows of 'y' at a time")
        mask = causal_mask(query.shape[-2], key.shape[-2]) if _checks.flag(causal, "causal") else None
        logits = log_weights(query, key, far.key, scale=self.layer.scale, mask=mask)  # (..., heads, T, N + n)
        share = share_of(logits[..., len(far) :], logits[..., : len(far)])  # (..., heads, T)
        largest = self._largest(far.value) + self._largest(value)  # (..., heads)
        with np.errstate(over="ignore", invalid="ignore"):
            errors = (share * largest[..., None]).sum(axis=-2)
        if not np.isfinite(errors).all():
            raise ValueError("'content' and 'prefix' must have values with finite read-outs: they overflow")
        return np.asarray(errors)

    def _largest(self, value: Float64) -> Float64:
        """Return the largest length of a read-out of a value (..., heads, n, p) behind its head, for each head."""
        layer, r = self.layer, self.interface.readout
        with np.errstate(over="ignore", invalid="ignore"):
            readouts = (r @ layer.output_weights).reshape(len(r), layer.heads, layer.value_dim)  # (p_out, heads, p)
            long = lengths(value @ np.moveaxis(readouts, 0, -1))  # (..., heads, n)
        return np.asarray(long.max(axis=-1, initial=0.0))
