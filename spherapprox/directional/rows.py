"""Rows of the estimators: directions in any storage, read in blocks of a fixed size and never copied as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _checks
from .._threads import in_order, one_blas_thread, slices
from .._types import Array, Float64, Floats, Indices
from ..vmf.sampling import squares
from ..vmf.sparse import is_sparse, owners

NUMBERS, MOST = 2**19, 2**13  # numbers and rows in a block: one that is read twice stays in cache (tuned)
TAME = 1e15  # lengths between it and its inverse have products and inverses in float32


class Rows:
    """Directions in memory: rows, dense or in the CSR format, each with one over its length.

    Attributes
    ----------
    values : ndarray or CSR, shape (n, p)
        float32 or float64, as they were given, of any lengths.
    scale : ndarray, shape (n,), or None
        One over the lengths; None where all are 1 to rounding; 0 of a sparse row without elements, which is at right
        angles to everything.
    """

    def __init__(self, values: Any, scale: Float64 | None) -> None:
        self.values, self.scale = values, scale
        self.shape: tuple[int, int] = values.shape
        self.dtype: np.dtype[Any] = values.dtype

    def __len__(self) -> int:
        return self.shape[0]

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

    def present(self) -> Array:
        """Tell which rows have a direction, (n,): all but sparse ones without elements."""
        return np.ones(len(self), dtype=bool) if self.scale is None else self.scale > 0.0

    def total(self, function: Callable[..., tuple[Any, ...]], *columns: Array | None) -> tuple[Any, ...]:
        """Add the tuples that a function returns for each block of rows and the columns' parts (..., rows).

        The order of additions is that of the rows: no number of threads changes a bit.
        """
        return _add(self._map(function, columns))

    def concatenate(self, function: Callable[..., Array], *columns: Array | None) -> Array:
        """Return the arrays (..., rows) that a function returns for each block of rows, as one (..., n)."""
        return np.concatenate(list(self._map(function, columns)), axis=-1)

    def _map(self, function: Callable[..., Any], columns: tuple[Array | None, ...]) -> Iterator[Any]:
        wide = 1 + self.values.nnz // len(self) if is_sparse(self.values) else self.shape[1]
        blocks = slices(len(self), max(1, min(MOST, NUMBERS // wide)))
        with one_blas_thread():
            yield from in_order(lambda part: function(self[part], *_parts(columns, part)), blocks, None)


class LazyRows:
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

    def present(self) -> Array:
        """Tell which rows have a direction, (n,)."""
        return self.concatenate(Rows.present)

    def total(self, function: Callable[..., tuple[Any, ...]], *columns: Array | None) -> tuple[Any, ...]:
        """As `Rows.total`; the function and the columns' parts go to the tasks."""
        return _add(self._map(Rows.total, function, columns))

    def concatenate(self, function: Callable[..., Array], *columns: Array | None) -> Array:
        """As `Rows.concatenate`; the result is in memory."""
        return np.concatenate(list(self._map(Rows.concatenate, function, columns)), axis=-1)

    def _map(self, method: Callable[..., Any], function: Any, columns: tuple[Array | None, ...]) -> Iterator[Any]:
        import dask

        ends = np.cumsum((0, *self.array.chunks[0]))
        tasks = [
            dask.delayed(_on_chunk, pure=False)(
                chunk, self.name, start, method, function, _parts(columns, slice(start, end))
            )
            for chunk, start, end in zip(self.array.to_delayed()[:, 0], ends.tolist(), ends[1:].tolist(), strict=False)
        ]
        yield from dask.compute(*tasks)


def read_rows(x: Any, name: str = "X", *, first: int = 0) -> Any:
    """Return directions as `Rows`, or `LazyRows` of a Dask array, whose complaints come when its chunks are read.

    float32 rows stay float32, float16 and bfloat16 ones become it, all others float64. A dense row of zeros, nan and
    inf are refused; `first` is the number of the first row in complaints.
    """
    if hasattr(x, "to_delayed") and hasattr(x, "numblocks"):
        return LazyRows(x, name)
    if is_sparse(x):
        if x.dtype.kind not in "iufb":
            raise TypeError(f"'{name}' must hold real numbers, got a sparse matrix of {x.dtype}")
        values = x.tocsr()
        values = values.astype(np.float32 if values.dtype in (np.float16, np.float32) else np.float64, copy=False)
        if not values.has_canonical_format:
            values = values.copy()
            values.sum_duplicates()
    else:
        values = _checks.numeric(_checks.detached(x), name)
        is_short = values.dtype.kind == "f" and values.itemsize <= 4
        values = values.astype(np.float32 if is_short else np.float64, copy=False)
    _checks.shaped(values, name, ("n", "p"))
    if values.shape[1] < 2:
        raise ValueError(f"'{name}' must have at least 2 columns, as directions have, got n_features = 1")
    lengths = _lengths(values)
    if not lengths.all() or not np.isfinite(lengths).all() or lengths.min() < 1.0 / TAME or lengths.max() > TAME:
        _refuse(values, name, first)
        values = _tame(values)
        lengths = _lengths(values)
    if np.abs(lengths - 1.0).max() <= 2.0 * np.finfo(values.dtype).eps:
        return Rows(values, None)
    return Rows(values, np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0))


def _lengths(values: Any) -> Float64:
    """Return the lengths of rows (n,), 0, inf or nan where squares are no floats."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if is_sparse(values):
            return np.sqrt(
                np.bincount(owners(values), np.square(values.data, dtype=np.float64), len(values.indptr) - 1)
            )
        lengths = np.empty(len(values))
        for part in slices(len(values), max(1, NUMBERS // values.shape[1])):
            lengths[part] = squares(values[part].astype(np.float64, copy=False))
        return np.sqrt(lengths, out=lengths)


def _refuse(values: Any, name: str, first: int) -> None:
    """Raise where elements are not finite, or dense rows have only zeros."""
    sparse = is_sparse(values)
    finite = np.isfinite(values.data if sparse else values)
    if not finite.all():
        row = int(owners(values)[np.argmin(finite)]) if sparse else int(np.argmin(finite.all(axis=1)))
        raise ValueError(f"'{name}' must hold finite numbers, got NaN or inf in row {first + row}: drop it")
    zeros: Any = [] if sparse else np.flatnonzero(~values.any(axis=1))
    if len(zeros):
        raise ValueError(
            f"'{name}' must have rows that have a direction, got {len(zeros)} of zeros alone, row {first + zeros[0]} "
            f"first: drop it, {name}[np.any({name} != 0, axis=1)] has the others"
        )


def _tame(values: Any) -> Any:
    """Return a copy whose rows have lengths near 1, by powers of 2 that change no digit."""
    largest = abs(values).max(axis=1)
    largest = (largest.toarray() if is_sparse(largest) else np.asarray(largest)).ravel()
    powers = -np.frexp(largest)[1]
    if not is_sparse(values):
        return np.ldexp(values, powers[:, None])
    values = values.copy()
    values.data = np.ldexp(values.data, powers[owners(values)])
    return values


def _parts(columns: tuple[Array | None, ...], part: slice) -> list[Array | None]:
    return [None if column is None else column[..., part] for column in columns]


def _on_chunk(chunk: Any, name: str, first: int, method: Any, function: Any, columns: list[Array | None]) -> Any:
    return method(read_rows(chunk, name, first=first), function, *columns)


def _add(tuples: Iterator[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Add tuples of arrays and numbers, in their order."""
    total = next(tuples)
    for term in tuples:
        total = tuple(a + b for a, b in zip(total, term, strict=True))
    return total
