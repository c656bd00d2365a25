"""Rows of the estimators: directions in any storage, read in blocks of a fixed size and never copied as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np

from .. import _checks
from .._threads import in_order, one_blas_thread, slices
from .._types import Array, Bools, Float64, Floats, Indices
from ..vmf.sampling import squares
from ..vmf.sparse import is_sparse, owners

NUMBERS, MOST = 2**21, 2**13  # numbers and rows in a block: its products are fast, its logits stay in cache (tuned)
TAME = 1e15  # lengths between it and its inverse have products and inverses in float32
Columns = tuple[Array | None, ...]


class Blocks:
    """What is done with rows block by block; the order is that of the rows: no number of threads changes a bit."""

    def total(self, function: Callable[..., tuple[Any, ...]], *columns: Array | None) -> tuple[Any, ...]:
        """Add the tuples that a function returns for each block, as `Rows`, and the columns' parts (..., rows)."""
        results = self._map(Rows.total, function, columns)
        return reduce(lambda total, term: tuple(a + b for a, b in zip(total, term, strict=True)), results)

    def concatenate(self, function: Callable[..., Array], *columns: Array | None) -> Array:
        """Return the arrays (..., rows) that a function returns for each block, as one (..., n)."""
        return np.concatenate(list(self._map(Rows.concatenate, function, columns)), axis=-1)

    def present(self) -> Bools:
        """Tell which rows have a direction, (n,): all but rows of zeros."""
        return self.concatenate(lambda rows: np.ones(len(rows), bool) if rows.scale is None else rows.scale > 0.0)

    def _map(self, method: Any, function: Callable[..., Any], columns: Columns) -> Iterator[Any]:
        raise NotImplementedError


class Rows(Blocks):
    """Directions in memory: `values` (n, p), dense or CSR, of float32 or float64; `scale` (n,), one over their lengths.

    `scale` is None where all lengths are 1 to rounding, and 0 of a row of zeros, at right angles to everything.
    """

    def __init__(self, values: Any, scale: Float64 | None) -> None:
        self.values, self.scale, self.shape, self.dtype = values, scale, values.shape, values.dtype

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, part: slice | Indices) -> Rows:
        """Return some of the rows, without a copy where the part is a slice of dense ones."""
        return Rows(self.values[part], None if self.scale is None else self.scale[part])

    def unit(self) -> Any:
        """Return rows of length 1 in their storage, a copy unless they have it."""
        if self.scale is None:
            return self.values
        scale = self.scale.astype(self.dtype)
        if not is_sparse(self.values):
            return self.values * scale[:, None]
        rows = self.values.copy()
        rows.data *= scale[owners(rows)]
        return rows

    def cosines(self, directions: Floats) -> Floats:
        """Return the cosines (k, n) of k unit vectors (k, p) with all rows, in the rows' precision."""
        across = directions.astype(self.dtype, copy=False)
        cosines = (self.values @ across.T).T if is_sparse(self.values) else across @ self.values.T
        if self.scale is not None:
            cosines *= self.scale.astype(self.dtype)
        return np.ascontiguousarray(cosines)

    def add_up(self, masses: Floats) -> Float64:
        """Return k sums (k, p) of directions with masses (k, n), multiplied in the rows' precision."""
        masses = masses.astype(self.dtype, copy=False)
        if self.scale is not None:
            masses = masses * self.scale.astype(self.dtype)
        sums = (self.values.T @ masses.T).T if is_sparse(self.values) else masses @ self.values
        return np.asarray(sums, dtype=np.float64)

    def _map(self, method: Any, function: Callable[..., Any], columns: Columns) -> Iterator[Any]:
        wide = 1 + self.values.nnz // len(self) if is_sparse(self.values) else self.shape[1]
        blocks = slices(len(self), max(1, min(MOST, NUMBERS // wide)))
        with one_blas_thread():
            yield from in_order(lambda part: function(self[part], *_parts(columns, part)), blocks, None)


class LazyRows(Blocks):
    """Directions in an array of Dask: its chunks of rows are read and worked on by tasks, wherever Dask runs them."""

    def __init__(self, array: Any, name: str) -> None:
        array = array if array.ndim < 2 or array.numblocks[1] == 1 else array.rechunk({1: -1})
        self.array = array.compute_chunk_sizes() if np.isnan(array.shape[0]) else array
        self.shape: tuple[int, int] = _checks.shaped(self.array, name, ("n", "p")).shape
        self.dtype = np.dtype(np.float32 if array.dtype in (np.float16, np.float32) else np.float64)
        self.name = name

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, part: slice | Indices) -> Rows:
        """Read some of the rows into memory."""
        rows: Rows = read_rows(self.array[part].compute(), self.name)
        return rows

    def _map(self, method: Any, function: Callable[..., Any], columns: Columns) -> Iterator[Any]:
        import dask

        chunks, ends = self.array.to_delayed()[:, 0], np.cumsum(self.array.chunks[0]).tolist()
        work = dask.delayed(_on_chunk, pure=False)
        tasks = [
            work(chunk, self.name, start, method, function, _parts(columns, slice(start, end)))
            for chunk, start, end in zip(chunks, (0, *ends), ends, strict=False)
        ]
        yield from dask.compute(*tasks)


def read_rows(x: Any, name: str = "X", *, first: int = 0) -> Any:
    """Return directions as `Rows`, or `LazyRows` of a Dask array, whose complaints come when its chunks are read.

    float32 rows stay float32, float16 and bfloat16 ones become it, all others float64. nan, inf and lengths that are
    not between 1e-15 and 1e15 are refused; `first` is the number of the first row in complaints.
    """
    if hasattr(x, "to_delayed") and hasattr(x, "numblocks"):
        return LazyRows(x, name)
    x = _checks.detached(x)
    sparse = is_sparse(x)
    raw = x.tocsr() if sparse else _checks.numeric(x, name)
    if raw.dtype.kind not in "iufb":
        raise TypeError(f"'{name}' must hold real numbers, got a sparse matrix of {raw.dtype}")
    is_short = raw.dtype.kind == "f" and raw.dtype.itemsize <= 4
    values: Any = raw.astype(np.float32 if is_short else np.float64, copy=False)
    if _checks.shaped(values, name, ("n", "p")).shape[1] < 2:
        raise ValueError(f"'{name}' must have at least 2 columns, as directions have, got n_features = 1")
    if sparse and not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    lengths = _lengths(values)
    wild = ~((lengths == 0.0) | (lengths > 1.0 / TAME) & (lengths < TAME))
    if wild.any():
        row = int(np.argmax(wild))
        if not np.isfinite(abs(values[[row]]).max()):
            raise ValueError(f"'{name}' must be finite, got NaN or inf in row {first + row}: drop it")
        raise ValueError(f"'{name}' must have rows of length 1e-15 to 1e15, got row {first + row}: scale it")
    if np.abs(lengths - 1.0).max() <= 2.0 * np.finfo(values.dtype).eps:
        return Rows(values, None)
    return Rows(values, np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0))


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def _lengths(values: Any) -> Float64:
    """Return the lengths of rows (n,), inf or nan where elements are or squares are no floats."""
    if is_sparse(values):
        numbers = np.square(values.data, dtype=np.float64)
        return np.asarray(np.sqrt(np.bincount(owners(values), numbers, minlength=values.shape[0])))
    lengths = np.empty(len(values))
    for part in slices(len(values), max(1, NUMBERS // values.shape[1])):
        lengths[part] = squares(values[part].astype(np.float64, copy=False))
    return np.sqrt(lengths, out=lengths)


def merge_equal(unit: Any, weights: Float64, decimals: int | None = None) -> tuple[Any, Float64]:
    """Return the different rows of positive weight, and their weights, in an order that depends on them alone.

    Rows that are equal when rounded to so many decimals count as equal. They are told apart by a random projection:
    that of two different ones among n is equal with a probability of some n^2 2^-54.
    """
    if not weights.all():
        unit, weights = unit[weights > 0.0], weights[weights > 0.0]
    axis = np.random.default_rng(0).standard_normal(unit.shape[1])
    rounded = unit if decimals is None else np.rint(unit * 10.0**decimals)
    keys = rounded @ axis if is_sparse(unit) else np.einsum("ij,j->i", rounded, axis)  # of equal rows equal to the bit
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return unit[first], np.bincount(group, weights).astype(np.float64, copy=False)


def _parts(columns: Columns, part: slice) -> list[Array | None]:
    return [None if column is None else column[..., part] for column in columns]


def _on_chunk(chunk: Any, name: str, first: int, method: Any, function: Any, columns: list[Array | None]) -> Any:
    return method(read_rows(chunk, name, first=first), function, *columns)
