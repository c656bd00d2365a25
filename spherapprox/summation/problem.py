"""A sum over control points as the methods take it: points, values and their scale, and what follows from these."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from .._kernels.simd.alignment import compiled_form
from .._types import Float64, Floats, Int32

LARGEST_EXPONENT = {8: 1e13, 4: 9e4}  # by the size of a number: the fused kernel takes exponents up to it
PRODUCTS_FROM = 13
"""Dimension from which on squared distances take less time from products than from differences. Tuned: processors whose
additions take no place of multiply-adds have it at 15, others at 11, and near it the two differ by a few percent."""
FEW_COLUMNS = 8  # columns up to which loops along them are shorter than those over the columns of each row. Tuned.
UNSCALED: Int32 = np.zeros((), np.int32)[()]
"""The octaves of weights that are the values: a scalar, since no default of a dataclass is an array."""
_FLOAT64 = np.dtype(np.float64)
Controls = tuple[Floats, Float64, Float64]  # control points (n, d), offsets (n,) and weights (n, p), p = 0 for angles


def column_parts(p: int) -> list[slice]:
    """Return the parts of p columns that NumPy does fastest one after another: few go one by one."""
    return [slice(r, r + 1) for r in range(p)] if p <= FEW_COLUMNS else [slice(0, p)]


def lift(numbers: Floats, octaves: Int32, out: Float64 | None = None) -> Float64:
    """Return ``numbers 2^octaves``, (m, p) from (m, p), (p,): many by products, where powers are normal.

    NumPy warns where a result overflows, unless the caller asks it not to.
    """
    if numbers.size > 4096 and octaves.min() >= -1022 and octaves.max() <= 1023:
        lifted, powers = np.empty(numbers.shape) if out is None else out, np.ldexp(1.0, octaves)
        for part in column_parts(numbers.shape[1]):
            by = powers[part] if powers.ndim else powers
            np.multiply(numbers[:, part], by, out=lifted[:, part], dtype=np.float64)
        return lifted
    return np.ldexp(numbers, octaves, out=out, dtype=np.float64)


class Problem(NamedTuple):
    """The sums that are wanted: at x (m, d), over b (n, d), rate = lambda/2, computed in `dtype`.

    The weights are ``values 2^-octaves``, (n, p) from (n, p) and (p,); without values they are the angles between x and
    b_k (p = 1). `normalize` says whether the sum without weights is wanted too; `lifted`, that sums are multiplied by
    huge numbers later, so that tiny ones matter. `stretch` (n,), 0 to 1, multiplies the squared distances, and `offset`
    (n,), at least 0, adds to them. `dots` says that exponents may be from products alone. Of the coordinates, the last
    `padding` make the rows' length 1 and add nothing to inner products.
    """

    x: Floats
    b: Floats
    rate: float
    dtype: np.dtype[Any]
    values: Floats | None
    normalize: bool = True
    lifted: bool = False
    offset: Float64 | None = None
    octaves: Int32 = UNSCALED
    stretch: Float64 | None = None
    dots: bool = False
    padding: int = 0

    @property
    def dim(self) -> int:
        """Dimension of the sphere."""
        return int(self.x.shape[1]) - 1

    @property
    def variables(self) -> int:
        """Number of coordinates, at least 2, that inner products are made of."""
        return max(self.dim + 1 - self.padding, 2)

    @property
    def p(self) -> int:
        """Number of columns of weights."""
        return 1 if self.values is None else self.values.shape[1]

    @property
    def by_products(self) -> bool:
        """Whether squared distances are from products, unless they are small."""
        return self.dots or self.x.shape[1] > PRODUCTS_FROM

    @property
    def kernel(self) -> Literal["fused", "shifted"]:
        """Kernel of the first pass: "fused" where exponents and weights allow it."""
        fits = 4.0 * self.rate <= LARGEST_EXPONENT[self.dtype.itemsize]
        plain = self.values is not None and self.offset is None and self.stretch is None
        return "fused" if fits and plain else "shifted"

    @property
    def work(self) -> float:
        """Count the arithmetic of all pairs, in operations of a vector's lane."""
        (m, d), p = self.x.shape, 1 if self.values is None else self.values.shape[1]
        distance = d + 3 if self.by_products else 2 * d
        return float(m * len(self.b) * (distance + 14 + p + self.normalize))

    @property
    def result_memory(self) -> float:
        """Bytes of the sums, of the state that they are made of, and of the result."""
        is_shifted = self.kernel == "shifted"  # sums then have denominators in any case, and factors for the way back
        return 8.0 * len(self.x) * (3.0 * (self.p + (self.normalize or is_shifted)) + (6.0 if is_shifted else 2.0))

    def weights(self, part: slice) -> Float64:
        """Return the weights (n, p) of a part of the control points, p = 0 for angles."""
        return compiled_form(self.numbers(part), _FLOAT64)  # type: ignore[return-value]

    def numbers(self, part: slice) -> Floats:
        """Return the same in the type of the values where these are the weights."""
        if self.values is None:
            return np.empty((len(self.b[part]), 0))
        return self.values[part] if self.octaves is UNSCALED else lift(self.values[part], -self.octaves)

    def controls(self, part: slice) -> Controls:
        """Return a part of the control points, their offsets and weights."""
        b = self.b[part]
        return b, np.zeros(len(b)) if self.offset is None else self.offset[part], self.weights(part)

    def stretched(self, part: slice) -> Float64 | None:
        """Return the factors of a part of the squared distances, None where all are 1."""
        return None if self.stretch is None else self.stretch[part]

    def among(self, members: Any, values: Floats) -> Problem:
        """Return the problem over some of the control points, with other values."""
        offset, stretch = (None if a is None else a[members] for a in (self.offset, self.stretch))
        return self._replace(b=self.b[members], values=values, offset=offset, stretch=stretch)

    def at_rows(self, rows: Any) -> Problem:
        """Return the problem at some of the evaluation points."""
        return self._replace(x=self.x[rows])
