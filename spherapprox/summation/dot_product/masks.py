"""Which keys each query sees, and what is added to its logits: a mask as intervals of keys, with biases in some."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _checks
from ..._kernels.simd.alignment import read_only
from ..._loading import load
from ..._types import Float64

ALIGNMENTS = {False: None, True: "lower_right", "lower_right": "lower_right", "upper_left": "upper_left"}

Array = NDArray[Any]


class Mask(NamedTuple):
    """An attention mask as given, (-, 1 or m, n) or None, the one that each head has, and the last keys by position.

    Bools tell which keys are seen, numbers are added to logits. Query i sees keys 0, ..., ``stops[i] - 1`` at most.
    """

    array: Array | None
    of_head: NDArray[np.intp]
    stops: NDArray[np.int64]
    is_causal: bool

    @classmethod
    def of(cls, mask: Any, is_causal: object, shape: tuple[int, ...], n: int) -> Mask:
        """Return the checked masks of heads and m queries, ``shape = (..., m)``, and n keys."""
        *leading, m = shape
        if not (isinstance(is_causal, bool | np.bool_ | str) and is_causal in ALIGNMENTS):
            words = 'True or "lower_right" (the last query sees all keys), "upper_left", as torch has it, or False'
            raise ValueError(f"'is_causal' must be {words}, got {_checks.show(is_causal)}")
        alignment = ALIGNMENTS[is_causal]
        first, heads = n - m + 1 if alignment == "lower_right" else 1, math.prod(leading)
        stops = np.full(m, n) if alignment is None else np.clip(first + np.arange(m), 0, n)
        if mask is None:
            return cls(None, np.zeros(heads, np.intp), stops, alignment is not None)
        array = _checked(mask, (*leading, m, n))
        own = np.arange(int(np.prod(array.shape[:-2]))).reshape(array.shape[:-2])
        flat = np.ascontiguousarray(array).reshape(own.size, *array.shape[-2:])
        return cls(flat, np.broadcast_to(own, leading).reshape(-1), stops, alignment is not None)

    def some(self, which: NDArray[np.intp]) -> Mask:
        """Return the masks of some of the heads."""
        return self._replace(of_head=self.of_head[which])

    @property
    def hides(self) -> bool:
        """Tell whether there is a mask at all."""
        return self.array is not None or self.is_causal

    def visible(self, n: int, reach: float) -> Visible:
        """Return what queries see of n keys; biases lower by `reach` than a query's largest hide keys, too."""
        m, masks = len(self.stops), self.array
        spans = np.zeros((1 if masks is None else len(masks), m, 3), np.int64)
        largest = np.zeros(spans.shape[:2])
        if masks is None:
            spans[0, :, 1] = self.stops
            return Visible(spans, largest, None)
        flags = masks.view(np.uint8) if masks.dtype == np.bool_ else masks
        intervals = load("spherapprox._kernels.summation.attention").intervals
        for mask, span, top in zip(flags, spans, largest, strict=True):
            intervals(mask, self.stops, reach, span, top)
        return Visible(spans, largest, masks if spans[..., 2].any() else None)


class Visible(NamedTuple):
    """Intervals of keys, (-, m, 3): first, behind the last, whether biases count there; the largest biases, (-, m)."""

    spans: NDArray[np.int64]
    largest: Float64
    biases: Array | None

    def for_kernel(self, dtype: np.dtype[Any]) -> tuple[Array, Array]:
        """Return the biases, or flags, and the largest of each query's in a kernel's type, not to be written to."""
        biases = np.zeros((1, 1, 1), np.bool_) if self.biases is None else self.biases
        if biases.dtype == np.bool_:
            return read_only(biases.view(np.uint8)), np.zeros(self.largest.shape, np.uint8)
        return read_only(biases.astype(dtype, copy=False)), self.largest.astype(dtype)


def _checked(mask: Any, shape: tuple[int, ...]) -> Array:
    """Return a mask as an array of bools or floats that broadcasts to a shape, the keys as they are."""
    given = _checks.detached(mask)
    array = np.asarray(given)
    if array.dtype.kind not in "bf" or array.dtype.itemsize > 8:
        remedy = (
            "mask != 0, if it is not 0 where a query may attend" if array.dtype.kind in "iu" else "an array of them"
        )
        raise _checks.wrong_type(given, "attn_mask", "bools (True where a query attends) or floats", remedy=remedy)
    array = array.astype(np.float32) if array.dtype.itemsize == 2 else array
    array = array.reshape((1,) * (2 - array.ndim) + array.shape)
    try:
        fits = np.broadcast_shapes(array.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"'attn_mask' must broadcast to the shape of logits, {shape}, got {array.shape}")
    if array.dtype.kind == "f" and not array.max() < np.inf:  # nan is not
        raise ValueError("'attn_mask' must have no nan and no inf: -inf hides a key, and 0 changes nothing")
    return np.broadcast_to(array, array.shape[:-1] + shape[-1:])
